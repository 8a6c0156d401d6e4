import CSQLite
import SecureFileCore

/// A connection of SQLite to the database of a store. Used by one thread at a time: ``SecureDatabaseStore`` sees to it.
@safe
package final class SQLiteConnection: @unchecked Sendable {
    /// Nil for a plaintext database.
    private let fileSystem: StoreFileSystem?
    private var database: OpaquePointer?
    /// Those that are kept, by their text.
    private var statements: [String: SQLiteStatement] = [:]
    /// All there are. (SQLite's own list also has those of virtual tables, which are not ours to end.)
    private var live: [ObjectIdentifier: WeakStatement] = [:]
    private struct WeakStatement { weak let statement: SQLiteStatement? }
    /// Why the authorizer refused what is being prepared.
    private var refusal: String?

    var isOpen: Bool { unsafe database != nil }

    /// - Throws: `.openFailed`.
    init(_ fileSystem: StoreFileSystem, isWritable: Bool) throws(SecureStorageError) {
        self.fileSystem = fileSystem
        try start(StoreFileSystem.databaseName, isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, fileSystem.name)
        unsafe setAuthorizer()
    }

    /// A plaintext database: to take over from, to give out to, or to compare with.
    package init(plaintextDatabaseAt path: String, isWritable: Bool, creating: Bool = false) throws(SecureStorageError) {
        fileSystem = nil
        // As a path in the working folder, so that no name is taken for a URI or for a database in memory.
        let path = path.hasPrefix("/") ? path : "./" + path
        let flags = isWritable ? SQLITE_OPEN_READWRITE | (creating ? SQLITE_OPEN_CREATE : 0) : SQLITE_OPEN_READONLY
        try start(path, flags, nil)
    }

    private func start(_ name: String, _ flags: Int32, _ vfs: String?) throws(SecureStorageError) {
        let result = unsafe sqlite3_open_v2(name, &database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, vfs)
        guard result == SQLITE_OK, unsafe database != nil else {
            let error = failure(ResultCode(rawValue: result))
            unsafe sqlite3_close_v2(database)
            unsafe database = nil
            throw SecureStorageError.openFailed(code: error.code, message: error.message)
        }
        unsafe sqlite3_extended_result_codes(database, 1)
        unsafe sqlite3_busy_handler(database, waitForOthers, nil)
        unsafe CSQLite_configure(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
        unsafe CSQLite_configure(database, SQLITE_DBCONFIG_DEFENSIVE, 1)
        unsafe CSQLite_configure(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    }

    deinit { close() }

    /// Ends all statements and the connection. A second call does nothing.
    package func close() {
        guard unsafe database != nil else { return }
        statements.removeAll()
        for held in live.values { held.statement?.invalidate() }
        live.removeAll()
        let open = unsafe database
        unsafe database = nil
        unsafe sqlite3_close_v2(open)
    }

    // MARK: Statements

    /// A statement of its own.
    func prepare(_ sql: String) throws(SecureStorageError) -> SQLiteStatement {
        let (statement, rest) = try prepareFirst(sql)
        guard let statement else { throw .backingStoreError(code: Int(SQLITE_MISUSE), message: "there is no SQL statement") }
        guard rest.utf8.allSatisfy({ " \t\r\n;".utf8.contains($0) }) else {
            throw .backingStoreError(code: Int(SQLITE_MISUSE), message: "more than one SQL statement")
        }
        return statement
    }

    /// The first statement of `sql`, nil where that is empty or a comment, and what follows.
    private func prepareFirst(_ sql: String) throws(SecureStorageError) -> (SQLiteStatement?, rest: String) {
        guard unsafe database != nil else { throw .closed }
        refusal = nil
        _ = fileSystem?.takeFailure()
        var statement: OpaquePointer?
        var used = 0
        let text = Array(sql.utf8) + [0]
        guard text.count <= 1 << 24 else { throw .backingStoreError(code: Int(SQLITE_TOOBIG), message: "the SQL text is too long") }
        let result = unsafe text.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var end: UnsafePointer<CChar>?
            let result = unsafe sqlite3_prepare_v2(database, start, Int32(text.count), &statement, &end)
            if let start = unsafe start, let end = unsafe end { used = unsafe end - start }
            return result
        }
        if result != SQLITE_OK {
            let error = failure(ResultCode(rawValue: result))
            throw .backingStoreError(code: error.code, message: error.message)
        }
        let rest = String(decoding: text.dropLast().dropFirst(used), as: UTF8.self)
        guard let statement = unsafe statement else { return (nil, rest) }
        let prepared = unsafe SQLiteStatement(statement, self)
        live[ObjectIdentifier(prepared)] = WeakStatement(statement: prepared)
        return (prepared, rest)
    }

    /// A statement has ended.
    func forget(_ statement: ObjectIdentifier) { live[statement] = nil }

    /// A statement that is kept for the next time; whoever uses it is done with it before the same text is asked for again.
    func cached(_ sql: String) throws(SecureStorageError) -> SQLiteStatement {
        if let known = statements[sql] { return known }
        let statement = try prepare(sql)
        if statements.count >= 64 { statements.removeAll() }
        statements[sql] = statement
        return statement
    }

    /// Runs one statement to its end.
    package func run(_ sql: String, _ arguments: [SQLiteValue] = []) throws(SecureStorageError) {
        let statement = try cached(sql)
        defer { statement.reset() }
        try statement.bind(arguments)
        while try statement.step() {}
    }

    /// The first row, if there is one.
    package func first(_ sql: String, _ arguments: [SQLiteValue] = []) throws(SecureStorageError) -> [SQLiteValue]? {
        let statement = try cached(sql)
        defer { statement.reset() }
        try statement.bind(arguments)
        return try statement.step() ? statement.row : nil
    }

    /// All rows.
    package func all(_ sql: String, _ arguments: [SQLiteValue] = []) throws(SecureStorageError) -> [[SQLiteValue]] {
        let statement = try cached(sql)
        defer { statement.reset() }
        try statement.bind(arguments)
        var rows: [[SQLiteValue]] = []
        while try statement.step() { rows.append(statement.row) }
        return rows
    }

    /// Rows changed by the last statement that changes any.
    var changeCount: Int { unsafe database == nil ? 0 : unsafe Int(sqlite3_changes64(database)) }
    var lastInsertedRow: Int64 { unsafe database == nil ? 0 : unsafe sqlite3_last_insert_rowid(database) }
    var isInTransaction: Bool { unsafe database != nil && sqlite3_get_autocommit(database) == 0 }

    // MARK: Failures

    func failure(_ code: ResultCode) -> (code: Int, message: String) {
        var message = unsafe database.flatMap { unsafe sqlite3_errmsg($0) }.map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
        if let refusal { message = refusal }
        if let cause = fileSystem?.takeFailure() { message += ": \(cause.description)" }
        // Never a code that stands for success.
        let raw = [SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code.rawValue) ? SQLITE_ERROR : code.rawValue
        return (Int(raw), message)
    }

    // MARK: Copies

    /// Puts the whole content of `source` in the place of this database's.
    func copyAll(from source: SQLiteConnection) throws(SecureStorageError) {
        guard let backup = unsafe sqlite3_backup_init(database, "main", source.database, "main") else { throw error(SQLITE_ERROR) }
        let result = unsafe sqlite3_backup_step(backup, -1)
        let end = unsafe sqlite3_backup_finish(backup)
        if result != SQLITE_DONE { throw error(result) }
        if end != SQLITE_OK { throw error(end) }
    }

    func error(_ code: Int32) -> SecureStorageError {
        let failed = failure(ResultCode(rawValue: code))
        return .backingStoreError(code: failed.code, message: failed.message)
    }

    // MARK: What SQL may do

    @unsafe
    private func setAuthorizer() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sqlite3_set_authorizer(
            database,
            { context, action, first, second, _, _ in
                guard let context = unsafe context else { return SQLITE_DENY }
                let connection = unsafe Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue()
                let words = unsafe [first, second].map { word in unsafe word.map { unsafe String(cString: $0) } }
                return connection.authorize(action, words[0], words[1])
            }, context)
    }

    private func authorize(_ action: Int32, _ first: String?, _ second: String?) -> Int32 {
        switch action {
        case SQLITE_ATTACH:
            // VACUUM attaches a temporary database without a name.
            if first == "" { return SQLITE_OK }
            refusal = "a secure store can attach no other database"
        case SQLITE_PRAGMA:
            guard let why = Self.refusalOfPragma(first?.lowercased(), second?.lowercased()) else { return SQLITE_OK }
            refusal = why
        default: return SQLITE_OK
        }
        return SQLITE_DENY
    }

    private static func refusalOfPragma(_ name: String?, _ value: String?) -> String? {
        switch (name, value) {
        case ("journal_mode", "wal"):
            "a secure store has no write-ahead log (it would need memory shared between processes): use the rollback journal"
        case ("temp_store_directory", .some), ("data_store_directory", .some): "the temporary files of a secure store lie beside it"
        default: nil
        }
    }
}

/// Called by SQLite while another connection has the lock: waits a millisecond or so, for 30 s altogether. SQLite's own timeout looks ten times
/// a second, and somebody who writes all the time keeps it out for ever.
private func waitForOthers(_: UnsafeMutableRawPointer?, _ attempts: Int32) -> Int32 {
    if attempts >= 30_000 { return 0 }
    CurrentProcess.nap(microseconds: UInt32.random(in: 500...1500))
    return 1
}
