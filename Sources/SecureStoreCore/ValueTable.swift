import SecureFileCore

/// One key-value store or cache in a database: a table of its own, made when it is first used. All of it can be reached without knowing the types of
/// the values, by the command line and the mount too.
package struct ValueTable: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case keyValue = "sfs_kv_"
        case cache = "sfs_cache_"
    }

    package let store: SecureDatabaseStore
    package let kind: Kind
    package let name: String
    private let table: String

    package init(_ store: SecureDatabaseStore, _ kind: Kind, _ name: String) {
        self.store = store
        self.kind = kind
        self.name = name
        table = SQLName.quoted(kind.rawValue + name)
    }

    /// What a row holds.
    package struct Row: Sendable, Equatable {
        package var type: StoredType
        package var value: SQLiteValue
        package init(_ type: StoredType, _ value: SQLiteValue) {
            self.type = type
            self.value = value
        }

        /// The value as the content of a file: text as UTF-8, bytes as they are, numbers in digits.
        package var content: [UInt8] {
            switch value {
            case .null: []
            case .integer(let number): Array("\(number)".utf8)
            case .real(let number): Array("\(number)".utf8)
            case .text(let text): Array(text.utf8)
            case .blob(let bytes): bytes
            }
        }

        /// The row for a file's content: text where it is UTF-8 without NUL, bytes where not.
        package init(content: [UInt8]) {
            if !content.contains(0), let text = String(validating: content, as: UTF8.self) {
                self.init(.text, .text(text))
            } else {
                self.init(.data, .blob(content))
            }
        }
    }

    /// All stores and caches of a database.
    package static func all(in store: SecureDatabaseStore) throws(SecureStorageError) -> [ValueTable] {
        try store.withConnection { (connection) throws(SecureStorageError) in
            var found: [ValueTable] = []
            for row in try connection.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
                guard case .text(let name)? = row.first else { continue }
                for kind in Kind.allCases where name.hasPrefix(kind.rawValue) {
                    found.append(ValueTable(store, kind, String(name.dropFirst(kind.rawValue.count))))
                }
            }
            return found
        }
    }

    // MARK: The table

    /// Makes the table, if it is not there. Milliseconds since 1970 are kept of each change.
    package func create() throws(SecureStorageError) {
        let more = kind == .cache ? ", cost REAL NOT NULL DEFAULT 0, used INTEGER NOT NULL DEFAULT 0, expires INTEGER" : ""
        try store.withConnection { (connection) throws(SecureStorageError) in
            let known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
            if try connection.first(known, [.text(kind.rawValue + name)]) != nil { return }
            try connection.run(
                "CREATE TABLE IF NOT EXISTS \(table)(key TEXT PRIMARY KEY NOT NULL, type INTEGER NOT NULL, value, modified INTEGER NOT NULL\(more))")
        }
    }

    package func drop() throws(SecureStorageError) { _ = try run("DROP TABLE IF EXISTS \(table)") }

    package func exists() throws(SecureStorageError) -> Bool {
        try first("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", .text(kind.rawValue + name)) != nil
    }

    // MARK: Rows

    package func get(_ key: String) throws(SecureStorageError) -> Row? {
        guard let row = try first("SELECT type, value FROM \(table) WHERE key = ?", .text(key)), case .integer(let type) = row[0] else { return nil }
        return Row(StoredType(rawValue: type), row[1])
    }

    package func put(_ key: String, _ row: Row) throws(SecureStorageError) {
        _ = try run(
            "INSERT INTO \(table)(key, type, value, modified) VALUES(?, ?, ?, ?) ON CONFLICT(key) DO UPDATE SET "
                + "type = excluded.type, value = excluded.value, modified = excluded.modified",
            .text(key), .integer(row.type.rawValue), row.value, .integer(Self.now))
    }

    /// - Returns: Whether there was one.
    package func remove(_ key: String) throws(SecureStorageError) -> Bool { try run("DELETE FROM \(table) WHERE key = ?", .text(key)) > 0 }

    package func removeAll() throws(SecureStorageError) { _ = try run("DELETE FROM \(table)") }

    /// Gives a value another key, in the place of one that has it.
    ///
    /// - Returns: Whether there was one.
    package func rename(_ key: String, to newKey: String) throws(SecureStorageError) -> Bool {
        if key == newKey { return try get(key) != nil }
        return try run("UPDATE OR REPLACE \(table) SET key = ? WHERE key = ?", .text(newKey), .text(key)) > 0
    }

    package func keys() throws(SecureStorageError) -> [String] {
        try store.withConnection { (connection) throws(SecureStorageError) in
            try connection.all("SELECT key FROM \(table) ORDER BY key").compactMap { row in row.first.flatMap { String(sqliteValue: $0) } }
        }
    }

    /// The length of a value's ``Row/content`` and the time of its last change, in milliseconds since 1970.
    package func status(_ key: String) throws(SecureStorageError) -> (size: Int64, modified: Int64)? {
        let sql = "SELECT length(CAST(value AS BLOB)), modified, typeof(value) FROM \(table) WHERE key = ?"
        guard let row = try first(sql, .text(key)), case .integer(let modified) = row[1] else { return nil }
        // SQLite writes real numbers in another way than Swift.
        if row[2] == .text("real"), let value = try get(key) { return (Int64(value.content.count), modified) }
        return (Int64(sqliteValue: row[0]) ?? 0, modified)
    }

    static var now: Int64 { CurrentProcess.millisecondsSince1970 }

    // MARK: Statements

    /// - Returns: Rows changed.
    package func run(_ sql: String, _ values: SQLiteValue...) throws(SecureStorageError) -> Int {
        try store.withConnection { (connection) throws(SecureStorageError) in
            try connection.run(sql, values)
            return connection.changeCount
        }
    }

    package func first(_ sql: String, _ values: SQLiteValue...) throws(SecureStorageError) -> [SQLiteValue]? {
        try store.withConnection { (connection) throws(SecureStorageError) in try connection.first(sql, values) }
    }

    package var quotedName: String { table }
}
