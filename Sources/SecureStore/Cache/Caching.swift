import Foundation

/// A cache of values by key: what is stored may be gone later.
public protocol Caching: AnyObject {
    associatedtype KeyType
    associatedtype ValueType
    /// What the entries cost together.
    var costOfEntries: Double { get }
    var numberOfEntries: Int { get }
    /// Stores a value, perhaps: one that costs more than the cache may hold is not stored, and no error happens.
    func set(value: ValueType, forKey key: KeyType, withCost cost: Double)
    func value(forKey key: KeyType) -> ValueType?
    func entry(forKey key: KeyType) -> CacheEntry<ValueType>?
    func removeValue(forKey key: KeyType)
    func removeAllValues()
}

/// A value in a cache, and what it costs there.
public struct CacheEntry<Value> {
    public let value: Value
    public let cost: Double
    /// When it stops being there by itself.
    public let expirationDate: Date?
    public init(value: Value, cost: Double, expirationDate: Date? = nil) {
        self.value = value
        self.cost = cost
        self.expirationDate = expirationDate
    }
}

extension CacheEntry: Sendable where Value: Sendable {}

/// What a cache has done since it was made.
public struct CacheCounters: Sendable, Equatable {
    /// Values found, and not found.
    public internal(set) var hits = 0
    public internal(set) var misses = 0
    /// Entries that had to make room for others.
    public internal(set) var evictions = 0
    /// Values that could not be stored or read because something failed.
    public internal(set) var failures = 0
}
