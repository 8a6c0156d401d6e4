import SecureFileCore

/// Looking up, and forgetting.
extension VaultFileSystem {
    package func lookup(_ name: [UInt8], in parent: NodeID) throws(Errno) -> Entry? {
        let (parentNode, directory) = try directory(parent)
        let stored = try storedName(name, directory)
        let status: FileStatus
        do throws(Errno) { status = try directory.status(stored) } catch {
            if error == .noEntry { return nil }
            throw error
        }
        return try entry(status, Alias(parent: parentNode, name: stored), directory)
    }

    package func forget(_ node: NodeID, count: UInt64) {
        // Their memory goes back to the system with the flusher's next round.
        if table.forget(node, count: count) { flusher.noteWork() }
    }

    package func dropForgotten() { table.closeLeftovers() }

    func storedName(_ name: [UInt8], _ directory: VaultDirectory) throws(Errno) -> StoredName {
        try asErrno { () throws(SecureFileError) in try directory.storedName(name) }
    }

    /// The answer about an inode found under a name: the kernel will know it.
    func entry(_ status: FileStatus, _ alias: Alias, _ directory: VaultDirectory, isNew: Bool = false) throws(Errno) -> Entry {
        let node = table.enter(status, as: alias, isNew: isNew)
        do throws(Errno) {
            if node.kind == .regular, !isNew, isSoleUser { try ensureSizeIsKnown(node, status) }
            return Entry(node: node.id, attributes: try shown(status, node, (directory, alias.name)))
        } catch {
            table.forget(node.id, count: 1)
            throw error
        }
    }

    /// The attributes of an inode whose backing status was just read.
    private func shown(_ status: FileStatus, _ node: Node, _ place: (VaultDirectory, StoredName)) throws(Errno) -> FileStatus {
        if node.kind == .regular, table.with(node, { $0.isInUse }), let open = node.content.withLock({ $0 }) {
            lookAgain(open, status)
            return open.shown(status)
        }
        return try sized(status, node, place)
    }

    /// Reads the header where the backing length may say the wrong size: after a session died, and of a file found out before.
    func ensureSizeIsKnown(_ node: Node, _ status: FileStatus) throws(Errno) {
        followWriter()
        let isSuspect = context.session.hasDead && status.size > 0 || isDisagreeing(node.key)
        let isKnown = table.with(node) { node in
            if node.isInUse { return true }
            guard let rare = node.rare, rare.recordedSize != nil else { return false }
            if isSoleUser { return true }
            if isSuspect { return rare.recordedChange == status.changed }
            // The writer has gone, and left the backing file as long as it should be.
            (rare.recordedSize, rare.recordedChange) = (nil, nil)
            return true
        }
        guard isSuspect, !isKnown else { return }
        do throws(Errno) {
            try recordSize(of: node)
        } catch {
            // A file that cannot be opened can still be seen, and removed.
            if error != .inputOutput && error != .accessDenied { throw error }
        }
    }

    private func isDisagreeing(_ key: InodeKey) -> Bool { disagreeing.withLock { $0.contains(key) } }
}
