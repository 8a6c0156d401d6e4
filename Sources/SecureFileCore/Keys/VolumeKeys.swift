/// A vault's volume key and all that is derived from it, once. FORMAT section 4.
public final class VolumeKeys: Sendable {
    public let volumeKey: SecretKey
    public let contentKey: SecretKey
    /// 64 bytes each: AES-256-SIV.
    public let nameKey, symlinkKey, xattrKey: SecretKey
    public let directoryKey, configKey, sessionKey: SecretKey
    /// Names the volume key; not secret. The little-endian value of its 8 bytes.
    public let keyID: UInt64

    /// - Parameter volumeKey: 32 bytes.
    public init(volumeKey: SecretKey) throws(CryptoFailure) {
        precondition(volumeKey.count == 32)
        self.volumeKey = volumeKey
        contentKey = try Hashing.expand(volumeKey, "sfs1 content", count: 32)
        nameKey = try Hashing.expand(volumeKey, "sfs1 names", count: 64)
        symlinkKey = try Hashing.expand(volumeKey, "sfs1 symlinks", count: 64)
        xattrKey = try Hashing.expand(volumeKey, "sfs1 xattrs", count: 64)
        directoryKey = try Hashing.expand(volumeKey, "sfs1 directory", count: 32)
        configKey = try Hashing.expand(volumeKey, "sfs1 config", count: 32)
        sessionKey = try Hashing.expand(volumeKey, "sfs1 session", count: 32)
        let id = try Hashing.expand(volumeKey, "sfs1 key id", count: 8)
        keyID = LittleEndian.load(id.exposedBytes(), at: 0, count: 8)
    }
}
