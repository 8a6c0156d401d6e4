import SecureFileCore

/// A chain of caches, the fastest first. What is found in one is put into all before it; what one drops is not moved on. Safe to use from several
/// threads as far as its caches are.
open class CompositeCache<K, V>: Caching {
    public typealias KeyType = K
    public typealias ValueType = V

    /// The calls of a cache of whatever type.
    private struct Link {
        let set: (V, K, Double) -> Void
        let entry: (K) -> CacheEntry<V>?
        let remove: (K) -> Void
        let removeAll: () -> Void
    }

    private let lock = RecursiveLock()
    private var links: [Link] = []

    public init() {}

    /// Puts `cache` at the end of the chain.
    open func addCache<C>(_ cache: C) where C: Caching, C.KeyType == K, C.ValueType == V {
        let link = Link(
            set: { cache.set(value: $0, forKey: $1, withCost: $2) }, entry: { cache.entry(forKey: $0) }, remove: { cache.removeValue(forKey: $0) },
            removeAll: { cache.removeAllValues() })
        lock.withLock { links.append(link) }
    }

    private var chain: [Link] { lock.withLock { links } }

    /// Always 0: an entry may be in several caches.
    open var costOfEntries: Double { 0 }
    /// Always 0.
    open var numberOfEntries: Int { 0 }

    open func set(value: V, forKey key: K, withCost cost: Double) { for link in chain { link.set(value, key, cost) } }

    open func value(forKey key: K) -> V? { entry(forKey: key)?.value }

    open func entry(forKey key: K) -> CacheEntry<V>? {
        let chain = chain
        for (place, link) in chain.enumerated() {
            guard let found = link.entry(key) else { continue }
            for earlier in chain[..<place] { earlier.set(found.value, key, found.cost) }
            return found
        }
        return nil
    }

    open func removeValue(forKey key: K) { for link in chain { link.remove(key) } }
    open func removeAllValues() { for link in chain { link.removeAll() } }
}
