/// Where ``SecureServices`` gets the key from.
public struct KeySource: Sendable {
    enum Kind: Sendable {
        case vault(RawPath, Credential)
        case keyringOfVault(RawPath)
        case keyring(keyID: UInt64)
        case provider(@Sendable () throws -> [UInt8])
    }
    let kind: Kind
    /// The vault is opened too.
    let opening: Vault.Access?

    /// The key of the vault in the folder `path`.
    ///
    /// - Parameters:
    ///   - credential: Its passphrase, recovery key or key file. The caller wipes its copy.
    ///   - opening: With `.readWrite` or `.readOnly` the vault is opened as well, and paths under its folder are those of its files, by their
    ///     plaintext names. Without it only its key is used, for standalone files; then it may be mounted meanwhile.
    public static func vault(_ path: String, _ credential: Credential, opening: Vault.Access? = nil) -> KeySource {
        vault(RawPath(path), credential, opening: opening)
    }

    /// The same for a path of any bytes.
    public static func vault(_ path: RawPath, _ credential: Credential, opening: Vault.Access? = nil) -> KeySource {
        KeySource(kind: .vault(path, credential), opening: opening)
    }

    /// The key of the vault in the folder `path`, from the kernel's keyring, where `sfs unlock` or ``SecureServices/putKeyInKeyring(seconds:)``
    /// has left it.
    public static func keyring(ofVault path: String, opening: Vault.Access? = nil) -> KeySource {
        keyring(ofVault: RawPath(path), opening: opening)
    }

    /// The same for a path of any bytes.
    public static func keyring(ofVault path: RawPath, opening: Vault.Access? = nil) -> KeySource {
        KeySource(kind: .keyringOfVault(path), opening: opening)
    }

    /// The key with an id, as a standalone file names it, from the kernel's keyring.
    public static func keyring(keyID: UInt64) -> KeySource { KeySource(kind: .keyring(keyID: keyID), opening: nil) }

    /// The caller's own key: `body` gives 32 bytes, which are copied to locked memory and wiped. What it throws becomes `.keyNotAvailable`,
    /// unless it is a ``SecureFileError``.
    public static func provider(_ body: @escaping @Sendable () throws -> [UInt8]) -> KeySource {
        KeySource(kind: .provider(body), opening: nil)
    }
}

extension KeySource {
    /// What a source gives.
    struct Yield: Sendable {
        var keys: VolumeKeys
        var cipher: CipherKind
        /// The folder of the vault the key is of, and how to open it.
        var vault: (path: RawPath, access: Vault.Access)?
    }

    /// - Throws: ``SecureFileError``: as ``Vault/open(at:_:_:content:log:)`` and ``VolumeKeys/fromKeyring(keyID:)``; `.invalidArgument` where a
    ///   provider gives another number of bytes.
    func fetch() throws(SecureFileError) -> Yield {
        switch kind {
        case .vault(let path, let credential):
            let configuration = try Vault.readConfiguration(at: path)
            let keys = try configuration.unlock(credential, path: path.appending(ReservedNames.configuration).description).keys
            return Yield(keys: keys, cipher: configuration.cipher, vault: opening.map { (path, $0) })
        case .keyringOfVault(let path):
            let configuration = try Vault.readConfiguration(at: path)
            let keys = try VolumeKeys.fromKeyring(keyID: configuration.keyID)
            try configuration.verify(keys, path: path.appending(ReservedNames.configuration).description)
            return Yield(keys: keys, cipher: configuration.cipher, vault: opening.map { (path, $0) })
        case .keyring(let keyID): return Yield(keys: try VolumeKeys.fromKeyring(keyID: keyID), cipher: .aes256GCM)
        case .provider(let body): return Yield(keys: try Self.keys(of: body), cipher: .aes256GCM)
        }
    }

    private static func keys(of body: () throws -> [UInt8]) throws(SecureFileError) -> VolumeKeys {
        var bytes: [UInt8]
        do { bytes = try body() } catch let error as SecureFileError { throw error } catch {
            // Its own words may hold anything, a key too.
            throw SecureFileError(.keyNotAvailable, "the program's own source gave no key")
        }
        defer { bytes.wipe() }
        guard bytes.count == 32 else { throw SecureFileError(.invalidArgument, "a key has 32 bytes; the program's own source gave \(bytes.count)") }
        do { return try VolumeKeys(volumeKey: SecretKey(copying: bytes)) } catch {
            throw SecureFileError(error, "the key of the program's own source cannot be used")
        }
    }
}
