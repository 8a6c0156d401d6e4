/// Lengths at which names change their form. FORMAT sections 5 and 6.
enum NameLimits {
    /// Bytes of the longest name.
    static let name = 255
    /// Bytes of the longest name whose encryption is itself a file name; longer ones have a companion.
    static let shortName = 175
    /// Bytes of the longest attribute name, and of the longest that is stored as itself, encrypted.
    static let attribute = 255
    static let shortAttribute = 164
    /// Bytes that SIV adds.
    static let sivOverhead = 16

    /// Whether `name` can name an entry: 1 byte or more, no `/`, no NUL, not `.` or `..`. Its length is another question.
    static func isWellFormed(_ name: [UInt8]) -> Bool {
        if name.isEmpty || name == [46] || name == [46, 46] { return false }
        return !name.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }
}

/// The 16 random bytes that name a directory, and that the names in it are bound to. FORMAT section 5.
public struct DirectoryID: Hashable, Sendable {
    public let low: UInt64
    public let high: UInt64

    /// - Precondition: 16 bytes.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 16)
        low = LittleEndian.load(bytes, at: 0, count: 8)
        high = LittleEndian.load(bytes, at: 8, count: 8)
    }

    public var bytes: [UInt8] { LittleEndian.bytes(low) + LittleEndian.bytes(high) }
}
