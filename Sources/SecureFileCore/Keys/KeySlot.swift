/// The volume key, wrapped with a key that a passphrase, a recovery key or a key file gives. FORMAT section 7.
public struct KeySlot: Hashable, Sendable {
    /// What opens a slot. The raw value is the name in `sfs.json`.
    public enum SlotType: String, Sendable, CaseIterable {
        case passphrase
        case recovery
        case keyFile = "keyfile"
    }

    /// How the wrapping key comes from the secret.
    enum Derivation: Hashable, Sendable {
        case argon2id(Argon2Parameters, salt: [UInt8])
        case hkdf(salt: [UInt8])
    }

    /// 8 random bytes.
    public let id: [UInt8]
    public let type: SlotType
    let derivation: Derivation
    /// 12 bytes.
    let nonce: [UInt8]
    /// 48 bytes: the wrapped key and its tag.
    let wrapped: [UInt8]

    static let saltLength = 16

    /// The identity as text, for messages and the command line: 16 hex digits.
    public var name: String { Hexadecimal.encode(id) }

    /// The cost of a guess; nil where no passphrase opens the slot.
    public var argon2: Argon2Parameters? {
        if case .argon2id(let parameters, _) = derivation { parameters } else { nil }
    }

    init(id: [UInt8], type: SlotType, derivation: Derivation, nonce: [UInt8], wrapped: [UInt8]) {
        self.id = id
        self.type = type
        self.derivation = derivation
        self.nonce = nonce
        self.wrapped = wrapped
    }

    /// A new slot, opened by `credential`.
    ///
    /// - Parameter argon2: used where `credential` is a passphrase.
    init(
        wrapping volumeKey: SecretKey, with credential: Credential, _ argon2: Argon2Parameters, volumeID: [UInt8]
    ) throws(SecureFileError) {
        try credential.validate()
        type = credential.slotType
        do {
            id = try RandomBytes.make(8)
            nonce = try RandomBytes.make(KeyWrap.nonceLength)
            let salt = try RandomBytes.make(Self.saltLength)
            derivation = type == .passphrase ? .argon2id(argon2, salt: salt) : .hkdf(salt: salt)
        } catch { throw SecureFileError(error, "a key slot cannot be made") }
        let kek = try Self.wrappingKey(of: credential, derivation)
        let associatedData = Self.associatedData(volumeID, id, type)
        do { wrapped = try KeyWrap.wrap(volumeKey, under: kek, nonce: nonce, associatedData: associatedData) } catch {
            throw SecureFileError(error, "a key slot cannot be made")
        }
    }

    /// The volume key; nil where `credential` does not open this slot.
    func unwrap(_ credential: Credential, volumeID: [UInt8]) throws(SecureFileError) -> SecretKey? {
        guard credential.slotType == type else { return nil }
        let kek = try Self.wrappingKey(of: credential, derivation)
        do {
            return try KeyWrap.unwrap(wrapped, under: kek, nonce: nonce, associatedData: Self.associatedData(volumeID, id, type))
        } catch {
            if error == .authentication { return nil }
            throw SecureFileError(error, "key slot \(name) cannot be opened")
        }
    }

    private static func associatedData(_ volumeID: [UInt8], _ id: [UInt8], _ type: SlotType) -> [UInt8] {
        Array("sfs1 slot".utf8) + [0] + volumeID + id + Array(type.rawValue.utf8)
    }

    private static func wrappingKey(of credential: Credential, _ derivation: Derivation) throws(SecureFileError) -> SecretKey {
        switch (credential, derivation) {
        case (.passphrase(let bytes), .argon2id(let parameters, let salt)): return try argon2(bytes, parameters, salt)
        case (.recoveryKey(let key), .hkdf(let salt)):
            var bytes = key.secret.exposedBytes()
            defer { bytes.wipe() }
            return try hkdf(bytes, salt, "sfs1 recovery")
        case (.keyFile(let bytes), .hkdf(let salt)): return try hkdf(bytes, salt, "sfs1 keyfile")
        default: throw SecureFileError(.damaged, "a key slot's type and its key derivation do not fit")
        }
    }

    private static func hkdf(_ input: [UInt8], _ salt: [UInt8], _ info: String) throws(SecureFileError) -> SecretKey {
        do { return try Hashing.hkdf(input, salt: salt, info: Array(info.utf8)) } catch {
            throw SecureFileError(error, "a key cannot be derived")
        }
    }

    private static func argon2(_ passphrase: [UInt8], _ parameters: Argon2Parameters, _ salt: [UInt8]) throws(SecureFileError) -> SecretKey
    {
        do { return try Argon2.hash(passphrase, salt: salt, parameters) } catch {
            switch error {
            case .limits: throw SecureFileError(.limitExceeded, "these Argon2 parameters are outside what the format allows")
            case .memory:
                throw SecureFileError(
                    .system, "not enough memory for the passphrase: Argon2 needs \(parameters.memoryKiB / 1024) MiB", cause: .noMemory)
            }
        }
    }
}
