import SecureFileCore

/// The rows of a query.
public protocol SecureDatabaseResultSetProtocol: AnyObject {
    /// The text of the query.
    var query: String { get }
    /// Goes on to the next row, the first one at first; false at the end.
    func next() throws(SecureStorageError) -> Bool
    /// Ends the query. Later calls of ``next()`` throw `.closed`.
    func close()
}

/// The rows of a query, one at a time: ``next()`` first, then values. A value that is NULL, or of a type that cannot be what is asked for, is nil.
public final class SecureDatabaseResultSet: SecureDatabaseResultSetProtocol, @unchecked Sendable {
    public let query: String
    private let statement: SQLiteStatement
    private let store: SecureDatabaseStore
    private var places: [String: Int]?

    init(_ query: String, _ statement: SQLiteStatement, _ store: SecureDatabaseStore) {
        self.query = query
        self.statement = statement
        self.store = store
    }

    deinit { close() }

    public func next() throws(SecureStorageError) -> Bool {
        try store.lock.withLock { () throws(SecureStorageError) in try statement.step() }
    }

    public func close() { store.lock.withLock { statement.invalidate() } }

    // MARK: Columns

    public var columnCount: Int { store.lock.withLock { statement.columnCount } }
    public var columnNames: [String] { store.lock.withLock { statement.columnNames } }

    /// The place of a column, from 0; nil where there is none of that name. Upper and lower case are the same.
    public func columnIndex(forName name: String) -> Int? {
        store.lock.withLock {
            if places == nil {
                places = Dictionary(statement.columnNames.enumerated().map { ($1.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
            }
            return places?[name.lowercased()]
        }
    }

    /// The value as SQLite has it.
    public func value(at column: Int) -> SQLiteValue { store.lock.withLock { statement.value(at: column) } }
    public func value(named name: String) -> SQLiteValue { columnIndex(forName: name).map { value(at: $0) } ?? .null }

    /// The value as a `T`.
    public func get<T: SQLiteDatatypeBridgeable>(_ type: T.Type = T.self, at column: Int) -> T? {
        let value = value(at: column)
        return value == .null ? nil : T(sqliteValue: value)
    }

    public func get<T: SQLiteDatatypeBridgeable>(_ type: T.Type = T.self, named name: String) -> T? {
        columnIndex(forName: name).flatMap { get(type, at: $0) }
    }

    public func isNull(at column: Int) -> Bool { value(at: column) == .null }
    public func string(at column: Int) -> String? { get(at: column) }
    public func string(named name: String) -> String? { get(named: name) }
    public func int(at column: Int) -> Int? { get(at: column) }
    public func int(named name: String) -> Int? { get(named: name) }
    public func int64(at column: Int) -> Int64? { get(at: column) }
    public func int64(named name: String) -> Int64? { get(named: name) }
    public func double(at column: Int) -> Double? { get(at: column) }
    public func double(named name: String) -> Double? { get(named: name) }
    public func bool(at column: Int) -> Bool? { get(at: column) }
    public func bool(named name: String) -> Bool? { get(named: name) }
    public func bytes(at column: Int) -> [UInt8]? { get(at: column) }
    public func bytes(named name: String) -> [UInt8]? { get(named: name) }
}
