/// The second way into a vault, made with it and shown once: 20 random bytes. FORMAT section 7.
public final class RecoveryKey: Sendable {
    let secret: SecretKey

    /// A new random one.
    public init() throws(CryptoFailure) { secret = try RandomBytes.makeKey(RecoveryKeyText.keyCount) }

    /// The key of a text typed by a person: case, spaces and `-` do not count; `O` is read as `0`, `I` and `L` as `1`.
    ///
    /// - Throws: ``SecureFileError``: `.invalidArgument` with words that say what is wrong with it: a mistyped character is found by the
    ///   check characters (one in a million goes unnoticed, and then fails to open the vault).
    public init(_ text: String) throws(SecureFileError) {
        guard let decoded = RecoveryKeyText.decode(text) else {
            throw SecureFileError(
                .invalidArgument, "a recovery key has nine groups of four letters and digits (no U); this text has another form")
        }
        var key = decoded.key
        defer { key.wipe() }
        let secret = SecretKey(copying: key)
        let expected: UInt32
        do { expected = try Self.check(secret) } catch { throw SecureFileError(error, "the recovery key cannot be checked") }
        if expected != decoded.check {
            throw SecureFileError(.invalidArgument, "the recovery key is mistyped: its check characters do not fit")
        }
        self.secret = secret
    }

    init(secret: SecretKey) {
        precondition(secret.count == RecoveryKeyText.keyCount)
        self.secret = secret
    }

    /// Nine groups of four characters joined by `-`: to be shown to the owner once. It is as good as the passphrase.
    public func exposedText() throws(CryptoFailure) -> String {
        var key = secret.exposedBytes()
        defer { key.wipe() }
        return RecoveryKeyText.encode(key: key, check: try Self.check(secret))
    }

    /// The first 20 bits of SHA-256 of `"sfs1 recovery"` and the key.
    private static func check(_ secret: SecretKey) throws(CryptoFailure) -> UInt32 {
        var message = Array("sfs1 recovery".utf8) + secret.exposedBytes()
        defer { message.wipe() }
        let digest = try Hashing.sha256(message)
        return UInt32(digest[0]) << 12 | UInt32(digest[1]) << 4 | UInt32(digest[2]) >> 4
    }
}
