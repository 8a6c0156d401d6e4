import SecureFileCore

/// Making, removing and reading directories.
extension VaultFileSystem {
    package func makeDirectory(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry {
        let (parentNode, directory) = try directory(parent)
        let stored = try storedName(name, directory)
        let owner = givesOwnership ? (caller.user, caller.group) : nil
        let heritage = try heritage(in: parentNode, directory, mode: mode, caller, isDirectory: true)
        let made = try asErrno { () throws(SecureFileError) in
            try directory.makeDirectory(stored, permissions: heritage.permissions, owner: owner) { (made) throws(Errno) in
                try bequeath(heritage, to: made)
            }
        }
        let result = try entry(try made.descriptor.status(), Alias(parent: parentNode, name: stored), directory, isNew: true)
        if !heritage.lists.isEmpty { noteChange(try table.node(result.node)) }
        directories.insert(made, for: result.node)
        return result
    }

    package func removeDirectory(_ name: [UInt8], in parent: NodeID) throws(Errno) {
        let (parentNode, directory) = try directory(parent)
        let stored = try storedName(name, directory)
        let status = try directory.status(stored)
        guard status.kind == .directory else { throw .notDirectory }
        let node = table.find(InodeKey(status))
        let known = node.flatMap { directories[$0.id] }
        let anchor = if let known { known.descriptor } else { try node.map { (node) throws(Errno) in try pin(node, stored, directory) } ?? nil }
        try asErrno { () throws(SecureFileError) in try directory.removeDirectory(stored, known) }
        if let node {
            directories.remove(node.id)
            table.remove(Alias(parent: parentNode, name: stored), from: node, anchor: anchor, isLast: true)
        }
    }

    package func openDirectory(_ id: NodeID) throws(Errno) -> HandleID {
        let node = try table.node(id)
        guard streams.isCrowded, !table.whereabouts(of: node).isDeleted else { return streams.add(DirectoryHandle(try place(of: node))) }
        // What is wrong with it is said now.
        _ = try directory(of: node)
        return streams.add(DirectoryHandle(.unopened))
    }

    /// A directory to be read.
    private func place(of node: Node) throws(Errno) -> DirectoryHandle.Place {
        if table.whereabouts(of: node).isDeleted { return .removed }
        let directory = try directory(of: node)
        return .open(directory, try asErrno { () throws(SecureFileError) in try directory.entries() })
    }

    package func releaseDirectory(_ node: NodeID, _ handle: HandleID) { streams.remove(handle) }

    package func synchronizeDirectory(_ node: NodeID, _ handle: HandleID) throws(Errno) {
        let directory: VaultDirectory
        switch try streams.get(handle).reading.withLock({ $0.place }) {
        case .open(let open, _): directory = open
        case .unopened where !table.whereabouts(of: try table.node(node)).isDeleted: directory = try self.directory(of: try table.node(node))
        case .unopened, .removed: return
        }
        try asErrno { () throws(SecureFileError) in try directory.synchronize() }
    }

    package func readDirectory(
        _ id: NodeID, _ handle: HandleID, from position: Int, withAttributes: Bool, into reply: any DirectoryReply
    ) throws(Errno) {
        let node = try table.node(id)
        let open = try streams.get(handle)
        try open.reading.withLock { (reading) throws(Errno) in
            if case .unopened = reading.place { reading.place = try place(of: node) }
            guard case .open(let directory, let stream) = reading.place else { return }
            if position != reading.position {
                stream.seek(to: position)
                reading.left = nil
            }
            reading.position = position
            while let next = try reading.next(stream) {
                guard try add(next, node, directory, withAttributes, reply) else {
                    reading.left = next
                    return
                }
                reading.position = next.nextPosition
            }
        }
    }

    /// Adds an entry to the reply; false when there is no room.
    private func add(
        _ next: VaultDirectoryStream.Entry, _ node: Node, _ directory: VaultDirectory, _ withAttributes: Bool, _ reply: any DirectoryReply
    ) throws(Errno) -> Bool {
        let isDot = next.name == [0x2E] || next.name == [0x2E, 0x2E]
        guard withAttributes, !isDot else {
            return reply.add(next.name, inode: inodeNumber(next, node), kind: next.kind, nextPosition: next.nextPosition)
        }
        guard let found = try entryIfThere(next, node, directory) else { return true }
        if reply.add(next.name, found.attributes, node: found.node, nextPosition: next.nextPosition) { return true }
        table.forget(found.node, count: 1)
        return false
    }

    /// What is above the vault is nobody's business: `..` of the root is the root.
    private func inodeNumber(_ next: VaultDirectoryStream.Entry, _ node: Node) -> UInt64 {
        node.id == .root && next.name == [0x2E, 0x2E] ? node.key.inode : next.inode
    }

    /// Nil for an entry that went meanwhile.
    private func entryIfThere(_ next: VaultDirectoryStream.Entry, _ node: Node, _ directory: VaultDirectory) throws(Errno) -> Entry? {
        do throws(Errno) {
            return try entry(try directory.status(next.stored), Alias(parent: node, name: next.stored), directory)
        } catch {
            if error == .noEntry || error == .stale { return nil }
            throw error
        }
    }
}

extension DirectoryHandle.Reading {
    /// The entry that was left over, or the next one.
    mutating func next(_ stream: VaultDirectoryStream) throws(Errno) -> VaultDirectoryStream.Entry? {
        if let entry = left {
            left = nil
            return entry
        }
        return try asErrno { () throws(SecureFileError) in try stream.next() }
    }
}
