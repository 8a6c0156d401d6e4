import Foundation
import SecureFileCore
import SecureStoreCore
import TestSupport

/// The same random statements on a store and on a plaintext database, by the same SQLite: what they hold must be the same.
enum Differential {
    static func run(_ folder: String, transactions: Int, seed: UInt64) throws {
        say("differential: \(transactions) transactions, seed \(seed)")
        let store = Support.store(folder, "differential.db")
        try store.destroy()
        try store.open(with: "differential")
        let plain = folder + "/plain-differential.db"
        for ending in ["", "-journal"] { try? FileManager.default.removeItem(atPath: plain + ending) }
        let other = try SQLiteConnection(plaintextDatabaseAt: plain, isWritable: true, creating: true)
        var random = SeededGenerator(seed: seed)
        for sql in ["CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT, b BLOB, n INTEGER)", "CREATE INDEX i ON a(n)"] {
            try store.executeUpdate(sql)
            try other.run(sql)
        }
        for step in 0..<transactions {
            for (sql, values) in transaction(&random, step) {
                let ours = outcome { try store.executeUpdate(sql, withArgumentsIn: values.map { Argument($0) }) }
                let theirs = outcome { try other.run(sql, values) }
                guard ours == theirs else { throw Finding("step \(step): \(sql): \(ours ?? "ok") against \(theirs ?? "ok")") }
            }
            if step % 500 == 499 || step == transactions - 1 {
                try compare(store, other, step)
                let found = try Support.filesWith("plaintext", in: folder).filter { !$0.hasPrefix("plain-") }
                guard found.isEmpty else { throw Finding("plaintext in \(found)") }
            }
        }
        guard try store.verify().isEmpty else { throw Finding("integrity_check") }
        say("differential: identical")
    }

    /// A value as an argument.
    private struct Argument: SQLiteDatatypeBridgeable {
        static var storedType: StoredType { .data }
        let sqliteValue: SQLiteValue
        init(_ value: SQLiteValue) { sqliteValue = value }
        init?(sqliteValue: SQLiteValue) { self.sqliteValue = sqliteValue }
    }

    /// The code of a failure; nil: none.
    private static func outcome(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch SecureStorageError.backingStoreError(let code, _) { return "\(code)" } catch { return "\(error)" }
    }

    private static func transaction(_ random: inout SeededGenerator, _ step: Int) -> [(String, [SQLiteValue])] {
        var statements: [(String, [SQLiteValue])] = []
        if random.once(in: 400) { return [(random.pick(["VACUUM", "REINDEX", "PRAGMA incremental_vacuum", "ANALYZE"]), [])] }
        if random.once(in: 300) {
            return [("PRAGMA cache_size = \(random.pick([2, 10, 2000]))", [])]
        }
        if random.once(in: 200) { return [("CREATE TEMP TABLE IF NOT EXISTS x AS SELECT * FROM a", []), ("DROP TABLE x", [])] }
        if random.once(in: 300) { return [("PRAGMA journal_mode = \(random.pick(["delete", "truncate", "persist"]))", [])] }
        statements.append(("BEGIN " + random.pick(["", "IMMEDIATE", "EXCLUSIVE"]), []))
        for _ in 0..<random.number(1..<12) { statements.append(change(&random)) }
        if random.once(in: 5) {
            statements.append(("SAVEPOINT s", []))
            for _ in 0..<random.number(1..<6) { statements.append(change(&random)) }
            statements.append((random.pick(["RELEASE s", "ROLLBACK TO s"]), []))
        }
        statements.append((random.once(in: 6) ? "ROLLBACK" : "COMMIT", []))
        return statements
    }

    private static func change(_ random: inout SeededGenerator) -> (String, [SQLiteValue]) {
        let id = Int64(random.number(0..<2000))
        let size = random.once(in: 20) ? random.number(1000..<60000) : random.number(0..<300)
        let byte = UInt8(truncatingIfNeeded: random.next())
        let blob = SQLiteValue.blob([UInt8](repeating: byte, count: size))
        switch random.number(0..<10) {
        case 0...5:
            return ("INSERT OR REPLACE INTO a VALUES(?, ?, ?, ?)", [.integer(id), .text("plaintext \(id)"), blob, .integer(Int64(byte))])
        case 6...7: return ("UPDATE a SET b = ?, n = n + 1 WHERE id BETWEEN ? AND ?", [blob, .integer(id), .integer(id + 5)])
        case 8: return ("DELETE FROM a WHERE id BETWEEN ? AND ?", [.integer(id), .integer(id + Int64(random.number(0..<40)))])
        default: return ("UPDATE a SET t = t || '+' WHERE n = ?", [.integer(Int64(byte))])
        }
    }

    private static func compare(_ store: SecureDatabaseStore, _ other: SQLiteConnection, _ step: Int) throws {
        let sql = "SELECT id, t, b, n FROM a ORDER BY id"
        let rows = try store.executeQuery(sql)
        for row in try other.all(sql) {
            guard try rows.next(), (0..<4).map({ rows.value(at: $0) }) == row else { throw Finding("step \(step): rows differ at \(row[0])") }
        }
        guard try !rows.next() else { throw Finding("step \(step): more rows than plain SQLite") }
    }
}
