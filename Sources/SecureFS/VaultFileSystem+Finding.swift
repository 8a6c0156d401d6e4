import SecureFileCore

/// From nodes to backing inodes. Nodes know names, not descriptors; a name may change while it is used, so what is found is compared.
extension VaultFileSystem {
    /// The open directory of a node.
    func directory(of node: Node) throws(Errno) -> VaultDirectory {
        if node.id == .root { return vault.root }
        if let open = directories[node.id] { return open }
        return try retrying(node) { () throws(Errno) in try openDirectory(node) }
    }

    func directory(_ id: NodeID) throws(Errno) -> (node: Node, directory: VaultDirectory) {
        let node = try table.node(id)
        guard node.kind == .directory else { throw .notDirectory }
        return (node, try directory(of: node))
    }

    /// Opens the directories from the nearest open one down. Not by recursion: a path may be thousands deep.
    private func openDirectory(_ node: Node) throws(Errno) -> VaultDirectory? {
        var path: [(node: Node, name: StoredName)] = []
        var top = node
        var open: VaultDirectory? = vault.root
        while top.id != .root {
            open = directories[top.id]
            if open != nil { break }
            guard let alias = table.whereabouts(of: top).alias else { throw .noEntry }
            path.append((top, alias.name))
            top = alias.parent
            open = vault.root
        }
        guard var directory = open else { return nil }
        for step in path.reversed() {
            do throws(SecureFileError) {
                directory = try directory.openDirectory(step.name)
            } catch {
                if error.cause == .noEntry || error.cause == .notDirectory { return nil }
                throw reported(error, step.node)
            }
            guard InodeKey(try directory.descriptor.status()) == step.node.key else { return nil }
            directories.insert(directory, for: step.node.id)
        }
        return directory
    }

    /// Runs `body` until it finds what it looks for; nil means that it found something else. Between tries, renames under way are waited
    /// for.
    func retrying<R>(_ node: Node, _ body: () throws(Errno) -> R?) throws(Errno) -> R {
        for _ in 0..<8 {
            if let found = try body() { return found }
            changing.withLock { _ in }
        }
        // The name leads elsewhere and we did not move it: somebody changes the vault behind our back.
        throw .stale
    }

    /// Status of the backing inode, and the size a user sees.
    func status(of node: Node) throws(Errno) -> FileStatus {
        if let open = node.content.withLock({ $0 }) {
            let status = try open.backing.descriptor.status()
            lookAgain(open, status)
            return open.shown(status)
        }
        if node.id == .root { return try vault.rootStatus() }
        return try retrying(node) { () throws(Errno) in
            let (alias, anchor, _) = table.whereabouts(of: node)
            if let anchor { return try sized(try anchor.status(), node, nil) }
            guard let alias else { throw .stale }
            let directory = try directory(of: alias.parent)
            guard let status = try found(try directory.descriptor.status(of: alias.name.entry), node) else { return nil }
            return try sized(status, node, (directory, alias.name))
        }
    }

    /// `status` with the size a user sees, of a node whose content is not open.
    func sized(
        _ status: FileStatus, _ node: Node, _ place: (directory: VaultDirectory, name: StoredName)?
    ) throws(Errno) -> FileStatus {
        var status = status
        switch status.kind {
        case .regular:
            if !isSoleUser { try ensureSizeIsKnown(node, status) }
            status.size = toldSize(node, status)
        case .symlink: if let place { status.size = try place.directory.plaintextSize(status, place.name) }
        default: break
        }
        return status
    }

    /// The size of a file whose content is not open, as the kernel is told it.
    func toldSize(_ node: Node, _ status: FileStatus) -> Int64 {
        table.with(node) { $0.rare?.recordedSize } ?? ContentGeometry.size(backingLength: status.size).rawValue
    }

    /// A descriptor of the inode, whatever it is, good for its attributes only.
    func inode(of node: Node) throws(Errno) -> FileDescriptor {
        if let backing = node.content.withLock({ $0?.backing }) { return backing.descriptor }
        if node.id == .root { return vault.root.descriptor }
        return try retrying(node) { () throws(Errno) in
            let (alias, anchor, _) = table.whereabouts(of: node)
            if let anchor { return anchor }
            guard let alias else { throw .stale }
            return try open(alias, [.pathOnly, .noFollow], node)
        }
    }

    /// Opens a name and compares what it got: nil when that is another inode, or none.
    func open(_ alias: Alias, _ mode: FileDescriptor.OpenMode, _ node: Node) throws(Errno) -> FileDescriptor? {
        let directory = try directory(of: alias.parent)
        do throws(Errno) {
            let opened = try directory.descriptor.open(alias.name.entry, mode.union([.noFollow, .nonBlocking, .keepingAccessTime]))
            return InodeKey(try opened.status()) == node.key ? opened : nil
        } catch {
            if error == .noEntry || error == .notDirectory || error.isLoop { return nil }
            throw error
        }
    }

    private func found(_ status: @autoclosure () throws(Errno) -> FileStatus, _ node: Node) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            let status = try status()
            return InodeKey(status) == node.key ? status : nil
        } catch {
            if error == .noEntry { return nil }
            throw error
        }
    }

    /// Logs what is wrong with a file, once a file, and gives the error for the program.
    func reported(_ error: SecureFileError, _ node: Node) -> Errno {
        if error.isAboutContent {
            let isFirst = table.with(node) { node in
                defer { node.isReported = true }
                return !node.isReported
            }
            if isFirst { log.write("\(ciphertextPath(of: node)): \(error.withoutPath)") }
        }
        return Errno(error)
    }

    /// Where the backing inode lies in the vault's folder.
    func ciphertextPath(of node: Node) -> String {
        var names: [String] = []
        var next = node
        while let alias = table.whereabouts(of: next).alias, names.count < 4096 {
            names.append(alias.name.entry.description)
            next = alias.parent
        }
        if names.isEmpty { return "\(vault.path) (inode \(node.key.inode))" }
        return vault.path.description + "/" + names.reversed().joined(separator: "/")
    }
}

extension SecureFileError {
    var withoutPath: SecureFileError {
        var copy = self
        copy.path = nil
        return copy
    }
}

extension Errno {
    /// ELOOP: a symlink where none may be.
    var isLoop: Bool { rawValue == 40 }
}
