import Foundation
import SecureFileCore
import SecureStore
import SecureStoreCore
import TestSupport

/// Operations a second of a store, and of plain SQLite with the same statements in the same folder.
enum Bench {
    private typealias Work = (_ sql: String, _ values: [SQLiteValue]) throws -> Void

    static func run(_ folder: String) throws {
        let store = Support.store(folder, "bench.db")
        try store.destroy()
        try store.open(with: "bench")
        let path = folder + "/plain-bench.db"
        for ending in ["", "-journal"] { try? FileManager.default.removeItem(atPath: path + ending) }
        let plain = try SQLiteConnection(plaintextDatabaseAt: path, isWritable: true, creating: true)
        let ours: Work = { sql, values in try store.executeUpdate(sql, withArgumentsIn: values.map { Bound($0) }) }
        let theirs: Work = { sql, values in try plain.run(sql, values) }
        var rows: [(String, [Double], [Double])] = []
        for work in [ours, theirs] { try work("CREATE TABLE v(key TEXT PRIMARY KEY, value BLOB)", []) }
        for _ in 0..<3 {
            for (place, work) in [ours, theirs].enumerated() {
                record(&rows, "put single", place, try rate(100) { try put(work, $0) })
                record(&rows, "put in transactions of 1000", place, try rate(5000) { step in
                    if step % 1000 == 0 { try work("BEGIN IMMEDIATE", []) }
                    try put(work, step)
                    if step % 1000 == 999 { try work("COMMIT", []) }
                })
                record(&rows, "get", place, try rate(5000) { step in
                    try work("SELECT value FROM v WHERE key = ?", [.text("key \(step * 7919 % 5000)")])
                })
            }
        }
        let cache = SecureStoreCache<NSData>(maximumNumberOfEntries: 1000, secureStore: store)
        for i in 0..<20 { cache.set(value: NSData(data: Data(count: 200)), forKey: "\(i)", withCost: 1) }
        let hits = try rate(5000) { step in if cache.value(forKey: "\(step % 20)") == nil { throw Finding("no hit") } }
        for (name, ours, theirs) in rows {
            let (a, b) = (median(ours), median(theirs))
            say("\(name): \(Int(a))/s, plain SQLite \(Int(b))/s, ratio \(String(format: "%.2f", a / b))")
        }
        say("cache hit: \(Int(hits))/s")
    }

    struct Bound: SQLiteDatatypeBridgeable {
        static var storedType: StoredType { .data }
        let sqliteValue: SQLiteValue
        init(_ value: SQLiteValue) { sqliteValue = value }
        init?(sqliteValue: SQLiteValue) { self.sqliteValue = sqliteValue }
    }

    private static func put(_ work: Work, _ step: Int) throws {
        try work("INSERT OR REPLACE INTO v VALUES(?, ?)", [.text("key \(step)"), .blob([UInt8](repeating: UInt8(step & 255), count: 200))])
    }

    private static func rate(_ count: Int, _ body: (Int) throws -> Void) throws -> Double {
        let start = Support.seconds()
        for step in 0..<count { try body(step) }
        return Double(count) / (Support.seconds() - start)
    }

    private static func record(_ rows: inout [(String, [Double], [Double])], _ name: String, _ place: Int, _ rate: Double) {
        let row: Int
        if let known = rows.firstIndex(where: { $0.0 == name }) { row = known } else {
            rows.append((name, [], []))
            row = rows.count - 1
        }
        if place == 0 { rows[row].1.append(rate) } else { rows[row].2.append(rate) }
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
