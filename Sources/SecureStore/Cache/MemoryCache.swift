import Foundation
import SecureFileCore

/// A cache in memory: the least recently used entries go first. Safe to use from several threads.
open class MemoryCache<Key, Value>: Caching where Key: Hashable {
    public typealias KeyType = Key
    public typealias ValueType = Value

    /// 0: no limit. Both limits may hold together.
    public let maximumNumberOfEntries: Int
    public let maximumCost: Double

    /// An entry in the list from the least to the most recently used.
    private final class Node {
        let key: Key
        var entry: CacheEntry<Value>
        var next: Node?
        weak var previous: Node?
        init(_ key: Key, _ entry: CacheEntry<Value>) {
            self.key = key
            self.entry = entry
        }
    }

    private let lock = RecursiveLock()
    private var nodes: [Key: Node] = [:]
    private var oldest: Node?
    private var newest: Node?
    private var cost = 0.0
    private var counted = CacheCounters()

    public required init(maximumNumberOfEntries: Int = 0, maximumCost: Double = 0) {
        self.maximumNumberOfEntries = maximumNumberOfEntries
        self.maximumCost = maximumCost
    }

    // A long list must not be given back by recursion.
    deinit { unlinkAll() }

    open var costOfEntries: Double { lock.withLock { cost } }
    open var numberOfEntries: Int { lock.withLock { nodes.count } }
    public var counters: CacheCounters { lock.withLock { counted } }

    open func set(value: Value, forKey key: Key, withCost cost: Double) { set(value: value, forKey: key, withCost: cost, expiresIn: nil) }

    /// - Parameter seconds: After them the entry is gone; nil: never by itself.
    open func set(value: Value, forKey key: Key, withCost cost: Double, expiresIn seconds: TimeInterval?) {
        lock.withLock {
            remove(key)
            if maximumCost > 0, cost > maximumCost { return }
            let entry = CacheEntry(value: value, cost: cost, expirationDate: seconds.map { Date(timeIntervalSinceNow: $0) })
            let node = Node(key, entry)
            nodes[key] = node
            append(node)
            self.cost += cost
            evict()
        }
    }

    open func value(forKey key: Key) -> Value? { entry(forKey: key)?.value }

    open func entry(forKey key: Key) -> CacheEntry<Value>? {
        lock.withLock {
            guard let node = nodes[key] else {
                counted.misses += 1
                return nil
            }
            if let end = node.entry.expirationDate, end <= Date() {
                remove(key)
                counted.misses += 1
                return nil
            }
            unlink(node)
            append(node)
            counted.hits += 1
            return node.entry
        }
    }

    open func removeValue(forKey key: Key) { lock.withLock { remove(key) } }

    open func removeAllValues() {
        lock.withLock {
            unlinkAll()
            nodes.removeAll()
            cost = 0
        }
    }

    // MARK: Under the lock

    private func remove(_ key: Key) {
        guard let node = nodes.removeValue(forKey: key) else { return }
        unlink(node)
        cost = nodes.isEmpty ? 0 : cost - node.entry.cost
    }

    private func evict() {
        while let first = oldest, nodes.count > 1 || isOverNumber, isOverNumber || isOverCost {
            remove(first.key)
            counted.evictions += 1
        }
    }

    private var isOverNumber: Bool { maximumNumberOfEntries > 0 && nodes.count > maximumNumberOfEntries }
    private var isOverCost: Bool { maximumCost > 0 && cost > maximumCost }

    private func append(_ node: Node) {
        node.previous = newest
        node.next = nil
        newest?.next = node
        newest = node
        if oldest == nil { oldest = node }
    }

    private func unlink(_ node: Node) {
        if let previous = node.previous { previous.next = node.next } else { oldest = node.next }
        if let next = node.next { next.previous = node.previous } else { newest = node.previous }
        (node.next, node.previous) = (nil, nil)
    }

    private func unlinkAll() {
        while let node = oldest {
            oldest = node.next
            node.next = nil
        }
        newest = nil
    }
}
