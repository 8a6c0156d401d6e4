/// A type whose values SQLite stores as they are: text, numbers, bytes.
///
/// `SecureStore` adds `Data` and `Date`.
public protocol SQLiteDatatypeBridgeable {
    /// What is stored for this value.
    var sqliteValue: SQLiteValue { get }
    /// The value that `sqliteValue` stands for; nil where it is of another type, or does not fit.
    init?(sqliteValue: SQLiteValue)
    /// How a key-value store names the type of such values.
    static var storedType: StoredType { get }
}

/// What kind of value a row of a key-value store holds. The raw value is stored.
public struct StoredType: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
    public static let text = StoredType(rawValue: 1)
    public static let integer = StoredType(rawValue: 2)
    public static let real = StoredType(rawValue: 3)
    public static let data = StoredType(rawValue: 4)
    public static let boolean = StoredType(rawValue: 5)
    /// Seconds since 1970, as a real number.
    public static let date = StoredType(rawValue: 6)
    /// The property list of a keyed archive.
    public static let archive = StoredType(rawValue: 7)
    /// The property list of a `Codable` value.
    public static let codable = StoredType(rawValue: 8)
}

extension String: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .text }
    public var sqliteValue: SQLiteValue { .text(self) }
    public init?(sqliteValue: SQLiteValue) {
        guard case .text(let text) = sqliteValue else { return nil }
        self = text
    }
}

extension Int64: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .integer }
    public var sqliteValue: SQLiteValue { .integer(self) }
    public init?(sqliteValue: SQLiteValue) {
        switch sqliteValue {
        case .integer(let number): self = number
        case .real(let number): self.init(exactly: number)
        default: return nil
        }
    }
}

extension Int: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .integer }
    public var sqliteValue: SQLiteValue { .integer(Int64(self)) }
    public init?(sqliteValue: SQLiteValue) {
        guard let number = Int64(sqliteValue: sqliteValue) else { return nil }
        self.init(exactly: number)
    }
}

extension Int32: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .integer }
    public var sqliteValue: SQLiteValue { .integer(Int64(self)) }
    public init?(sqliteValue: SQLiteValue) {
        guard let number = Int64(sqliteValue: sqliteValue) else { return nil }
        self.init(exactly: number)
    }
}

extension Double: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .real }
    public var sqliteValue: SQLiteValue { .real(self) }
    public init?(sqliteValue: SQLiteValue) {
        switch sqliteValue {
        case .real(let number): self = number
        case .integer(let number): self.init(exactly: number)
        case .null: self = .nan  // what SQLite makes of it
        default: return nil
        }
    }
}

extension Float: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .real }
    public var sqliteValue: SQLiteValue { .real(Double(self)) }
    public init?(sqliteValue: SQLiteValue) {
        guard let number = Double(sqliteValue: sqliteValue) else { return nil }
        self.init(number)
    }
}

extension Bool: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .boolean }
    public var sqliteValue: SQLiteValue { .integer(self ? 1 : 0) }
    public init?(sqliteValue: SQLiteValue) {
        guard case .integer(let number) = sqliteValue else { return nil }
        self = number != 0
    }
}

extension Array: SQLiteDatatypeBridgeable where Element == UInt8 {
    public static var storedType: StoredType { .data }
    public var sqliteValue: SQLiteValue { .blob(self) }
    public init?(sqliteValue: SQLiteValue) {
        switch sqliteValue {
        case .blob(let bytes): self = bytes
        case .text(let text): self = Array(text.utf8)
        default: return nil
        }
    }
}
