import SecureFileCore

/// Names of what is there already, and symlinks.
extension VaultFileSystem {
    package func makeSymlink(_ name: [UInt8], in parent: NodeID, target: [UInt8], _ caller: Caller) throws(Errno) -> Entry {
        let (parentNode, directory) = try directory(parent)
        let stored = try storedName(name, directory)
        try asErrno { () throws(SecureFileError) in try directory.makeSymlink(stored, target: target) }
        if givesOwnership, caller.user != 0 || caller.group != 0 {
            let keepsGroup = try directory.descriptor.status().permissions & 0o2000 != 0
            try directory.descriptor.setOwner(of: stored.entry, caller.user, group: keepsGroup ? nil : caller.group)
        }
        return try entry(try directory.status(stored), Alias(parent: parentNode, name: stored), directory, isNew: true)
    }

    package func symlinkTarget(of id: NodeID) throws(Errno) -> [UInt8] {
        let node = try table.node(id)
        return try retrying(node) { () throws(Errno) in
            guard let alias = table.whereabouts(of: node).alias else { throw .stale }
            let directory = try directory(of: alias.parent)
            guard InodeKey(try directory.status(alias.name)) == node.key else { return nil }
            do throws(SecureFileError) { return try directory.symlinkTarget(alias.name) } catch { throw reported(error, node) }
        }
    }

    package func link(_ id: NodeID, as name: [UInt8], in parent: NodeID) throws(Errno) -> Entry {
        let node = try table.node(id)
        let (parentNode, directory) = try directory(parent)
        let stored = try storedName(name, directory)
        try directory.link(try inode(of: node), as: stored)
        let alias = Alias(parent: parentNode, name: stored)
        // One that had no name (O_TMPFILE) becomes known by its inode now.
        table.reveal(node)
        return try entry(try directory.status(stored), alias, directory)
    }

    package func remove(_ name: [UInt8], in parent: NodeID) throws(Errno) {
        let (parentNode, directory) = try directory(parent)
        let stored = try storedName(name, directory)
        let status = try directory.status(stored)
        if status.kind == .directory { throw .isDirectory }
        guard let node = table.find(InodeKey(status)) else { return try directory.remove(stored, status.kind) }
        let anchor = try pin(node, stored, directory)
        let alias = Alias(parent: parentNode, name: stored)
        if status.linkCount <= 1 {
            try directory.remove(stored, status.kind)
            table.remove(alias, from: node, anchor: anchor, isLast: true)
            noteRemoved(node, status)
            closeIfIdle(node)
        } else {
            try changing.withLock { (_) throws(Errno) in
                try directory.remove(stored, status.kind)
                table.remove(alias, from: node, anchor: anchor, isLast: false)
            }
        }
    }

    /// - Parameter status: The backing file's, while it had its name.
    private func noteRemoved(_ node: Node, _ status: FileStatus) {
        guard node.kind == .regular, node.content.withLock({ $0 == nil }) else { return }
        var status = status
        status.size = toldSize(node, status)
        status.linkCount = 0
        lastRemoved.note(node.id, status)
    }

    /// A descriptor that keeps an inode reachable, and its number from being used again, once its name is gone; nil where its content is
    /// open, which does that as well.
    func pin(_ node: Node, _ name: StoredName, _ directory: VaultDirectory) throws(Errno) -> FileDescriptor? {
        if node.kind == .regular, let open = node.content.withLock({ $0?.backing.descriptor }) { return open }
        return try directory.descriptor.open(name.entry, [.pathOnly, .noFollow])
    }

    package func rename(
        _ name: [UInt8], in parent: NodeID, to newName: [UInt8], in newParent: NodeID, _ rule: FileDescriptor.RenameRule
    ) throws(Errno) {
        let (parentNode, directory) = try directory(parent)
        let (newParentNode, newDirectory) = try self.directory(newParent)
        let old = Alias(parent: parentNode, name: try storedName(name, directory))
        let new = Alias(parent: newParentNode, name: try storedName(newName, newDirectory))
        let source = try directory.status(old.name)
        let target = try? newDirectory.status(new.name)
        if let target, InodeKey(target) == InodeKey(source) { return }  // two names of one inode: nothing happens, says rename(2)
        let (moved, replaced) = (table.find(InodeKey(source)), target.flatMap { table.find(InodeKey($0)) })
        let anchor = rule == .exchange ? nil : try replaced.map { (node) throws(Errno) in try pin(node, new.name, newDirectory) } ?? nil
        defer { if let replaced { closeIfIdle(replaced) } }
        try changing.withLock { (_) throws(Errno) in
            try asErrno { () throws(SecureFileError) in
                try directory.rename(old.name, to: newDirectory, new.name, rule, replacing: target?.kind)
            }
            if let replaced {
                let isLast = rule != .exchange && (target?.kind == .directory || target?.linkCount == 1)
                if isLast { directories.remove(replaced.id) }
                if rule == .exchange { table.add(old, to: replaced) }
                table.remove(new, from: replaced, anchor: anchor, isLast: isLast)
            }
            if let moved {
                table.add(new, to: moved)
                table.remove(old, from: moved, anchor: nil, isLast: false)
            }
        }
    }
}
