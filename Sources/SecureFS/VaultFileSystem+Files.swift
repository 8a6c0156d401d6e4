import SecureFileCore

/// Open files. A handle's number tells nothing: all handles of an inode share its content, and the kernel uses any of them for write-back.
extension VaultFileSystem {
    private static let fileHandle = HandleID(rawValue: 1)

    package func create(
        _ name: [UInt8], in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID) {
        let (entry, node) = try makeOpenFile(name, in: parent, mode: mode, caller)
        _ = node
        return (entry, Self.fileHandle)
    }

    package func makeFile(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry {
        let (entry, node) = try makeOpenFile(name, in: parent, mode: mode, caller)
        giveBack(node)
        return entry
    }

    /// Makes a file; its content is open and has one user. Nothing is read: an empty backing file is an empty file.
    private func makeOpenFile(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> (Entry, Node) {
        let (parentNode, directory) = try directory(parent)
        let stored = try storedName(name, directory)
        let heritage = try heritage(in: parentNode, directory, mode: mode, caller)
        let descriptor = try directory.createFile(stored, permissions: heritage.permissionsAtFirst)
        do throws(Errno) {
            let status = try giveToCaller(descriptor, heritage, directory, caller)
            let node = table.enter(status, as: Alias(parent: parentNode, name: stored), isNew: true)
            if !heritage.lists.isEmpty { noteChange(node) }
            openNew(node, descriptor)
            return (Entry(node: node.id, attributes: status), node)
        } catch {
            try? directory.remove(stored)
            throw error
        }
    }

    private func openNew(_ node: Node, _ descriptor: FileDescriptor) {
        let backing = BackingFile(descriptor, isRead: false, isInMemory: isInMemory)
        let ahead = growth.map { AheadByteStore(backing, length: 0, $0) }
        let open = OpenContent(
            SecureFile.create(ahead ?? backing, context, path: "inode \(node.key.inode)"), backing, ahead, isWritable: true)
        open.users = 1
        node.content.withLock { install(open, in: node, &$0) }
    }

    package func createUnnamed(
        in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID) {
        let (parentNode, directory) = try directory(parent)
        let heritage = try heritage(in: parentNode, directory, mode: mode, caller)
        let descriptor = try directory.createUnnamedFile(permissions: heritage.permissionsAtFirst)
        let status = try giveToCaller(descriptor, heritage, directory, caller)
        let node = table.enterUnnamed(status)
        if !heritage.lists.isEmpty { noteChange(node) }
        openNew(node, descriptor)
        return (Entry(node: node.id, attributes: status), Self.fileHandle)
    }

    /// A new inode belongs to who asked for it; in a set-group-ID directory its group is the directory's, which the backing has seen to.
    private func giveToCaller(
        _ descriptor: FileDescriptor, _ heritage: Heritage, _ directory: VaultDirectory, _ caller: Caller
    ) throws(Errno) -> FileStatus {
        var needsPermissions = !heritage.lists.isEmpty
        if givesOwnership, caller.user != 0 || caller.group != 0 {
            let keepsGroup = try directory.descriptor.status().permissions & 0o2000 != 0
            try descriptor.setOwner(caller.user, group: keepsGroup ? nil : caller.group)
            if heritage.permissions & 0o6000 != 0 { needsPermissions = true }
        }
        try bequeath(heritage, to: descriptor)
        if needsPermissions { try descriptor.setPermissions(heritage.permissions) }
        return try descriptor.status()
    }

    package func open(_ id: NodeID, _ intent: OpenIntent) throws(Errno) -> HandleID {
        let node = try table.node(id)
        let open = try borrow(node, for: ContentUse(intent))
        guard intent.truncates else { return Self.fileHandle }
        do throws(Errno) {
            if let caller = intent.losesPrivileges { try clearPrivileges(open.backing.descriptor, caller) }
            do throws(SecureFileError) { try open.file.truncate(to: .zero) } catch { throw reported(error, node) }
        } catch {
            giveBack(node)
            throw error
        }
        flusher.noteWork()
        return Self.fileHandle
    }

    package func read(_ id: NodeID, _ handle: HandleID, at offset: Int64, count: Int, into buffer: PageBuffer) throws(Errno) -> Int {
        let node = try table.node(id)
        let open = try opened(node)
        do throws(SecureFileError) {
            return try besideWriter(open.file) { () throws(SecureFileError) in
                try open.file.read(at: ByteOffset(offset), count: count, into: buffer)
            }
        } catch { throw reported(error, node) }
    }

    package func write(_ id: NodeID, _ handle: HandleID, _ data: Span<UInt8>, at offset: Int64, _ origin: WriteOrigin) throws(Errno) {
        let node = try table.node(id)
        let open = try opened(node)
        if let caller = origin.losesPrivileges { try clearPrivileges(open.backing.descriptor, caller) }
        func write() throws(Errno) {
            do throws(SecureFileError) { try open.file.write(data, 0..<data.count, at: ByteOffset(offset)) } catch {
                throw reported(error, node)
            }
        }
        if origin.isWriteBack {
            try open.keepingToldTime(write)
        } else {
            try write()
            open.forgetToldTime()
        }
        // Overwrites wait in memory; a file that stays open must not make them wait for ever.
        flusher.noteWork()
    }

    package func flush(_ id: NodeID, _ handle: HandleID) throws(Errno) {
        let node = try table.node(id)
        let open = try opened(node)
        guard open.isWritable else { return }
        do throws(SecureFileError) { try open.file.flush() } catch { throw reported(error, node) }
        try open.restoreToldTime()
        if open.file.hasPendingWrites { flusher.noteWork() }
    }

    package func release(_ id: NodeID, _ handle: HandleID) {
        guard let node = try? table.node(id) else { return }
        giveBack(node)
    }

    package func synchronize(_ id: NodeID, _ handle: HandleID, contentOnly: Bool) throws(Errno) {
        let node = try table.node(id)
        let open = try opened(node)
        do throws(SecureFileError) { try open.file.synchronize(attributes: !contentOnly) } catch { throw reported(error, node) }
    }
}
