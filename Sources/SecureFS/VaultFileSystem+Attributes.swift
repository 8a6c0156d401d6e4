import SecureFileCore

/// Attributes, and the numbers of the file system.
extension VaultFileSystem {
    package func attributes(of node: NodeID) throws(Errno) -> FileStatus { try status(of: try table.node(node)) }

    package func setAttributes(of id: NodeID, _ handle: HandleID?, _ change: AttributeChange) throws(Errno) -> FileStatus {
        let node = try table.node(id)
        if vault.access == .readOnly { throw .readOnly }
        if let size = change.size { try setSize(size, node, killsPrivileges: change.killsPrivileges) }
        if change.needsInode {
            let inode = try inode(of: node)
            if change.owner != nil || change.group != nil { try inode.setInodeOwner(change.owner, group: change.group) }
            // After the owner: a change of owner clears set-id bits that may be asked for here.
            if let permissions = change.permissions { try inode.setInodePermissions(permissions) }
            if change.changesTimes { try setTimes(node, inode, change) }
        }
        return try status(of: node)
    }

    /// Not while a late write puts back the time it found: that would be the one before this change.
    private func setTimes(_ node: Node, _ inode: FileDescriptor, _ change: AttributeChange) throws(Errno) {
        guard let open = node.content.withLock({ $0 }) else {
            return try inode.setInodeTimes(accessed: change.accessed, modified: change.modified)
        }
        try open.changingTimes(change) { () throws(Errno) in try inode.setInodeTimes(accessed: change.accessed, modified: change.modified) }
    }

    private func setSize(_ size: Int64, _ node: Node, killsPrivileges: Bool) throws(Errno) {
        try withContent(node, writable: true) { (open) throws(Errno) in
            if killsPrivileges { try clearPrivileges(open.backing.descriptor) }
            do throws(SecureFileError) { try open.file.truncate(to: ByteCount(size)) } catch { throw reported(error, node) }
        }
        flusher.noteWork()
    }

    /// Clears the set-id bits as a write by somebody without CAP_FSETID does: set-group-ID means something else where the group may not
    /// execute.
    func clearPrivileges(_ descriptor: FileDescriptor) throws(Errno) {
        let permissions = try descriptor.status().permissions
        var cleared = permissions & ~0o4000
        if permissions & 0o010 != 0 { cleared &= ~0o2000 }
        if cleared != permissions { try descriptor.setInodePermissions(cleared) }
    }

    package func filesystemStatus() throws(Errno) -> FilesystemStatus { try vault.root.descriptor.filesystemStatus() }
}

extension AttributeChange {
    var changesTimes: Bool {
        if case .keep = accessed, case .keep = modified { return false }
        return true
    }
    var needsInode: Bool { permissions != nil || owner != nil || group != nil || changesTimes }
}
