import SecureFileCore
import Synchronization

/// The rows of a cache: least recently used first out, by number and by cost.
///
/// That an entry was used is written down with the next change, not at each read: a read costs no write.
package final class CacheTable: Sendable {
    package let table: ValueTable
    /// 0: no limit.
    package let maximumNumberOfEntries: Int
    package let maximumCost: Double
    private let touched = Mutex<[String: Int64]>([:])
    private let clock = Atomic<Int64>(0)

    package init(_ store: SecureDatabaseStore, _ name: String, maximumNumberOfEntries: Int, maximumCost: Double) {
        table = ValueTable(store, .cache, name)
        self.maximumNumberOfEntries = maximumNumberOfEntries
        self.maximumCost = maximumCost
    }

    package struct Entry: Sendable {
        package var row: ValueTable.Row
        package var cost: Double
        /// Milliseconds since 1970.
        package var expires: Int64?
        package init(row: ValueTable.Row, cost: Double, expires: Int64?) {
            self.row = row
            self.cost = cost
            self.expires = expires
        }
    }

    /// Later than any before, in other processes too, as far as clocks agree.
    private func now() -> Int64 {
        let time = ValueTable.now * 1000
        while true {
            let last = clock.load(ordering: .relaxed)
            let next = max(last + 1, time)
            if clock.compareExchange(expected: last, desired: next, ordering: .relaxed).exchanged { return next }
        }
    }

    package func get(_ key: String) throws(SecureStorageError) -> Entry? {
        try table.create()
        let sql = "SELECT type, value, cost, expires FROM \(table.quotedName) WHERE key = ? AND (expires IS NULL OR expires > ?)"
        guard let row = try table.first(sql, .text(key), .integer(ValueTable.now)), let type = Int64(sqliteValue: row[0]) else { return nil }
        let time = now()
        touched.withLock { $0[key] = time }
        return Entry(
            row: ValueTable.Row(StoredType(rawValue: type), row[1]), cost: Double(sqliteValue: row[2]) ?? 0, expires: Int64(sqliteValue: row[3]))
    }

    /// - Returns: Whether it was stored, and how many entries had to go.
    package func set(_ key: String, _ entry: Entry) throws -> (isStored: Bool, evictions: Int) {
        try table.store.transaction { _ in
            try table.create()
            try writeTouched()
            if maximumCost > 0, entry.cost > maximumCost {
                // Not stored; the value it was to replace is out of date all the same.
                _ = try table.remove(key)
                return (false, 0)
            }
            try table.put(key, entry.row)
            _ = try table.run(
                "UPDATE \(table.quotedName) SET cost = ?, used = ?, expires = ? WHERE key = ?", .real(entry.cost), .integer(now()),
                entry.expires.map { .integer($0) } ?? .null, .text(key))
            return (true, try evict())
        }
    }

    private func writeTouched() throws(SecureStorageError) {
        let times = touched.withLock { touched in
            defer { touched.removeAll() }
            return touched
        }
        for (key, time) in times {
            _ = try table.run("UPDATE \(table.quotedName) SET used = max(used, ?) WHERE key = ?", .integer(time), .text(key))
        }
    }

    private func evict() throws(SecureStorageError) -> Int {
        _ = try table.run("DELETE FROM \(table.quotedName) WHERE expires <= ?", .integer(ValueTable.now))
        var evictions = 0
        var (count, cost) = try totals()
        while maximumNumberOfEntries > 0 && count > maximumNumberOfEntries || maximumCost > 0 && cost > maximumCost && count > 1 {
            guard let oldest = try table.first("SELECT key, cost FROM \(table.quotedName) ORDER BY used LIMIT 1") else { break }
            guard try table.run("DELETE FROM \(table.quotedName) WHERE key = ?", oldest[0]) > 0 else { break }
            evictions += 1
            count -= 1
            cost -= Double(sqliteValue: oldest[1]) ?? 0
        }
        return evictions
    }

    /// How many entries there are, and what they cost together.
    package func totals() throws(SecureStorageError) -> (count: Int, cost: Double) {
        try table.create()
        let row = try table.first("SELECT count(*), coalesce(sum(cost), 0.0) FROM \(table.quotedName)")
        return (row.flatMap { Int(sqliteValue: $0[0]) } ?? 0, row.flatMap { Double(sqliteValue: $0[1]) } ?? 0)
    }

    package func remove(_ key: String) throws(SecureStorageError) -> Bool {
        try table.create()
        _ = touched.withLock { $0.removeValue(forKey: key) }
        return try table.remove(key)
    }

    package func removeAll() throws(SecureStorageError) {
        try table.create()
        touched.withLock { $0.removeAll() }
        try table.removeAll()
    }
}
