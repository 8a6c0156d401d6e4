// What the operations on whole files are made of.
extension SecureFiles {
    /// Whether something is at `path`: its status, if it is a secure file, or an empty one. A damaged one counts: it can be replaced.
    ///
    /// - Throws: ``SecureFileError``: `.regularFileOnly`, `.notSecureFile`, `.wrongKey`, and why it cannot be looked at.
    func existing(_ path: RawPath) throws(SecureFileError) -> FileStatus? {
        do throws(SecureFileError) {
            try SecureFileHandle(opening: path, for: .reading, services: services).close()
        } catch {
            switch error.code {
            case .notFound: return nil
            case .damaged, .truncated: break
            default: throw error
            }
        }
        return try status(path)
    }

    func status(_ path: RawPath) throws(SecureFileError) -> FileStatus {
        let descriptor = try services.place(of: path).open(.readOnly, path: path)
        return try explained("cannot be examined", path: path.description) { () throws(Errno) in try descriptor.status() }
    }

    /// - Throws: `.alreadyExists` where anything is at `path`.
    func requireVacant(_ path: RawPath) throws(SecureFileError) {
        do throws(SecureFileError) { _ = try status(path) } catch {
            if error.code == .notFound { return }
            if error.code != .regularFileOnly, error.code != .permissionDenied { throw error }
        }
        throw SecureFileError(.alreadyExists, "is there already", path: path.description)
    }

    /// The right to replace or remove a file: nobody writes it meanwhile. Good as long as the value is kept.
    struct Claim {
        let status: FileStatus
        fileprivate let descriptor: FileDescriptor?
    }

    /// - Throws: `.inUse` where a standalone file is open for writing. In a vault that is open for writing nobody else writes.
    func claim(_ path: RawPath, _ status: FileStatus) throws(SecureFileError) -> Claim {
        let place = try services.place(of: path)
        guard case .standalone = place else { return Claim(status: status, descriptor: nil) }
        let descriptor = try place.open(.readOnly, path: path)
        let isMine = try explained("cannot be locked", path: path.description) { () throws(Errno) in try descriptor.tryLock() }
        if !isMine { throw SecureFileError(.inUse, "is open for writing", path: path.description) }
        return Claim(status: status, descriptor: descriptor)
    }

    /// A new secure file that will be at `path`.
    func make(_ path: RawPath, _ permissions: UInt32) throws(SecureFileError) -> NewSecureFile {
        let place = try services.place(of: path)
        var context = try services.standaloneContext()
        if case .vault = place, let vault = services.vault { context = vault.content }
        let file = try NewFile(at: place, path: path, permissions: permissions)
        return NewSecureFile(file: file, content: SecureFile.create(PosixByteStore(file.descriptor), context, path: path.description), services: services)
    }

    /// A new secure file and its content.
    struct NewSecureFile {
        let file: NewFile
        let content: SecureFile
        let services: SecureServices

        /// Has `body` write the content; it is complete in the store then. Where that fails nothing is kept.
        func write(_ body: (SecureFile) throws(SecureFileError) -> Void) throws(SecureFileError) {
            do throws(SecureFileError) {
                try body(content)
                try content.synchronize()
                if content.context.isStandalone { try content.closeStandalone() } else { try content.settle() }
            } catch {
                // What it holds in memory would be tried to be written, again and again.
                try? content.truncate(to: .zero)
                throw services.refined(error)
            }
        }

        /// Opens the content anew, as a reader would, to see what is really there.
        func reopened() throws(SecureFileError) -> SecureFile {
            try SecureFile.open(PosixByteStore(file.descriptor), content.context, path: content.path)
        }
    }

    /// - Throws: `.damaged` where the contents of two secure files differ.
    func verifySame(_ a: RawPath, _ b: RawPath) throws(SecureFileError) {
        let (a, b) = (
            try SecureFileHandle(opening: a, for: .reading, services: services), try SecureFileHandle(opening: b, for: .reading, services: services)
        )
        try a.content.reading { first throws(SecureFileError) in
            try b.content.reading { second throws(SecureFileError) in try PlainCopy.compare(first, second, path: b.path) }
        }
        try a.close()
        try b.close()
    }
}
