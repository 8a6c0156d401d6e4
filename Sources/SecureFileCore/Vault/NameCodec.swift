/// A name of an entry as it stands in the backing directory. Made by ``VaultDirectory/storedName(_:)``; good in that directory only.
public struct StoredName: Hashable, Sendable {
    /// The entry's name in the backing directory.
    public let entry: RawPath
    /// The ciphertext that the companion file of a long name holds; nil for a short one.
    public let companion: [UInt8]?

    package init(entry: RawPath, companion: [UInt8]?) {
        self.entry = entry
        self.companion = companion
    }

    /// The companion file's name.
    var companionName: RawPath? { companion == nil ? nil : RawPath(Array(entry.bytes) + ReservedNames.companionSuffix) }

    /// Ciphertext, for messages.
    var path: String { entry.description }
}

/// The names of one directory, encrypted and back. FORMAT section 5.
struct NameCodec: Sendable {
    private let cipher: SIVCipher
    private let prefix: SIVCipher.Prefix

    init(_ cipher: SIVCipher, _ directory: DirectoryID) throws(CryptoFailure) {
        self.cipher = cipher
        prefix = try cipher.prefix([directory.bytes])
    }

    /// The stored form of a name of 1 to 255 bytes that is well formed.
    func encode(_ name: [UInt8]) throws(CryptoFailure) -> StoredName {
        let sealed = try cipher.seal(name, prefix)
        if name.count <= NameLimits.shortName { return StoredName(entry: RawPath(Base64URL.encode(sealed)), companion: nil) }
        return StoredName(entry: try Self.longEntry(sealed), companion: sealed)
    }

    private static func longEntry(_ sealed: [UInt8]) throws(CryptoFailure) -> RawPath {
        RawPath(Base64URL.encode(try Hashing.sha256(sealed), after: ReservedNames.longPrefix))
    }

    /// The name that the short entry `entry` stands for; nil where it is foreign.
    func decode(short entry: [UInt8]) throws(CryptoFailure) -> [UInt8]? {
        guard let sealed = Base64URL.decode(entry), let name = try open(sealed), name.count <= NameLimits.shortName else { return nil }
        return name
    }

    /// The name that the long entry `entry` stands for, its companion holding `sealed`; nil where it is foreign.
    func decode(long entry: [UInt8], companion sealed: [UInt8]) throws(CryptoFailure) -> [UInt8]? {
        let expected = try Self.longEntry(sealed)
        guard expected.bytes.elementsEqual(entry), let name = try open(sealed), name.count > NameLimits.shortName
        else { return nil }  // a short name in the long form would be a second entry of one name
        return name
    }

    private func open(_ sealed: [UInt8]) throws(CryptoFailure) -> [UInt8]? {
        do {
            let name = try cipher.open(sealed, prefix)
            return NameLimits.isWellFormed(name) && name.count <= NameLimits.name ? name : nil
        } catch {
            if error == .authentication { return nil }
            throw error
        }
    }
}
