/// Removing files, symlinks and directories.
extension VaultDirectory {
    /// Removes a file or symlink; its companion and, with the last link, the file of a long target go after it.
    ///
    /// - Parameter kind: what it is, where that is known.
    public func remove(_ name: StoredName, _ kind: FileKind = .symlink) throws(Errno) {
        try requireWritable()
        let payload: RawPath? = try exclusively(name) { () throws(Errno) in
            let payload = kind == .symlink ? try linkPayload(of: name) : nil
            try descriptor.remove(name.entry)
            removeOrphan(name)
            return payload
        }
        if let payload { try? codec.root.remove(payload) }
    }

    /// Removes a directory that holds no entry of the user. FORMAT section 5.2. One that has lost its id can be removed too.
    ///
    /// - Parameter known: the directory itself, where it is open.
    /// - Throws: ``SecureFileError`` with the cause `.notEmpty` where it holds an entry or a foreign file; `.notFound`; the system's error.
    public func removeDirectory(_ name: StoredName, _ known: VaultDirectory? = nil) throws(SecureFileError) {
        try explained("a directory cannot be removed", path: name.path) { () throws(Errno) in
            try requireWritable()
            try exclusively(name) { () throws(Errno) in
                let victim = try requireVacant(name, known)
                let aside = try AtomicFile.temporaryName()
                try descriptor.rename(name.entry, to: descriptor, aside)
                do throws(Errno) {
                    let id = try known.map { (known) throws(Errno) in try known.encodedID() }
                    try Self.dispose(aside, victim, id, in: descriptor, depth: 0)
                } catch {
                    // Somebody made an entry meanwhile, without the locks a mount has: nothing happened.
                    try descriptor.rename(aside, to: descriptor, name.entry, .noReplace)
                    throw error
                }
                removeOrphan(name)
            }
        }
    }

    /// - Returns: the directory, open.
    /// - Throws: `.notEmpty`, `.notDirectory`, or why it cannot be looked into.
    func requireVacant(_ name: StoredName, _ known: VaultDirectory? = nil) throws(Errno) -> FileDescriptor {
        let victim: (descriptor: FileDescriptor, permissions: UInt32?) =
            if let known, !known.isPathOnly { (known.descriptor, nil) } else { try openForRemoval(name.entry) }
        let stream = try DirectoryStream(victim.descriptor)
        while let entry = try stream.next() {
            switch ReservedNames.meaning(of: entry.name) {
            case .dots, .directoryID, .temporary, .companion: continue
            case .short, .long, .other:
                if let permissions = victim.permissions { try? victim.descriptor.setPermissions(permissions) }
                throw .notEmpty
            }
        }
        return victim.descriptor
    }

    /// A directory is removed whatever its own mode: where it may not be listed, its mode is changed first. `permissions` is what it was.
    private func openForRemoval(_ entry: RawPath) throws(Errno) -> (descriptor: FileDescriptor, permissions: UInt32?) {
        do throws(Errno) {
            return (try descriptor.open(entry, [.readOnly, .directory, .noFollow]), nil)
        } catch {
            guard error == .accessDenied, let status = try? descriptor.status(of: entry), status.kind == .directory else { throw error }
            try descriptor.setPermissions(of: entry, status.permissions | 0o700)
            return (try descriptor.open(entry, [.readOnly, .directory, .noFollow]), status.permissions)
        }
    }

    /// Removes the directory `aside`, which has a temporary name, with the reserved names in it.
    ///
    /// - Throws: `.notEmpty` where it holds more; then it has its id again.
    func dispose(_ aside: RawPath, _ victim: FileDescriptor) throws(Errno) { try Self.dispose(aside, victim, nil, in: descriptor, depth: 0) }

    /// Removes a leftover: a file or a directory with a temporary name. A failure leaves it.
    func discard(_ temporary: RawPath) { Self.discard(temporary, in: descriptor, depth: 0) }

    private static let depthMaximum = 8

    private static func discard(_ temporary: RawPath, in descriptor: FileDescriptor, depth: Int) {
        do throws(Errno) { try descriptor.remove(temporary) } catch {
            guard error == .isDirectory || error == .notPermitted, depth < depthMaximum else { return }
            guard let victim = try? descriptor.open(temporary, [.readOnly, .directory, .noFollow]) else { return }
            try? dispose(temporary, victim, nil, in: descriptor, depth: depth + 1)
        }
    }

    /// - Parameter id: what its id file holds, where that is known.
    private static func dispose(
        _ aside: RawPath, _ victim: FileDescriptor, _ id: [UInt8]?, in descriptor: FileDescriptor, depth: Int
    ) throws(Errno) {
        let permissions = try victim.status().permissions
        if permissions & 0o700 != 0o700 { try victim.setPermissions(permissions | 0o700) }
        let content = if let id { id } else { try? AtomicFile.read(ReservedNames.directoryID, in: victim, limit: DirectoryIdentity.length) }
        try? victim.remove(ReservedNames.directoryID)
        do throws(Errno) {
            // The id was all there is in nearly every directory.
            do throws(Errno) { return try descriptor.removeDirectory(aside) } catch { try discardReserved(in: victim, depth: depth) }
            try descriptor.removeDirectory(aside)
        } catch {
            if let content { try? AtomicFile.replace(ReservedNames.directoryID, in: victim, with: content, permissions: 0o644) }
            throw error == .exists ? .notEmpty : error
        }
    }

    /// - Throws: `.notEmpty`, with nothing removed, where there is more than reserved names.
    private static func discardReserved(in victim: FileDescriptor, depth: Int) throws(Errno) {
        let stream = try DirectoryStream(victim)
        var leftovers: [RawPath] = []
        while let entry = try stream.next() {
            switch ReservedNames.meaning(of: entry.name) {
            case .dots, .directoryID: continue
            case .temporary, .companion: leftovers.append(RawPath(entry.name))
            case .short, .long, .other: throw .notEmpty
            }
        }
        for name in leftovers { discard(name, in: victim, depth: depth) }
    }
}
