import Foundation
import SecureFileCore

/// A cache in a table of a ``SecureDatabaseStore``: the least recently used entries go first. Safe to use from several threads.
///
/// As in SAP's class nothing is thrown: a failure reads as nil, is counted, and writes a line to the log (``StoreLog``). Each call has a twin that
/// throws.
open class SecureStoreCache<Value>: Caching where Value: NSCoding {
    public typealias KeyType = String
    public typealias ValueType = Value

    public let secureStore: SecureDatabaseStore
    public let tableName: String
    /// 0: no limit. Both limits may hold together.
    public let maximumNumberOfEntries: Int
    public let maximumCost: Double
    /// Values must support `NSSecureCoding`, and only classes that the reader lists are made. What is stored is the same either way.
    public let requiresSecureCoding: Bool

    let table: CacheTable
    private let lock = RecursiveLock()
    private var counted = CacheCounters()

    /// - Parameters:
    ///   - secureStore: The database; it must be open when the cache is used.
    ///   - tableName: The name of the cache in it.
    public init(
        maximumNumberOfEntries: Int = 0, maximumCost: Double = 0, secureStore: SecureDatabaseStore, tableName: String = "SecureStoreCache",
        requiresSecureCoding: Bool = false
    ) {
        self.secureStore = secureStore
        self.tableName = tableName
        self.maximumNumberOfEntries = maximumNumberOfEntries
        self.maximumCost = maximumCost
        self.requiresSecureCoding = requiresSecureCoding
        table = CacheTable(secureStore, tableName, maximumNumberOfEntries: maximumNumberOfEntries, maximumCost: maximumCost)
    }

    public var counters: CacheCounters { lock.withLock { counted } }
    open var costOfEntries: Double { logged { try table.totals().cost } ?? 0 }
    open var numberOfEntries: Int { logged { try table.totals().count } ?? 0 }

    private func count(_ change: (inout CacheCounters) -> Void) { lock.withLock { change(&counted) } }

    /// Nil, a count and a line in the log, where `body` fails.
    private func logged<R>(_ body: () throws -> R) -> R? {
        do { return try body() } catch {
            count { $0.failures += 1 }
            StoreLog.shared.note("cache \(tableName): \(error)")
            return nil
        }
    }

    // MARK: Writing

    open func set(value: Value, forKey key: String, withCost cost: Double) { _ = logged { try store(value, key, cost, nil) } }

    /// - Parameter seconds: After them the entry is gone.
    open func set(value: Value, forKey key: String, withCost cost: Double, expiresIn seconds: TimeInterval) {
        _ = logged { try store(value, key, cost, seconds) }
    }

    /// Stores a list of values, as an `NSArray`.
    open func set(values: [Value], forKey key: String, withCost cost: Double) { _ = logged { try store(values, key, cost, nil) } }

    /// The twin that throws.
    ///
    /// - Returns: Whether it was stored: not, where it costs more than the cache may hold.
    /// - Throws: ``SecureStorageError``, or ``SecureEncodingError``.
    @discardableResult
    open func trySet(value: Value, forKey key: String, withCost cost: Double, expiresIn seconds: TimeInterval? = nil) throws -> Bool {
        try store(value, key, cost, seconds)
    }

    @discardableResult
    private func store(_ value: Any, _ key: String, _ cost: Double, _ seconds: TimeInterval?) throws -> Bool {
        let data = try SecureArchive.encode(value, requiresSecureCoding: requiresSecureCoding)
        let expires = seconds.flatMap { Int64(exactly: (Date(timeIntervalSinceNow: $0).timeIntervalSince1970 * 1000).rounded()) }
        let entry = CacheTable.Entry(row: ValueTable.Row(.archive, data.sqliteValue), cost: cost, expires: expires)
        let result = try table.set(key, entry)
        count { $0.evictions += result.evictions }
        return result.isStored
    }

    open func removeValue(forKey key: String) { _ = logged { try table.remove(key) } }
    open func removeAllValues() { _ = logged { try table.removeAll() } }
    open func tryRemoveValue(forKey key: String) throws { _ = try table.remove(key) }
    open func tryRemoveAllValues() throws { try table.removeAll() }

    // MARK: Reading

    /// With secure coding `Value` is the only class allowed, with its subclasses.
    open func value(forKey key: String) -> Value? { entry(forKey: key)?.value }
    open func entry(forKey key: String) -> CacheEntry<Value>? { logged { try read(key, ownClasses) } ?? nil }

    /// - Parameter allowedClasses: All classes that may occur in the value, containers included.
    open func value(forKey key: String, allowedClasses: [AnyClass]) -> Value? { entry(forKey: key, allowedClasses: allowedClasses)?.value }

    open func entry(forKey key: String, allowedClasses: [AnyClass]) -> CacheEntry<Value>? { logged { try read(key, allowedClasses) } ?? nil }

    /// The value of `key` as a `T`: a list of values, for example.
    open func value<T>(forKey key: String, as type: T.Type, allowedClasses: [AnyClass]) -> T? {
        let entry: CacheEntry<T>? = logged { try read(key, allowedClasses) } ?? nil
        return entry?.value
    }

    /// The twins that throw.
    open func tryValue(forKey key: String) throws -> Value? { try tryEntry(forKey: key)?.value }
    open func tryEntry(forKey key: String) throws -> CacheEntry<Value>? { try read(key, ownClasses) }
    open func tryValue(forKey key: String, allowedClasses: [AnyClass]) throws -> Value? { try tryEntry(forKey: key, allowedClasses: allowedClasses)?.value }
    open func tryEntry(forKey key: String, allowedClasses: [AnyClass]) throws -> CacheEntry<Value>? { try read(key, allowedClasses) }

    private var ownClasses: [AnyClass]? { requiresSecureCoding ? (Value.self as? AnyClass).map { [$0] } ?? [] : nil }

    private func read<T>(_ key: String, _ classes: [AnyClass]?) throws -> CacheEntry<T>? {
        guard let entry = try table.get(key) else {
            count { $0.misses += 1 }
            return nil
        }
        guard entry.row.type == .archive, let data = Data(sqliteValue: entry.row.value) else { throw SecureStorageError.typeConversionFailed }
        let object = try SecureArchive.decode(data, classes, isSecure: requiresSecureCoding)
        guard let value: T = SwiftValue.cast(object) else {
            throw SecureDecodingError.classNotAllowed(SecureClassNames.plainName(of: type(of: object)), keyPath: "root")
        }
        count { $0.hits += 1 }
        let expires = entry.expires.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        return CacheEntry(value: value, cost: entry.cost, expirationDate: expires)
    }
}
