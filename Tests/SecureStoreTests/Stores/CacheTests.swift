import Foundation
import SecureFileCore
import Testing

@testable import SecureStore
@testable import SecureStoreCore

struct CacheTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func storeCacheKeepsTheMostRecentlyUsed() throws {
        let cache = SecureStoreCache<NSData>(maximumNumberOfEntries: 3, maximumCost: 10, secureStore: try fixture.open(), tableName: "t")
        #expect(cache.maximumNumberOfEntries == 3 && cache.maximumCost == 10 && cache.tableName == "t")
        for i in 0..<3 { cache.set(value: NSData(data: Data([UInt8(i)])), forKey: "\(i)", withCost: 2) }
        #expect(cache.value(forKey: "0") == NSData(data: Data([0])))
        cache.set(value: NSData(data: Data([3])), forKey: "3", withCost: 2)
        #expect(cache.numberOfEntries == 3 && cache.costOfEntries == 6)
        #expect(cache.value(forKey: "1") == nil && cache.value(forKey: "0") != nil)
        cache.set(value: NSData(data: Data([4])), forKey: "4", withCost: 7)
        #expect(cache.costOfEntries <= 10 && cache.entry(forKey: "4")?.cost == 7)
        cache.set(value: NSData(data: Data([5])), forKey: "5", withCost: 11)
        #expect(cache.value(forKey: "5") == nil, "too dear: quietly not stored")
        #expect(try !cache.trySet(value: NSData(), forKey: "6", withCost: 11))
        #expect(cache.counters.hits == 3 && cache.counters.misses == 2 && cache.counters.evictions >= 2 && cache.counters.failures == 0)
        cache.removeValue(forKey: "4")
        #expect(cache.value(forKey: "4") == nil)
        cache.removeAllValues()
        #expect(cache.numberOfEntries == 0)
    }

    @Test func storeCacheOutlivesItsStore() throws {
        let store = try fixture.open()
        let first = SecureStoreCache<Child>(secureStore: store)
        first.set(value: Child("x"), forKey: "k", withCost: 1)
        store.close()
        #expect(first.value(forKey: "k") == nil && first.counters.failures == 1)
        #expect(storageError { _ = try first.tryValue(forKey: "k") } == .closed)
        try store.open(with: "key")
        let second = SecureStoreCache<Child>(secureStore: store, requiresSecureCoding: true)
        #expect(second.value(forKey: "k")?.name == "x")
        #expect(second.value(forKey: "k", allowedClasses: [Child.self])?.name == "x")
    }

    @Test func failuresReadAsNilAndAreLogged() throws {
        let cache = SecureStoreCache<Parent>(secureStore: try fixture.open(), tableName: "Profiles", requiresSecureCoding: true)
        cache.set(value: Parent(child: Child("x"), list: [Child("y")]), forKey: "p", withCost: 1)
        #expect(cache.value(forKey: "p", allowedClasses: [Parent.self]) == nil)
        #expect(cache.counters.failures == 1)
        #expect(throws: SecureDecodingError.self) { try cache.tryValue(forKey: "p", allowedClasses: [Parent.self]) }
        #expect(cache.entry(forKey: "p", allowedClasses: [Parent.self, Child.self, NSArray.self])?.value.child?.name == "x")
        let plain = SecureStoreCache<Plain>(secureStore: cache.secureStore, requiresSecureCoding: true)
        plain.set(value: Plain("x"), forKey: "k", withCost: 1)
        #expect(plain.counters.failures == 1 && plain.numberOfEntries == 0)
    }

    @Test func listsInAStoreCache() throws {
        let cache = SecureStoreCache<Child>(secureStore: try fixture.open(), requiresSecureCoding: true)
        cache.set(values: [Child("a"), Child("b")], forKey: "all", withCost: 1)
        let list = cache.value(forKey: "all", as: [Child].self, allowedClasses: [NSArray.self, Child.self])
        #expect(list?.map(\.name) == ["a", "b"])
    }

    @Test func entriesExpire() throws {
        let cache = SecureStoreCache<Child>(secureStore: try fixture.open())
        cache.set(value: Child("x"), forKey: "short", withCost: 1, expiresIn: 0.05)
        cache.set(value: Child("x"), forKey: "long", withCost: 1, expiresIn: 1000)
        let memory = MemoryCache<String, Int>()
        memory.set(value: 1, forKey: "short", withCost: 1, expiresIn: 0.05)
        #expect(cache.entry(forKey: "short")?.expirationDate != nil && memory.value(forKey: "short") == 1)
        Thread.sleep(forTimeInterval: 0.1)
        #expect(cache.value(forKey: "short") == nil && cache.value(forKey: "long") != nil)
        #expect(memory.value(forKey: "short") == nil && memory.numberOfEntries == 0)
    }

    @Test func memoryCacheKeepsTheMostRecentlyUsed() {
        let cache = MemoryCache<Int, String>(maximumNumberOfEntries: 3, maximumCost: 100)
        for i in 0..<3 { cache.set(value: "\(i)", forKey: i, withCost: 1) }
        _ = cache.value(forKey: 0)
        cache.set(value: "3", forKey: 3, withCost: 1)
        #expect(cache.value(forKey: 1) == nil && cache.value(forKey: 0) == "0" && cache.numberOfEntries == 3)
        cache.set(value: "dear", forKey: 4, withCost: 101)
        #expect(cache.value(forKey: 4) == nil)
        cache.set(value: "99", forKey: 5, withCost: 99)
        #expect(cache.costOfEntries <= 100 && cache.entry(forKey: 5)?.cost == 99)
        cache.removeValue(forKey: 5)
        cache.removeAllValues()
        #expect(cache.numberOfEntries == 0 && cache.costOfEntries == 0)
        let unlimited = MemoryCache<Int, Int>()
        for i in 0..<200_000 { unlimited.set(value: i, forKey: i, withCost: 1) }
        #expect(unlimited.numberOfEntries == 200_000 && unlimited.counters.evictions == 0)
    }

    @Test func compositeCacheFillsTheCachesBefore() throws {
        let (fast, slow) = (MemoryCache<String, NSData>(), SecureStoreCache<NSData>(secureStore: try fixture.open()))
        let cache = CompositeCache<String, NSData>()
        cache.addCache(fast)
        cache.addCache(slow)
        slow.set(value: NSData(data: Data([1])), forKey: "k", withCost: 3)
        #expect(cache.value(forKey: "k") == NSData(data: Data([1])))
        #expect(fast.entry(forKey: "k")?.cost == 3)
        cache.set(value: NSData(), forKey: "n", withCost: 1)
        #expect(fast.value(forKey: "n") != nil && slow.value(forKey: "n") != nil)
        #expect(cache.costOfEntries == 0 && cache.numberOfEntries == 0)
        cache.removeValue(forKey: "n")
        #expect(cache.entry(forKey: "n") == nil)
        cache.removeAllValues()
        #expect(slow.numberOfEntries == 0)
    }

    @Test func codableCache() throws {
        let cache = CodableCache(cache: SecureStoreCache<NSData>(secureStore: try fixture.open()), coder: JSONCoder())
        try cache.put(["a": 1], for: "k", with: 1)
        #expect(try cache.get([String: Int].self, for: "k") == ["a": 1])
        #expect(try cache.get([String: Int].self, for: "none") == nil)
        cache.removeValue(for: "k")
        #expect(try cache.get([String: Int].self, for: "k") == nil)
        cache.removeAllValues()
        #expect(cache.cache.numberOfEntries == 0)
    }
}
