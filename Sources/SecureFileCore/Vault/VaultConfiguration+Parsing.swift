extension VaultConfiguration {
    private enum Refusal: Error {
        case notAVault
        case unsupported(String)
        case damaged(String)
    }

    /// The configuration in the content of `sfs.json`.
    ///
    /// - Parameter path: the file, for messages.
    /// - Throws: ``SecureFileError``, in this order: `.damaged` where it is no JSON object or passes the limits, `.notAVault` where it is
    ///   somebody else's, `.unsupportedVersion` for another format, `.damaged` where the checksum does not fit, `.unsupportedVersion` for a
    ///   feature or cipher that is not known, `.damaged` for anything else that does not follow the format.
    static func parse(_ text: [UInt8], _ kind: Kind = .vault, path: String) throws(SecureFileError) -> VaultConfiguration {
        do throws(Refusal) {
            return try parse(text, kind)
        } catch {
            switch error {
            case .notAVault: throw SecureFileError(.notAVault, "this is not the configuration of a \(kind.rawValue)", path: path)
            case .unsupported(let what):
                throw SecureFileError(
                    .unsupportedVersion, "it was made by another version of SecureFS (\(what)): update", path: path)
            case .damaged(let what):
                throw SecureFileError(.damaged, "the configuration is damaged (\(what)): restore it from a backup", path: path)
            }
        }
    }

    private static func parse(_ text: [UInt8], _ kind: Kind) throws(Refusal) -> VaultConfiguration {
        guard let members = StrictJSON(parsing: text)?.object else { throw .damaged("no JSON object") }
        guard members["magic"] == .string(kind.rawValue) else {
            // A flipped bit in the magic must not hide a vault: another magic on purpose has a checksum that fits.
            if members["volumeId"] != nil, members["slots"] != nil { try verifyChecksum(members) }
            throw .notAVault
        }
        guard let format = members["format"]?.integer else { throw .damaged("it names no format") }
        guard format == Self.format else { throw .unsupported("format \(format)") }
        try verifyChecksum(members)
        try verifyMembers(
            members,
            [
                "magic", "format", "features", "volumeId", "keyId", "cipher", "created", "slots", "mac", "checksum",
            ])
        guard let features = members["features"]?.array else { throw .damaged("features") }
        guard features.isEmpty else { throw .unsupported("it uses features that are not known here") }
        guard let cipherName = members["cipher"]?.string else { throw .damaged("cipher") }
        guard let cipher = CipherKind(name: cipherName) else { throw .unsupported("its cipher is not known here") }
        guard let created = members["created"]?.integer, created >= 0 else { throw .damaged("created") }
        guard let slots = members["slots"]?.array, (1...slotsMaximum).contains(slots.count) else { throw .damaged("slots") }
        return VaultConfiguration(
            kind, volumeID: try hex(members, "volumeId", 16), keyID: LittleEndian.load(try hex(members, "keyId", 8), at: 0, count: 8),
            cipher: cipher, created: created, slots: try parse(slots: slots), mac: try hex(members, "mac", 32))
    }

    private static func verifyChecksum(_ members: [String: StrictJSON]) throws(Refusal) {
        let checksum = try hex(members, "checksum", 32)
        var rest = members
        rest["checksum"] = nil
        let expected = try? Hashing.sha256(StrictJSON.object(rest).canonical)
        if expected != checksum { throw .damaged("its checksum does not fit") }
    }

    private static func verifyMembers(_ members: [String: StrictJSON], _ names: Set<String>) throws(Refusal) {
        if Set(members.keys) != names { throw .damaged("a member is missing or too many") }
    }

    private static func hex(_ members: [String: StrictJSON], _ name: String, _ count: Int) throws(Refusal) -> [UInt8] {
        guard let text = members[name]?.string, let bytes = Hexadecimal.decode(text, count: count) else { throw .damaged(name) }
        return bytes
    }

    // MARK: Slots

    private static func parse(slots: [StrictJSON]) throws(Refusal) -> [KeySlot] {
        var parsed: [KeySlot] = []
        for slot in slots {
            guard let members = slot.object else { throw .damaged("a key slot") }
            parsed.append(try parse(slot: members))
        }
        if Set(parsed.map(\.id)).count != parsed.count { throw .damaged("two key slots with one id") }
        return parsed
    }

    private static func parse(slot: [String: StrictJSON]) throws(Refusal) -> KeySlot {
        try verifyMembers(slot, ["id", "type", "kdf", "nonce", "wrapped"])
        guard let typeName = slot["type"]?.string, let kdf = slot["kdf"]?.object else { throw .damaged("a key slot") }
        guard let type = KeySlot.SlotType(rawValue: typeName) else { throw .damaged("a key slot's type") }
        let derivation = try parse(kdf: kdf, of: type)
        return KeySlot(
            id: try hex(slot, "id", 8), type: type, derivation: derivation, nonce: try hex(slot, "nonce", 12),
            wrapped: try hex(slot, "wrapped", 48))
    }

    private static func parse(kdf: [String: StrictJSON], of type: KeySlot.SlotType) throws(Refusal) -> KeySlot.Derivation {
        let salt = try hex(kdf, "salt", KeySlot.saltLength)
        switch (type, kdf["algorithm"]?.string) {
        case (.passphrase, "argon2id"):
            try verifyMembers(kdf, ["algorithm", "lanes", "memoryKiB", "passes", "salt"])
            guard let memory = kdf["memoryKiB"]?.integer, let passes = kdf["passes"]?.integer, let lanes = kdf["lanes"]?.integer else {
                throw .damaged("a key slot's parameters")
            }
            let parameters = Argon2Parameters(memoryKiB: Int(memory), passes: Int(passes), lanes: Int(lanes))
            guard parameters.isAllowed else { throw .damaged("a key slot's parameters are outside the limits") }
            return .argon2id(parameters, salt: salt)
        case (.recovery, "hkdf-sha256"), (.keyFile, "hkdf-sha256"):
            try verifyMembers(kdf, ["algorithm", "salt"])
            return .hkdf(salt: salt)
        default: throw .damaged("a key slot's derivation")
        }
    }
}

extension KeySlot {
    /// The slot as a member of `slots`.
    var json: StrictJSON {
        let kdf: [String: StrictJSON] =
            switch derivation {
            case .argon2id(let parameters, let salt):
                [
                    "algorithm": .string("argon2id"), "memoryKiB": .integer(Int64(parameters.memoryKiB)),
                    "passes": .integer(Int64(parameters.passes)), "lanes": .integer(Int64(parameters.lanes)),
                    "salt": .string(Hexadecimal.encode(salt)),
                ]
            case .hkdf(let salt): ["algorithm": .string("hkdf-sha256"), "salt": .string(Hexadecimal.encode(salt))]
            }
        return .object([
            "id": .string(Hexadecimal.encode(id)), "type": .string(type.rawValue), "kdf": .object(kdf),
            "nonce": .string(Hexadecimal.encode(nonce)), "wrapped": .string(Hexadecimal.encode(wrapped)),
        ])
    }
}
