import SecureFileCore
import Testing

/// A vault in a folder of its own, with the cheapest key derivation there is.
struct TestVault {
    static let passphrase = "correct horse, battery: staple"
    let folder: TemporaryFolder
    let path: String
    let passfile: String
    let recoveryKey: String

    /// - Parameter fill: Puts content into it.
    init(named name: String = "vault", fill: (Writer) throws -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        path = folder.path.appending(name).description
        passfile = try folder.file("passfile", Self.passphrase + "\n")
        let made = try Vault.create(
            at: RawPath(path), Vault.Creation(passphrase: Array(Self.passphrase.utf8), argon2: .insecureMinimum))
        recoveryKey = try made.exposedText()
        let vault = try open(.readWrite)
        try fill(Writer(vault: vault))
        try vault.close()
    }

    func open(_ access: Vault.Access) throws -> Vault {
        try Vault.open(at: RawPath(path), .passphrase(Array(Self.passphrase.utf8)), access)
    }

    /// Runs a command on the vault with the right passphrase: `sfs COMMAND VAULT --passfile … rest`.
    func run(_ command: String, _ rest: String...) throws -> Sfs.Outcome {
        try Sfs.run(([command, path, "--passfile", passfile] + rest).map { RawPath($0) })
    }

    /// Writes content without a mount.
    struct Writer {
        let vault: Vault

        func directory(_ name: String, in parent: VaultDirectory? = nil) throws -> VaultDirectory {
            let parent = parent ?? vault.root
            return try parent.makeDirectory(parent.storedName(Array(name.utf8)), permissions: 0o755, owner: nil)
        }

        func file(_ name: [UInt8], _ content: [UInt8], in parent: VaultDirectory? = nil, sizedTo size: Int64? = nil) throws {
            let parent = parent ?? vault.root
            let file = try parent.createFile(parent.storedName(name), permissions: 0o644)
            let secure = SecureFile.create(PosixByteStore(file), vault.content, path: "test")
            try secure.write(content.span, 0..<content.count, at: ByteOffset(0))
            if let size { try secure.truncate(to: ByteCount(size)) }
            try secure.synchronize()
            try secure.settle()
        }

        func file(_ name: String, _ content: String, in parent: VaultDirectory? = nil) throws {
            try file(Array(name.utf8), Array(content.utf8), in: parent)
        }

        func symlink(_ name: String, to target: String, in parent: VaultDirectory? = nil) throws {
            let parent = parent ?? vault.root
            try parent.makeSymlink(parent.storedName(Array(name.utf8)), target: Array(target.utf8))
        }
    }

    /// The path in the vault's folder of an entry of the root.
    func stored(_ name: String) throws -> String {
        let vault = try open(.readOnly)
        return path + "/" + (try vault.root.storedName(Array(name.utf8)).entry.description)
    }

    /// Puts `bytes` over what a file in the vault's folder has at `offset`.
    func overwrite(_ file: String, at offset: Int64, with bytes: [UInt8]) throws {
        let buffer = PageBuffer(count: bytes.count)
        buffer.copy(bytes, to: 0)
        try FileDescriptor.open(RawPath(file), .readWrite).write(buffer, 0..<bytes.count, at: offset)
    }
}
