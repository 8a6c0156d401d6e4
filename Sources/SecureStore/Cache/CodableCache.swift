import Foundation

/// A cache of `Codable` values.
public protocol CodableCaching: AnyObject {
    associatedtype KeyType
    func get<T: Codable>(_ type: T.Type, for key: KeyType) throws -> T?
    func put<T: Codable>(_ value: T, for key: KeyType, with cost: Double) throws
}

/// `Codable` values in a cache of data.
open class CodableCache<Cache>: CodableCaching where Cache: Caching, Cache.ValueType == NSData {
    public typealias KeyType = Cache.KeyType
    public let cache: Cache
    private let coder: any CoderProtocol

    public init(cache: Cache, coder: any CoderProtocol = PlistCoder()) {
        self.cache = cache
        self.coder = coder
    }

    open func get<T: Codable>(_ type: T.Type, for key: Cache.KeyType) throws -> T? {
        guard let data = cache.value(forKey: key) else { return nil }
        return try coder.decode(type, from: Data(referencing: data))
    }

    open func put<T: Codable>(_ value: T, for key: Cache.KeyType, with cost: Double) throws {
        cache.set(value: NSData(data: try coder.encode(value)), forKey: key, withCost: cost)
    }

    open func removeValue(for key: Cache.KeyType) { cache.removeValue(forKey: key) }
    open func removeAllValues() { cache.removeAllValues() }
}
