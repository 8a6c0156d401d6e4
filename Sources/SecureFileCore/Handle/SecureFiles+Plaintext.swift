// From plaintext to secure files and back. Everything is read back and compared before anything is replaced or removed.
extension SecureFiles {
    /// Makes a secure file of the plaintext file at `source`, which stays. Permissions and time of modification go with it.
    ///
    /// - Parameter overwriting: Whether a secure file at `target` may be replaced.
    /// - Throws: ``SecureFileError``: `.alreadyExists`; `.regularFileOnly`; `.invalidArgument` where `source` is a secure file already;
    ///   `.damaged` where the copy does not read as the source; as ``write(_:to:atomically:overwriting:permissions:)``.
    public func importFile(_ source: RawPath, to target: RawPath, overwriting: Bool = false) throws(SecureFileError) {
        let plain = try openPlaintext(source)
        guard overwriting, let old = try existing(target) else {
            try requireVacant(target)
            return try encrypted(plain, at: target).file.put(.refuse)
        }
        let claim = try claim(target, old)
        try encrypted(plain, at: target).file.put(.replace)
        withExtendedLifetime(claim) {}
    }

    /// Makes a plaintext file of the secure file at `source`, which stays. Permissions and time of modification go with it.
    ///
    /// - Parameter overwriting: Whether a file at `target` may be replaced, whatever it is.
    /// - Throws: ``SecureFileError``: `.alreadyExists`, `.regularFileOnly`, `.damaged`; as ``read(_:)``.
    public func exportFile(_ source: RawPath, to target: RawPath, overwriting: Bool = false) throws(SecureFileError) {
        guard case .standalone = try services.place(of: target) else {
            throw SecureFileError(.invalidArgument, "lies in the vault, where no plaintext is written: copy the file", path: target.description)
        }
        if !overwriting { try requireVacantPlain(target) } else { _ = try plainStatus(target) }
        try decrypted(source, to: target).put(overwriting ? .replace : .refuse)
    }

    /// Puts a secure file in the place of the plaintext file at `path`, and overwrites the plaintext with zeros after that.
    ///
    /// A filesystem that writes elsewhere (copy on write, a flash translation layer), or a copy made before, may keep the plaintext.
    /// - Throws: ``SecureFileError``: `.invalidArgument` where it is a secure file already, or has other names (hard links), which would stay
    ///   plaintext; `.inUse` where it changes meanwhile; as ``importFile(_:to:overwriting:)``. The file is as before then.
    public func encrypt(_ path: RawPath) throws(SecureFileError) {
        guard case .standalone = try services.place(of: path) else {
            throw SecureFileError(.invalidArgument, "lies in the vault: it is encrypted", path: path.description)
        }
        let plain = try openPlaintext(path, writable: true)
        let before = try soleName(plain)
        let new = try encrypted(plain, at: path)
        try requireUnchanged(path, plain, before)
        try new.file.put(.replace)
        scrub(plain, before.size)
    }

    /// Puts a plaintext file in the place of the secure file at `path`.
    ///
    /// - Throws: ``SecureFileError``: `.invalidArgument` where it has other names (hard links), which would stay encrypted; `.inUse` where it is
    ///   open for writing; as ``exportFile(_:to:overwriting:)``. The file is as before then.
    public func decrypt(_ path: RawPath) throws(SecureFileError) {
        guard case .standalone = try services.place(of: path) else {
            throw SecureFileError(.invalidArgument, "lies in the vault: export it", path: path.description)
        }
        let claim = try claim(path, try status(path))
        let secure = PlainFile(descriptor: try SecurePlace.standalone(path).open(.readOnly, path: path), path: path.description)
        _ = try soleName(secure)
        let new = try decrypted(path, to: path)
        try requireUnchanged(path, secure, claim.status)
        try new.put(.replace)
        withExtendedLifetime(claim) {}
    }

    // MARK: Parts

    /// Opens a plaintext file; one that begins as a secure file is refused.
    private func openPlaintext(_ path: RawPath, writable: Bool = false) throws(SecureFileError) -> PlainFile {
        let file = PlainFile(descriptor: try SecurePlace.standalone(path).open(writable ? .readWrite : .readOnly, path: path), path: path.description)
        let page = PageBuffer(count: ContentGeometry.blockSize)
        if try file.read(at: 0, 8, into: page) == 8, MetadataPage(page).hasMagic {
            throw SecureFileError(.invalidArgument, "is a secure file already", path: path.description)
        }
        return file
    }

    /// A secure copy of `plain`, complete and compared.
    private func encrypted(_ plain: PlainFile, at target: RawPath) throws(SecureFileError) -> NewSecureFile {
        let status = try explained("cannot be examined", path: plain.path) { () throws(Errno) in try plain.descriptor.status() }
        let new = try make(target, Self.standardPermissions)
        try new.write { file throws(SecureFileError) in try PlainCopy.all(of: plain, to: file) }
        try PlainCopy.compare(plain, try new.reopened(), path: plain.path)
        new.file.adopt(status)
        return new
    }

    /// A plaintext copy of the secure file `source`, complete and compared.
    private func decrypted(_ source: RawPath, to target: RawPath) throws(SecureFileError) -> NewFile {
        let handle = try SecureFileHandle(opening: source, for: .reading, services: services)
        let new = try NewFile(at: .standalone(target), path: target, permissions: Self.standardPermissions)
        let plain = PlainFile(descriptor: new.descriptor, path: target.description)
        do throws(SecureFileError) {
            try handle.content.reading { file throws(SecureFileError) in
                try PlainCopy.all(of: file, to: plain)
                try PlainCopy.compare(file, plain, path: source.description)
            }
        } catch { throw services.refined(error) }
        new.adopt(try status(source))
        try handle.close()
        return new
    }

    private func plainStatus(_ path: RawPath) throws(SecureFileError) -> FileStatus? {
        do throws(SecureFileError) {
            let descriptor = try SecurePlace.standalone(path).open(.readOnly, path: path)
            return try explained("cannot be examined", path: path.description) { () throws(Errno) in try descriptor.status() }
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    private func requireVacantPlain(_ path: RawPath) throws(SecureFileError) {
        do throws(SecureFileError) { if try plainStatus(path) == nil { return } } catch {
            if error.code != .regularFileOnly, error.code != .permissionDenied { throw error }
        }
        throw SecureFileError(.alreadyExists, "is there already", path: path.description)
    }

    private func soleName(_ file: PlainFile) throws(SecureFileError) -> FileStatus {
        let status = try explained("cannot be examined", path: file.path) { () throws(Errno) in try file.descriptor.status() }
        guard status.linkCount == 1 else {
            throw SecureFileError(.invalidArgument, "has \(status.linkCount) names (hard links): the others would stay as they are", path: file.path)
        }
        return status
    }

    /// Makes sure that the file which is going to be replaced is the one that was read.
    private func requireUnchanged(_ path: RawPath, _ file: PlainFile, _ before: FileStatus) throws(SecureFileError) {
        let (named, now): (FileStatus, FileStatus) = try explained("cannot be examined", path: file.path) { () throws(Errno) in
            (try FileDescriptor.open(path, [.pathOnly, .noFollow]).status(), try file.descriptor.status())
        }
        guard BackingKey(named) == BackingKey(before), now.hasSameContent(as: before) else {
            throw SecureFileError(.inUse, "somebody changed the file meanwhile: nothing was replaced", path: file.path)
        }
    }

    /// Overwrites what has no name any more. Nothing can be done where that fails.
    private func scrub(_ file: PlainFile, _ size: Int64) {
        let zeros = PageBuffer(count: 1 << 20)
        var offset: Int64 = 0
        while offset < size {
            let count = Int(min(size - offset, Int64(zeros.count)))
            guard (try? file.descriptor.write(zeros, 0..<count, at: offset)) != nil else { return }
            offset += Int64(count)
        }
        try? file.descriptor.synchronizeData()
    }
}
