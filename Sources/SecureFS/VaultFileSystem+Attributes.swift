import SecureFileCore

/// Attributes, and the numbers of the file system.
extension VaultFileSystem {
    package func attributes(of node: NodeID) throws(Errno) -> FileStatus { try status(of: try table.node(node)) }

    package func setAttributes(of id: NodeID, _ handle: HandleID?, _ change: AttributeChange) throws(Errno) -> FileStatus {
        let node = try table.node(id)
        if vault.access == .readOnly { throw .readOnly }
        _ = lastRemoved.take(id)
        if let time = change.timeOfKernel, change.size == nil, let status = try told(time, change, node) { return status }
        if let size = change.size { try setSize(size, node, change.losesPrivileges ? change.caller : nil) }
        if change.needsInode || change.isEmpty && node.kind != .regular {
            let inode = try inode(of: node)
            if change.isOwnerConfirmed || change.isEmpty { try confirmOwner(inode, change.caller) }
            if change.owner != nil || change.group != nil { try setOwner(node, inode, change) }
            // After the owner: a change of owner clears set-id bits that may be asked for here.
            if let permissions = change.permissions { try inode.setInodePermissions(permissions) }
            if change.changesTimes { try setTimes(node, inode, change) }
        }
        if let status = try statusAsTold(change, node) { return status }
        return try status(of: node)
    }

    package func attributesOfRemoved(_ id: NodeID, modified: FileTime, changed: FileTime) -> FileStatus? {
        // Another time of modification is one that somebody has set: it is told once more, to be set.
        guard var status = lastRemoved.take(id), status.modified == modified else { return nil }
        status.changed = changed
        return status
    }

    /// The attributes of an open file after the kernel has said the times it has, which go back as they came. The backing file's are not even
    /// looked at: it would get finer ones with the next write, and its fsync would have its inode to write.
    private func statusAsTold(_ change: AttributeChange, _ node: Node) throws(Errno) -> FileStatus? {
        guard change.size == nil, let time = change.timeOfKernel, let changed = change.changed else { return nil }
        guard let open = node.content.withLock({ $0 }), open.backing.told.withLock({ $0.modified == time }) else { return nil }
        var status = open.shown(try open.backing.descriptor.statusButTimes())
        status.changed = changed
        return status
    }

    /// The kernel says which times it has: after writes, but also after a rename, a link or the removal of a name, where the backing file has
    /// them already. Nil where they are yet to be set.
    private func told(_ time: FileTime, _ change: AttributeChange, _ node: Node) throws(Errno) -> FileStatus? {
        guard let changed = change.changed, node.content.withLock({ $0 == nil }) else { return nil }
        let status = try status(of: node)
        return status.modified == time && changed.isAbout(status.changed, nanoseconds: 20_000_000) ? status : nil
    }

    private func setTimes(_ node: Node, _ inode: FileDescriptor, _ change: AttributeChange) throws(Errno) {
        // Under the lock: whoever closes the file last sets what is noted.
        if node.content.withLock({ $0?.noteTime(change) ?? false }) { return }
        if let open = node.content.withLock({ $0 }) { return try open.setTimes(change) }
        try inode.setInodeTimes(accessed: change.accessed, modified: change.modified)
    }

    private func setOwner(_ node: Node, _ inode: FileDescriptor, _ change: AttributeChange) throws(Errno) {
        // By the groups as they are before.
        if node.kind != .directory, let caller = change.caller { try clearPrivileges(inode, caller) }
        try inode.setInodeOwner(change.owner, group: change.group)
    }

    /// chown(2) that changes nothing sets the time of change and clears set-id bits all the same; it is refused where it would have to clear
    /// them and may not.
    private func confirmOwner(_ inode: FileDescriptor, _ caller: Caller?) throws(Errno) {
        let status = try inode.status()
        if status.kind != .directory, let caller, privileges(status, lostBy: caller) != 0 {
            if caller.user != 0, caller.user != status.owner { throw .notPermitted }
            try clearPrivileges(inode, caller)
        }
        try inode.setInodeOwner(nil, group: nil)
    }

    private func setSize(_ size: Int64, _ node: Node, _ caller: Caller?) throws(Errno) {
        try withContent(node, for: ContentUse(reads: false, writes: true, needsHeader: size != 0)) { (open) throws(Errno) in
            if let caller { try clearPrivileges(open.backing.descriptor, caller) }
            do throws(SecureFileError) { try open.file.truncate(to: ByteCount(size)) } catch { throw reported(error, node) }
        }
        flusher.noteWork()
    }

    /// Clears the set-id bits that ``privileges(_:lostBy:)`` tells.
    func clearPrivileges(_ inode: FileDescriptor, _ caller: Caller) throws(Errno) {
        let status = try inode.status()
        let lost = privileges(status, lostBy: caller)
        if lost != 0 { try inode.setInodePermissions(status.permissions & ~lost) }
    }

    /// The set-id bits that go when `caller`, who has no right to keep them, changes the file: set-group-ID means something else where the
    /// group may not execute, and stays then where the caller is in the group.
    private func privileges(_ status: FileStatus, lostBy caller: Caller) -> UInt32 {
        let keepsGroup = status.permissions & 0o010 == 0 && caller.belongs(to: status.group)
        return status.permissions & (keepsGroup ? 0o4000 : 0o6000)
    }

    package func birthTime(of node: NodeID) throws(Errno) -> FileTime? { try inode(of: try table.node(node)).birthTime() }

    package func filesystemStatus() throws(Errno) -> FilesystemStatus { try vault.root.descriptor.filesystemStatus() }
}

extension AttributeChange {
    var changesTimes: Bool {
        if case .keep = accessed, case .keep = modified { return false }
        return true
    }
    /// The time of modification, where no more changes, but for the size.
    var timeOfKernel: FileTime? {
        guard case .to(let time) = modified, case .keep = accessed else { return nil }
        return permissions == nil && owner == nil && group == nil ? time : nil
    }
    var needsInode: Bool { permissions != nil || owner != nil || group != nil || isOwnerConfirmed || changesTimes }
}
