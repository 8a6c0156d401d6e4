/// The paths that lie in an open vault: those under its folder. What follows the folder is a plaintext path.
struct VaultNamespace: Sendable {
    let vault: Vault
    private let key: BackingKey

    init(_ vault: Vault) throws(Errno) {
        self.vault = vault
        key = BackingKey(try vault.root.descriptor.status())
    }

    /// Where `path` leads, if into the vault. The folder is known by its inode, however it is called. Symlinks in the vault are not followed.
    ///
    /// - Throws: ``SecureFileError``: `.notFound` where a directory on the way is missing, `.keyNotAvailable`, `.invalidArgument` for a name no
    ///   file can have, and what opening a directory fails with. `.regularFileOnly` for the folder itself.
    func place(of path: RawPath) throws(SecureFileError) -> SecurePlace? {
        guard let components = try components(of: path) else { return nil }
        var directory = vault.root
        for component in components.dropLast() {
            do throws(SecureFileError) { directory = try directory.openDirectory(try directory.storedName(component)) } catch {
                throw error.named(path)
            }
        }
        guard let last = components.last else {
            throw SecureFileError(.regularFileOnly, "is a directory", path: path.description)
        }
        do throws(SecureFileError) { return .vault(directory, try directory.storedName(last)) } catch { throw error.named(path) }
    }

    /// The plaintext names behind the vault's folder; nil where `path` does not lead through it.
    private func components(of path: RawPath) throws(SecureFileError) -> [[UInt8]]? {
        let slash = UInt8(ascii: "/")
        let absolute = path.bytes.first == slash ? Array(path.bytes) : try workingDirectory(path) + [slash] + path.bytes
        let parts = absolute.split(separator: slash).map { Array($0) }.filter { $0 != [46] }
        // From the whole path up: the folder is most often a parent or grandparent.
        for count in stride(from: parts.count, to: 0, by: -1) {
            let prefix = RawPath(parts[..<count].flatMap { [slash] + $0 })
            guard let status = try? FileDescriptor.open(prefix, [.pathOnly]).status(), BackingKey(status) == key else { continue }
            return try Self.withoutDots(parts[count...], path)
        }
        return nil
    }

    private func workingDirectory(_ path: RawPath) throws(SecureFileError) -> [UInt8] {
        do throws(Errno) { return Array(try CurrentProcess.workingDirectory().bytes) } catch {
            throw SecureFileError(error, "the working directory is not known", path: path.description)
        }
    }

    /// `..` behind the folder goes up within the vault; above it, out of it.
    private static func withoutDots(_ parts: ArraySlice<[UInt8]>, _ path: RawPath) throws(SecureFileError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for part in parts {
            if part != [46, 46] {
                names.append(part)
            } else if names.popLast() == nil {
                throw SecureFileError(.invalidArgument, "the path leads through the vault and out of it", path: path.description)
            }
        }
        return names
    }
}

extension SecureFileError {
    /// The same with the path as the caller gave it: the own one of errors in a vault is ciphertext.
    func named(_ path: RawPath) -> SecureFileError {
        var copy = self
        copy.path = path.description
        return copy
    }
}
