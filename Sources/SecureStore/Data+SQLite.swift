import Foundation

extension Data: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .data }
    public var sqliteValue: SQLiteValue { .blob(Array(self)) }
    public init?(sqliteValue: SQLiteValue) {
        guard let bytes = [UInt8](sqliteValue: sqliteValue) else { return nil }
        self.init(bytes)
    }
}

extension Date: SQLiteDatatypeBridgeable {
    public static var storedType: StoredType { .date }
    public var sqliteValue: SQLiteValue { .real(timeIntervalSince1970) }
    public init?(sqliteValue: SQLiteValue) {
        guard let seconds = Double(sqliteValue: sqliteValue), seconds.isFinite else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }
}

extension SecureDatabaseResultSet {
    public func data(at column: Int) -> Data? { get(at: column) }
    public func data(named name: String) -> Data? { get(named: name) }
    public func date(at column: Int) -> Date? { get(at: column) }
    public func date(named name: String) -> Date? { get(named: name) }
}
