import CSQLite

/// A prepared statement. It belongs to its connection and is of no use when that is closed.
@safe
final class SQLiteStatement {
    private let connection: SQLiteConnection
    private var statement: OpaquePointer?

    /// Takes over `statement`.
    @unsafe
    init(_ statement: OpaquePointer, _ connection: SQLiteConnection) {
        unsafe self.statement = statement
        self.connection = connection
    }

    deinit { finalize() }

    /// Ends the statement. Later calls throw `.closed`.
    func invalidate() { finalize() }

    private func finalize() {
        guard let ended = unsafe statement else { return }
        unsafe statement = nil
        unsafe sqlite3_finalize(ended)
        connection.forget(ObjectIdentifier(self))
    }

    private func live() throws(SecureStorageError) -> OpaquePointer {
        guard connection.isOpen, let statement = unsafe statement else { throw .closed }
        return unsafe statement
    }

    // MARK: Arguments

    /// Gives all arguments their values, in order.
    func bind(_ values: [SQLiteValue]) throws(SecureStorageError) {
        let statement = try unsafe live()
        let wanted = unsafe Int(sqlite3_bind_parameter_count(statement))
        guard wanted == values.count else {
            throw .backingStoreError(code: Int(SQLITE_RANGE), message: "the statement has \(wanted) arguments; \(values.count) were given")
        }
        for (place, value) in values.enumerated() {
            let result = unsafe bind(value, Int32(place + 1), statement)
            if result != SQLITE_OK { throw connection.error(result) }
        }
    }

    /// The arguments by their names, without the `:`, `@` or `$` before them.
    func bind(_ values: [String: SQLiteValue]) throws(SecureStorageError) {
        let statement = try unsafe live()
        let wanted = unsafe sqlite3_bind_parameter_count(statement)
        for place in 0..<wanted {
            let name = unsafe sqlite3_bind_parameter_name(statement, place + 1).map { unsafe String(cString: $0) } ?? ""
            guard let value = values[String(name.dropFirst())] else {
                throw .backingStoreError(code: Int(SQLITE_RANGE), message: "no value was given for the argument \(name)")
            }
            let result = unsafe bind(value, place + 1, statement)
            if result != SQLITE_OK { throw connection.error(result) }
        }
    }

    @unsafe
    private func bind(_ value: SQLiteValue, _ place: Int32, _ statement: OpaquePointer) -> Int32 {
        switch value {
        case .null: return unsafe sqlite3_bind_null(statement, place)
        case .integer(let number): return unsafe sqlite3_bind_int64(statement, place, number)
        case .real(let number): return unsafe sqlite3_bind_double(statement, place, number)
        case .text(let text):
            var text = text
            return text.withUTF8 { bytes in
                // An empty text has no address, and NULL would be bound for it.
                guard let start = bytes.baseAddress else { return unsafe CSQLite_bind_text(statement, place, "", 0) }
                return unsafe CSQLite_bind_text(statement, place, UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), UInt64(bytes.count))
            }
        case .blob(let bytes):
            return unsafe bytes.withUnsafeBytes { unsafe CSQLite_bind_blob(statement, place, $0.baseAddress, UInt64($0.count)) }
        }
    }

    // MARK: Rows

    /// Goes on to the next row; false at the end.
    func step() throws(SecureStorageError) -> Bool {
        let result = try unsafe sqlite3_step(live())
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.error(result)
        }
    }

    /// Back to before the first row, arguments cleared: no value stays in memory.
    func reset() {
        guard let statement = try? unsafe live() else { return }
        unsafe sqlite3_reset(statement)
        unsafe sqlite3_clear_bindings(statement)
    }

    var columnCount: Int { unsafe (try? live()).map { unsafe Int(sqlite3_column_count($0)) } ?? 0 }

    /// The names of the columns, in order.
    var columnNames: [String] {
        guard let statement = try? unsafe live() else { return [] }
        let count = unsafe sqlite3_column_count(statement)
        return (0..<count).map { place in
            unsafe sqlite3_column_name(statement, place).map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// The values of the present row.
    var row: [SQLiteValue] { (0..<columnCount).map { value(at: $0) } }

    /// The value of a column of the present row; null where there is none.
    func value(at column: Int) -> SQLiteValue {
        guard let statement = try? unsafe live(), let place = Int32(exactly: column), place >= 0 else { return .null }
        if unsafe place >= sqlite3_data_count(statement) { return .null }
        switch unsafe sqlite3_column_type(statement, place) {
        case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(statement, place))
        case SQLITE_FLOAT: return unsafe .real(sqlite3_column_double(statement, place))
        case SQLITE_TEXT:
            let text = unsafe sqlite3_column_text(statement, place)
            let count = unsafe Int(sqlite3_column_bytes(statement, place))
            return unsafe .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let bytes = unsafe sqlite3_column_blob(statement, place)
            let count = unsafe Int(sqlite3_column_bytes(statement, place))
            return unsafe .blob(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
        default: return .null
        }
    }
}
