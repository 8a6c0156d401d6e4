/// Where a path leads.
enum SecurePlace: Sendable {
    /// A file of its own, at this path.
    case standalone(RawPath)
    /// A file of the open vault: its directory, and its name there.
    case vault(VaultDirectory, StoredName)

    /// Opens the backing file of a regular file; nothing is followed, and nothing else is opened.
    ///
    /// - Throws: ``SecureFileError``: `.regularFileOnly`, `.notFound`, `.permissionDenied`, `.keyNotAvailable`, `.system`.
    func open(_ mode: FileDescriptor.OpenMode, path: RawPath) throws(SecureFileError) -> FileDescriptor {
        do throws(Errno) {
            // Looked at first: opening a device can do something, opening a socket fails with an error that says nothing.
            guard try kind() == .regular else { throw .isDirectory }
            let opened: FileDescriptor =
                switch self {
                case .standalone(let path): try FileDescriptor.open(path, mode.union([.noFollow, .nonBlocking]))
                case .vault(let directory, let name): try directory.openFile(name, mode)
                }
            guard try opened.status().kind == .regular else { throw .isDirectory }
            return opened
        } catch {
            if error == .isDirectory || error == .loop || error == .noSuchAddress {
                throw SecureFileError(.regularFileOnly, "is no regular file: a directory, symlink, socket, pipe or device", path: path.description)
            }
            throw SecureFileError(error, "cannot be opened", path: path.description)
        }
    }

    private func kind() throws(Errno) -> FileKind {
        switch self {
        case .standalone(let path): try FileDescriptor.open(path, [.pathOnly, .noFollow]).status().kind
        case .vault(let directory, let name): try directory.descriptor.status(of: name.entry).kind
        }
    }
}
