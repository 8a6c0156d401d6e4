/// Symlinks: their targets are sealed. FORMAT section 6.
extension VaultDirectory {
    private static let label = Array("target".utf8)

    /// Makes a symlink.
    ///
    /// - Parameter target: 1 to 4095 bytes without NUL.
    /// - Throws: ``SecureFileError``: `.invalidArgument` (with the cause `.nameTooLong` above 4095 bytes), `.alreadyExists`.
    public func makeSymlink(_ name: StoredName, target: [UInt8]) throws(SecureFileError) {
        if target.count > StoredSymlink.maximum {
            throw SecureFileError(.invalidArgument, "a symlink's target is longer than 4095 bytes", cause: .nameTooLong)
        }
        if target.isEmpty { throw SecureFileError(.invalidArgument, "a symlink's target is empty", cause: .noEntry) }
        if target.contains(0) { throw SecureFileError(.invalidArgument, "a symlink's target contains a NUL") }
        let sealed: [UInt8]
        do {
            let random = try RandomBytes.make(16)
            sealed = random + (try codec.symlinks.seal(target, associatedData: [Self.label, random]))
        } catch { throw SecureFileError(error, "a symlink cannot be made", path: name.path) }
        try explained("a symlink cannot be made", path: name.path) { () throws(Errno) in
            try makingEntry(name) { () throws(Errno) in
                if target.count <= StoredSymlink.inlineMaximum {
                    try descriptor.makeSymlink(name.entry, target: RawPath(StoredSymlink.inline(sealed).text))
                } else {
                    try makeLongSymlink(name, sealed, target.count)
                }
            }
        }
    }

    private func makeLongSymlink(_ name: StoredName, _ sealed: [UInt8], _ length: Int) throws(Errno) {
        let id: [UInt8]
        do { id = Base64URL.encode(try RandomBytes.make(16)) } catch { throw .inputOutput }
        let folder = try linksFolder()
        let payload = RawPath(id)
        do throws(Errno) {
            let file = try folder.open(payload, [.writeOnly, .create, .exclusive, .noFollow], permissions: 0o600)
            try file.writeStream(sealed)
            try file.synchronize()
            try file.close()
            try folder.synchronize()
            try descriptor.makeSymlink(name.entry, target: RawPath(StoredSymlink.file(name: id, length: length).text))
        } catch {
            try? folder.remove(payload)
            throw error
        }
    }

    /// `sfs.links` in the root, made where it is missing.
    private func linksFolder() throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            return try codec.root.open(ReservedNames.links, [.readOnly, .directory, .noFollow])
        } catch {
            guard error == .noEntry else { throw error }
        }
        do throws(Errno) { try codec.root.makeDirectory(ReservedNames.links, permissions: 0o700) } catch {
            guard error == .exists else { throw error }
        }
        try codec.root.synchronize()
        return try codec.root.open(ReservedNames.links, [.readOnly, .directory, .noFollow])
    }

    /// The target of a symlink, as it was given.
    ///
    /// - Throws: ``SecureFileError``: `.damaged` where it does not open, with the cause `.invalidArgument` for anything but a symlink.
    public func symlinkTarget(_ name: StoredName) throws(SecureFileError) -> [UInt8] {
        let text = try explained("a symlink cannot be read", path: name.path) { () throws(Errno) in try descriptor.symlinkTarget(name.entry)
        }
        guard let stored = StoredSymlink(text: text) else { throw damaged(name) }
        switch stored {
        case .inline(let sealed): return try open(sealed, name)
        case .file(let file, let length):
            let sealed = try explained("a symlink's target cannot be read", path: name.path) { () throws(Errno) in
                try AtomicFile.readPlausible(payloadPath(file), in: codec.root, limit: StoredSymlink.maximum + StoredSymlink.overhead)
            }
            guard let sealed else { throw damaged(name) }
            let target = try open(sealed, name)
            guard target.count == length else { throw damaged(name) }
            return target
        }
    }

    private func open(_ sealed: [UInt8], _ name: StoredName) throws(SecureFileError) -> [UInt8] {
        guard sealed.count > StoredSymlink.overhead else { throw damaged(name) }
        let random = Array(sealed.prefix(16))
        do {
            let target = try codec.symlinks.open(Array(sealed.dropFirst(16)), associatedData: [Self.label, random])
            if !target.contains(0) { return target }
        } catch {
            if error != .authentication { throw SecureFileError(error, "a symlink cannot be read", path: name.path) }
        }
        throw damaged(name)
    }

    private func damaged(_ name: StoredName) -> SecureFileError {
        SecureFileError(.damaged, "a symlink's target is damaged", path: name.path)
    }

    private func payloadPath(_ file: [UInt8]) -> RawPath { ReservedNames.links.appending(RawPath(file)) }

    /// The file, relative to the root, that goes with the symlink `name`: nil where it has none, or has another link.
    func linkPayload(of name: StoredName) throws(Errno) -> RawPath? {
        let status = try descriptor.status(of: name.entry)
        guard status.kind == .symlink, status.size == Int64(StoredSymlink.fileFormLength), status.linkCount == 1,
            case .file(let file, _)? = StoredSymlink(text: try descriptor.symlinkTarget(name.entry))
        else { return nil }
        return payloadPath(file)
    }
}
