/// What `sfs.json` says: everything needed to get from a passphrase to the volume key. FORMAT section 7.
///
/// A value of this type has passed its checksum; only ``VaultConfiguration/unlock(_:path:)`` tells whether its mac fits the key.
public struct VaultConfiguration: Sendable, Equatable {
    /// Whose configuration it is: one of a vault is not taken for one of a store (FORMAT section 15), nor the other way round.
    enum Kind: String, Sendable {
        case vault = "SecureFS vault"
        case store = "SecureFS store"
    }
    let kind: Kind
    /// Names the vault: 16 random bytes.
    public let volumeID: [UInt8]
    /// Names the volume key; not secret.
    public let keyID: UInt64
    /// What newly written files are sealed with.
    public let cipher: CipherKind
    /// Seconds since 1970.
    public let created: Int64
    /// 1 to 64.
    public let slots: [KeySlot]
    /// HMAC of all other members under the config key.
    let mac: [UInt8]

    /// The format this code reads and writes.
    public static let format: Int64 = 1
    static let slotsMaximum = 64

    /// The content of `sfs.json`, canonical and with its checksum.
    func encoded() throws(CryptoFailure) -> [UInt8] {
        var members = authenticatedMembers
        members["mac"] = .string(Hexadecimal.encode(mac))
        let checksum = try Hashing.sha256(StrictJSON.object(members).canonical)
        members["checksum"] = .string(Hexadecimal.encode(checksum))
        return StrictJSON.object(members).canonical
    }

    /// A configuration with its mac.
    init(
        _ kind: Kind = .vault, volumeID: [UInt8], cipher: CipherKind, created: Int64, slots: [KeySlot], _ keys: VolumeKeys
    ) throws(CryptoFailure) {
        self.init(kind, volumeID: volumeID, keyID: keys.keyID, cipher: cipher, created: created, slots: slots, mac: [])
        self = self.with(mac: try Hashing.hmac(keys.configKey, authenticatedText))
    }

    init(_ kind: Kind = .vault, volumeID: [UInt8], keyID: UInt64, cipher: CipherKind, created: Int64, slots: [KeySlot], mac: [UInt8]) {
        self.kind = kind
        self.volumeID = volumeID
        self.keyID = keyID
        self.cipher = cipher
        self.created = created
        self.slots = slots
        self.mac = mac
    }

    /// The same with other slots and the mac that fits them.
    func with(slots: [KeySlot], _ keys: VolumeKeys) throws(CryptoFailure) -> VaultConfiguration {
        try VaultConfiguration(kind, volumeID: volumeID, cipher: cipher, created: created, slots: slots, keys)
    }

    private func with(mac: [UInt8]) -> VaultConfiguration {
        VaultConfiguration(kind, volumeID: volumeID, keyID: keyID, cipher: cipher, created: created, slots: slots, mac: mac)
    }

    /// `C` of FORMAT section 7: what the mac is computed over.
    var authenticatedText: [UInt8] { StrictJSON.object(authenticatedMembers).canonical }

    private var authenticatedMembers: [String: StrictJSON] {
        [
            "magic": .string(kind.rawValue),
            "format": .integer(Self.format),
            "features": .array([]),
            "volumeId": .string(Hexadecimal.encode(volumeID)),
            "keyId": .string(Hexadecimal.encode(LittleEndian.bytes(keyID))),
            "cipher": .string(cipher.name),
            "created": .integer(created),
            "slots": .array(slots.map(\.json)),
        ]
    }

    // MARK: Unlocking

    /// The keys that `credential` opens, and the slot it opened.
    ///
    /// Each passphrase slot costs one Argon2 computation.
    /// - Throws: ``SecureFileError``: `.wrongKey` when no slot opens, `.tampered` when one does and the rest does not belong to its key,
    ///   `.invalidArgument` where no vault can have such a credential.
    func unlock(_ credential: Credential, path: String) throws(SecureFileError) -> (keys: VolumeKeys, slot: KeySlot) {
        try credential.validate()
        for slot in slots where slot.type == credential.slotType {
            guard let volumeKey = try slot.unwrap(credential, volumeID: volumeID) else { continue }
            let keys: VolumeKeys
            let isOurs: Bool
            do {
                keys = try VolumeKeys(volumeKey: volumeKey)
                isOurs = try belongs(to: keys)
            } catch { throw SecureFileError(error, "the keys cannot be derived", path: path) }
            guard isOurs else { throw Self.tampering(path) }
            return (keys, slot)
        }
        throw SecureFileError(.wrongKey, Self.refusal(credential.slotType, slots), path: path)
    }

    private static func tampering(_ path: String) -> SecureFileError {
        SecureFileError(.tampered, "the key fits, but the configuration was changed without it: restore sfs.json from a backup", path: path)
    }

    /// - Throws: ``SecureFileError``: `.wrongKey` where `keys` are another vault's, `.tampered` where the configuration was changed without them.
    func verify(_ keys: VolumeKeys, path: String) throws(SecureFileError) {
        guard keys.keyID == keyID else { throw SecureFileError(.wrongKey, "this is the key of another vault", path: path) }
        let isOurs: Bool
        do { isOurs = try belongs(to: keys) } catch { throw SecureFileError(error, "the configuration cannot be checked", path: path) }
        if !isOurs { throw Self.tampering(path) }
    }

    private static func refusal(_ type: KeySlot.SlotType, _ slots: [KeySlot]) -> String {
        let isThere = slots.contains { $0.type == type }
        return switch type {
        case .passphrase: isThere ? "wrong passphrase" : "this vault has no passphrase: use a key file or the recovery key"
        case .recovery: isThere ? "this is not the vault's recovery key" : "this vault has no recovery key"
        case .keyFile: isThere ? "this is not the vault's key file" : "this vault has no key file"
        }
    }

    /// Whether key id and mac fit `keys`.
    func belongs(to keys: VolumeKeys) throws(CryptoFailure) -> Bool {
        let expected = try Hashing.hmac(keys.configKey, authenticatedText)
        return keyID == keys.keyID && expected.equalsInConstantTime(mac)
    }
}
