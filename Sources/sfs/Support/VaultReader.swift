import SecureFileCore

/// An open vault, read-only, and the ways from its root: for commands that read without a mount.
struct VaultReader {
    let vault: Vault
    let path: RawPath

    /// Checks that there is a vault, gets the key, and opens it.
    init(_ arguments: Arguments) throws(Failure) {
        let path = arguments.operands[0]
        _ = try explaining(.vault, path) { () throws(SecureFileError) in try Vault.readConfiguration(at: path) }
        let credential = try Secrets(arguments).credential(for: path)
        self.path = path
        vault = try explaining(.vault, path) { () throws(SecureFileError) in
            try credential.use { (credential) throws(SecureFileError) in try Vault.open(at: path, credential, .readOnly) }
        }
        _ = SystemLimits.raiseDescriptors
    }

    /// Where a path leads.
    enum Target {
        case directory(VaultDirectory)
        /// A regular file, or a symlink where the last component is not followed.
        case entry(StoredName, FileStatus, in: VaultDirectory)
    }

    /// Follows `path` from the root, through symlinks that stay in the vault.
    func resolve(_ path: RawPath, followingLast: Bool) throws(Failure) -> Target {
        // Where we are, and the names that lead there: no descriptor is held for the directories on the way.
        var directory = vault.root
        var way: [StoredName] = []
        var rest = Array(Self.components(path.bytes).reversed())
        let mustBeDirectory = path.bytes.last == UInt8(ascii: "/") || path.bytes.suffix(2).elementsEqual("/.".utf8)
        var links = 0
        while let name = rest.popLast() {
            if name == [46, 46] {
                // As in any root directory: above it is itself.
                _ = way.popLast()
                directory = try explaining(.entry, path) { () throws(SecureFileError) in try walk(way) }
                continue
            }
            let (stored, status) = try look(up: name, in: directory, path)
            switch status.kind {
            case .directory:
                let here = directory
                directory = try explaining(.entry, path) { () throws(SecureFileError) in try here.openDirectory(stored) }
                way.append(stored)
            case .symlink where !rest.isEmpty || followingLast || mustBeDirectory:
                links += 1
                if links > 40 { throw Failure(.notFound, "too many symlinks follow one another", path: path) }
                let here = directory
                let target = try explaining(.entry, path) { () throws(SecureFileError) in try here.symlinkTarget(stored) }
                if target.first == UInt8(ascii: "/") {
                    throw Failure(.notFound, "leads through a symlink to \(Escaped(target)), outside of the vault", path: path)
                }
                rest += Self.components(target).reversed()
            default:
                guard rest.isEmpty, !mustBeDirectory else { throw Failure(.notFound, "a part of it is not a directory", path: path) }
                return .entry(stored, status, in: directory)
            }
        }
        return .directory(directory)
    }

    private func walk(_ way: [StoredName]) throws(SecureFileError) -> VaultDirectory {
        var directory = vault.root
        for name in way { directory = try directory.openDirectory(name) }
        return directory
    }

    private func look(
        up name: [UInt8], in directory: VaultDirectory, _ path: RawPath
    ) throws(Failure) -> (StoredName, FileStatus) {
        let stored = try explaining(.entry, path) { () throws(SecureFileError) in try directory.storedName(name) }
        do throws(Errno) { return (stored, try directory.status(stored)) } catch {
            if error == .noEntry { throw Failure(.notFound, "no such file or directory in the vault", path: path) }
            throw Failure(error, "cannot be examined", about: .entry, path: path)
        }
    }

    private static func components(_ path: some Collection<UInt8>) -> [[UInt8]] {
        path.split(separator: UInt8(ascii: "/")).map { Array($0) }.filter { $0 != [46] }
    }
}
