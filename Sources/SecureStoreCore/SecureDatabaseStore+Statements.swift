import SecureFileCore

/// A value for an argument of a statement; nil is NULL.
public typealias SQLiteArgument = (any SQLiteDatatypeBridgeable)?

extension SecureDatabaseStore {
    private static func values(_ arguments: [SQLiteArgument]) -> [SQLiteValue] { arguments.map { $0?.sqliteValue ?? .null } }

    // MARK: Queries

    /// Runs a query. Its rows are read as ``SecureDatabaseResultSet/next()`` is called.
    ///
    /// - Parameter arguments: One for each `?`, in order. Values belong here, not into the text.
    /// - Throws: `.closed`, `.backingStoreError`.
    public func executeQuery(_ sql: String, _ arguments: SQLiteArgument...) throws(SecureStorageError) -> SecureDatabaseResultSet {
        try executeQuery(sql, withArgumentsIn: arguments)
    }

    public func executeQuery(_ sql: String, withArgumentsIn arguments: [SQLiteArgument]) throws(SecureStorageError) -> SecureDatabaseResultSet
    {
        try query(sql) { (statement) throws(SecureStorageError) in try statement.bind(Self.values(arguments)) }
    }

    /// - Parameter arguments: By the names that `:name` in the text has.
    public func executeQuery(
        _ sql: String, withParameterDictionary arguments: [String: SQLiteArgument]
    ) throws(SecureStorageError) -> SecureDatabaseResultSet {
        try query(sql) { (statement) throws(SecureStorageError) in try statement.bind(arguments.mapValues { $0?.sqliteValue ?? .null }) }
    }

    private func query(
        _ sql: String, _ bind: (SQLiteStatement) throws(SecureStorageError) -> Void
    ) throws(SecureStorageError) -> SecureDatabaseResultSet {
        try lock.withLock { () throws(SecureStorageError) in
            let statement = try open().prepare(sql)
            try bind(statement)
            return SecureDatabaseResultSet(sql, statement, self)
        }
    }

    // MARK: Updates

    /// Runs a statement to its end.
    ///
    /// - Returns: How many rows it changed.
    /// - Throws: `.closed`, `.backingStoreError`.
    @discardableResult
    public func executeUpdate(_ sql: String, _ arguments: SQLiteArgument...) throws(SecureStorageError) -> Int {
        try executeUpdate(sql, withArgumentsIn: arguments)
    }

    @discardableResult
    public func executeUpdate(_ sql: String, withArgumentsIn arguments: [SQLiteArgument]) throws(SecureStorageError) -> Int {
        try withConnection { (connection) throws(SecureStorageError) in
            try connection.run(sql, Self.values(arguments))
            return connection.changeCount
        }
    }

    @discardableResult
    public func executeUpdate(_ sql: String, withParameterDictionary arguments: [String: SQLiteArgument]) throws(SecureStorageError) -> Int {
        try withConnection { (connection) throws(SecureStorageError) in
            let statement = try connection.prepare(sql)
            try statement.bind(arguments.mapValues { $0?.sqliteValue ?? .null })
            while try statement.step() {}
            return connection.changeCount
        }
    }

    /// The row id of the last row that was inserted.
    public var lastInsertedRowID: Int64 { lock.withLock { connection?.lastInsertedRow ?? 0 } }

    func withConnection<R>(_ body: (SQLiteConnection) throws(SecureStorageError) -> R) throws(SecureStorageError) -> R {
        try lock.withLock { () throws(SecureStorageError) in try body(try open()) }
    }
}
