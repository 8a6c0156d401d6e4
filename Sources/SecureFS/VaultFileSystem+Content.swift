import SecureFileCore

/// Opening and closing the content of files. It is open exactly while it has users or holds something back.
extension VaultFileSystem {
    /// The open content of a node; counts as one more user until ``giveBack(_:)``.
    func borrow(_ node: Node, for use: ContentUse) throws(Errno) -> OpenContent {
        guard node.kind == .regular else { throw node.kind == .directory ? .isDirectory : .invalidArgument }
        if use.writes, vault.access == .readOnly { throw .readOnly }
        return try node.content.withLock { (content) throws(Errno) in
            if let open = content {
                if use.writes, !open.isWritable { try makeWritable(open, node) }
                if use.reads { open.backing.noteReader() }
                if use.needsHeader { try ensureHeaderIsRead(open, node) }
                if !isSoleUser { lookAgain(open, try open.backing.descriptor.status()) }
                open.users += 1
                return open
            }
            let open = try load(node, for: use)
            open.users = 1
            install(open, in: node, &content)
            return open
        }
    }

    /// Runs `body` on the content, opening it for that time if need be.
    func withContent<R>(
        _ node: Node, for use: ContentUse, _ body: (OpenContent) throws(Errno) -> R
    ) throws(Errno) -> R {
        let open = try borrow(node, for: use)
        defer { giveBack(node) }
        return try body(open)
    }

    /// The content of a node that has a handle.
    func opened(_ node: Node) throws(Errno) -> OpenContent {
        guard let open = node.content.withLock({ $0 }) else { throw .badDescriptor }
        return open
    }

    /// Makes `open` the content of a node, whose `content` is locked.
    func install(_ open: OpenContent, in node: Node, _ content: inout OpenContent?) {
        content = open
        table.with(node) { node in
            node.isInUse = true
            node.wasInUse = true
        }
    }

    /// One user less. The last one leaves: what may go to the store goes, and the descriptor is closed unless something is held back.
    func giveBack(_ node: Node) {
        let closed: OpenContent? = node.content.withLock { content in
            guard let open = content else { return nil }
            open.users -= 1
            return open.users > 0 ? nil : close(node, &content)
        }
        if closed != nil { table.dropIfUnused(node) }
    }

    /// Files without users that held something back: those that do not any more are closed.
    func closeLingering() {
        for node in flusher.takeLingering() { closeIfIdle(node) }
    }

    /// Closes content that has no users and holds nothing back, or nothing that is worth keeping.
    func closeIfIdle(_ node: Node) {
        let closed: OpenContent? = node.content.withLock { content in
            guard let open = content, open.users == 0 else { return nil }
            return close(node, &content)
        }
        if closed != nil { table.dropIfUnused(node) }
    }

    /// Closes content without users; returns it, or nil where it has to stay.
    private func close(_ node: Node, _ content: inout OpenContent?) -> OpenContent? {
        guard let open = content else { return nil }
        let isDeleted = table.with(node) { $0.isDeleted }
        if isDeleted {
            // Nobody can open it again: what is held back is not worth writing.
            if open.file.hasPendingWrites { try? open.file.truncate(to: .zero) }
        } else {
            do throws(SecureFileError) { try open.file.flush() } catch {
                // While the key is away there is nothing to be written.
                if error.code != .keyNotAvailable { log.write("\(ciphertextPath(of: node)): \(error.withoutPath)") }
            }
            try? open.restoreToldTime()
            if open.file.hasPendingWrites, !settleIfCrowded(node, open) {
                flusher.keep(node)
                return nil
            }
        }
        let size = open.file.backingDisagreed || !hasEndedAhead(open, node) ? open.file.size.rawValue : nil
        let descriptor = open.backing.descriptor
        table.with(node) { node in
            node.isInUse = false
            if size != nil || node.rare?.recordedSize != nil { node.madeRare().recordedSize = size ?? open.file.size.rawValue }
            // The kernel may still ask for its attributes.
            if node.alias == nil, node.lookups > 0 { node.madeRare().anchor = descriptor }
        }
        content = nil
        if open.file.isMisjudged { lookUpAnew(node) }
        return open
    }

    /// Gives the backing file the length that tells its size; says whether it has it.
    private func hasEndedAhead(_ open: OpenContent, _ node: Node) -> Bool {
        do throws(Errno) { try open.ahead?.endAhead() } catch {
            log.write("\(ciphertextPath(of: node)): keeps zeros behind its end: \(error)")
            return false
        }
        return true
    }

    /// Where more files wait for the flusher than there are descriptors for, a file is written out by whoever closes it.
    private func settleIfCrowded(_ node: Node, _ open: OpenContent) -> Bool {
        guard flusher.isCrowded else { return false }
        do throws(SecureFileError) { try open.file.settle() } catch { log.write("\(ciphertextPath(of: node)): \(error.withoutPath)") }
        return !open.file.hasPendingWrites
    }

    // MARK: Opening

    private func load(_ node: Node, for use: ContentUse) throws(Errno) -> OpenContent {
        let (open, status) = try open(node, for: use)
        let size = open.file.size.rawValue
        if size != toldSize(node, status) {
            if isSoleUser {
                lookUpAnew(node)
                throw .stale
            }
            // To a mount that only reads, the kernel asks for the size again and again.
            table.with(node) { $0.madeRare().recordedSize = size }
        }
        return open
    }

    /// The kernel was told a size and owns it from then on. Where the header says another, it must look the file up anew.
    private func lookUpAnew(_ node: Node) {
        disagreeing.withLock { _ = $0.insert(node.key) }
        table.hide(node)
    }

    /// Opens the backing file, and reads its header unless that can wait.
    private func open(_ node: Node, for use: ContentUse) throws(Errno) -> (OpenContent, FileStatus) {
        let (descriptor, isWritable) = try openBacking(node, writable: use.writes)
        let backing = BackingFile(descriptor, isRead: use.reads, isInMemory: isInMemory)
        let status = try descriptor.status()
        let ahead = isWritable ? growth.map { AheadByteStore(backing, length: status.size, $0) } : nil
        let store: any ByteStore = ahead ?? backing
        let path = "inode \(node.key.inode)"
        do throws(SecureFileError) {
            let file = if !use.needsHeader, mayOpenUnread {
                try SecureFile.openUnread(store, context, path: path, size: ByteCount(toldSize(node, status)))
            } else {
                try besideWriter(nil) { () throws(SecureFileError) in try SecureFile.open(store, context, path: path) }
            }
            return (OpenContent(file, backing, ahead, isWritable: isWritable), status)
        } catch {
            throw reported(error, node)
        }
    }

    /// While no session has died and nobody else writes, what a backing length tells is the size.
    private var mayOpenUnread: Bool { isSoleUser && !context.session.hasDead }

    /// Of content that was opened by somebody who did not need its header.
    private func ensureHeaderIsRead(_ open: OpenContent, _ node: Node) throws(Errno) {
        do throws(SecureFileError) { _ = try open.file.knownSize() } catch { throw reported(error, node) }
    }

    /// Finds out the size of a file whose backing length may not tell it. Called before the kernel is told of it.
    func recordSize(of node: Node) throws(Errno) {
        try node.content.withLock { (content) throws(Errno) in
            if content != nil { return }
            let (open, status) = try open(node, for: ContentUse(reads: false))
            let size = open.file.size.rawValue
            table.with(node) { node in
                let rare = node.madeRare()
                (rare.recordedSize, rare.recordedChange) = (size, status.changeAtRest)
            }
        }
    }

    private func makeWritable(_ open: OpenContent, _ node: Node) throws(Errno) {
        open.backing.exchange(for: try openBacking(node, writable: true).descriptor)
        open.isWritable = true
    }

    /// Opens the backing file for both ways where that is allowed: with the kernel's write-back cache, files opened for writing are read
    /// too.
    private func openBacking(_ node: Node, writable: Bool) throws(Errno) -> (descriptor: FileDescriptor, isWritable: Bool) {
        if vault.access == .readOnly { return (try openBacking(node, .readOnly), false) }
        do throws(Errno) {
            return (try openBacking(node, .readWrite), true)
        } catch {
            switch error {
            case .accessDenied: break
            case .notPermitted, .readOnly, .textBusy:
                if writable { throw error }
                return (try openBacking(node, .readOnly), false)
            default: throw error
            }
        }
        if !writable, let descriptor = try? openBacking(node, .readOnly) { return (descriptor, false) }
        return (try openAgainstMode(node), true)
    }

    private func openBacking(_ node: Node, _ mode: FileDescriptor.OpenMode) throws(Errno) -> FileDescriptor {
        try retrying(node) { () throws(Errno) in
            let (alias, anchor, _) = table.whereabouts(of: node)
            if let anchor { return try anchor.reopened(mode.union(.keepingAccessTime)) }
            guard let alias else { throw .stale }
            return try open(alias, mode, node)
        }
    }

    /// The kernel has allowed what the backing file's mode forbids its owner: writing needs reading here, and the owner of a read-only file
    /// may hold a handle that was opened before. The mode is changed for a moment; that works for the owner only.
    private func openAgainstMode(_ node: Node) throws(Errno) -> FileDescriptor {
        let inode = try inode(of: node)
        let permissions = try inode.status().permissions
        try inode.setInodePermissions(permissions | 0o600)
        defer { try? inode.setInodePermissions(permissions) }
        return try inode.reopened([.readWrite, .keepingAccessTime])
    }
}

extension Errno {
    /// ETXTBSY
    static let textBusy = Errno(rawValue: 26)
}
