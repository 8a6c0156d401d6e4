import Foundation
import SecureFileCore
import Synchronization
import Testing

@testable import SecureStore
@testable import SecureStoreCore

struct KeyValueStoreTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func open(_ name: String = "values", secure: Bool = false) throws -> SecureKeyValueStore {
        let store = try SecureKeyValueStore(databaseStore: fixture.store(), name: name, requiresSecureCoding: secure)
        try store.open(with: "key")
        return store
    }

    @Test func plainValuesOfEveryType() throws {
        let store = try open()
        #expect(store.isOpen() && store.name == "values" && !store.requiresSecureCoding)
        try store.put("text", forKey: "s")
        try store.put(7, forKey: "i")
        try store.put(Int64.min, forKey: "l")
        try store.put(1.25, forKey: "d")
        try store.put(Float(2.5), forKey: "f")
        try store.put(true, forKey: "b")
        try store.put(Data([1, 2]), forKey: "data")
        try store.put(Date(timeIntervalSince1970: 1000), forKey: "date")
        store.close()
        #expect(storageError { _ = try store.getString("s") } == .closed)
        try store.open(with: "key")
        #expect(try store.getString("s") == "text")
        #expect(try store.getInt("i") == 7)
        #expect(try store.getInt64("l") == .min)
        #expect(try store.getDouble("d") == 1.25)
        #expect(try store.getFloat("f") == 2.5)
        #expect(try store.getBool("b") == true)
        #expect(try store.getData("data") == Data([1, 2]))
        #expect(try store.getDate("date") == Date(timeIntervalSince1970: 1000))
        #expect(try store.get("i", defaultValue: 0) == 7)
        #expect(try store.get("none", defaultValue: "fallback") == "fallback")
        #expect(try store.getString("none") == nil)
        #expect(try store.getData("s") == Data("text".utf8))
        #expect(storageError { _ = try store.getInt("s") } == .typeConversionFailed)
        #expect(storageError { _ = try store.getString("data") } == .typeConversionFailed)
        #expect(try store.keys() == ["s", "i", "l", "d", "f", "b", "data", "date"])
    }

    @Test func nilRemoves() throws {
        let store = try open()
        try store.put("x", forKey: "k")
        try store.put(nil, forKey: "k")
        #expect(try store.getString("k") == nil)
        try store.put("x", forKey: "k")
        try store.put(nil as String?, forKey: "k")
        #expect(try store.keys().isEmpty)
        try store.put("x", forKey: "k")
        #expect(try store.remove("k"))
        #expect(try !store.remove("k"))
        try store.put("y", forKey: "k")
        try store.removeAll()
        #expect(try store.keys().isEmpty)
    }

    @Test func objectsAreReadInBothModes() throws {
        let database = fixture.store()
        let old = try SecureKeyValueStore(databaseStore: database, name: "values")
        let new = try SecureKeyValueStore(databaseStore: database, name: "values", requiresSecureCoding: true)
        try old.open(with: "key")
        #expect(new.isOpen(), "opening one opens all")
        try old.put(Child("by old"), forKey: "old")
        try new.put(Child("by new"), forKey: "new")
        let classes: [AnyClass] = [Child.self]
        let first: Child? = try new.get("old", allowedClasses: classes)
        let second: Child? = try old.get("new")
        #expect(first?.name == "by old" && second?.name == "by new")
        let rows = try database.executeQuery("SELECT value FROM sfs_kv_values ORDER BY key")
        #expect(try rows.next())
        let newBytes = rows.data(at: 0)
        rows.close()
        try old.put(Child("by new"), forKey: "new")
        let again = try database.executeQuery("SELECT value FROM sfs_kv_values ORDER BY key")
        #expect(try again.next())
        #expect(again.data(at: 0) == newBytes, "the stored bytes do not depend on the mode")
    }

    @Test func failuresAreConversionFailuresWithALogLine() throws {
        let store = try open(secure: true)
        let lines = LogLines()
        try store.put(Parent(child: Child("x"), list: [Child("secretvalue")]), forKey: "p")
        #expect(storageError { let _: Parent? = try store.get("p", allowedClasses: [Parent.self]) } == .typeConversionFailed)
        #expect(lines.all.contains { $0.contains("SecureStoreTests.Child") && $0.contains("store values") })
        #expect(!lines.all.contains { $0.contains("secretvalue") })
        let parent: Parent? = try store.get("p", allowedClasses: [Parent.self, Child.self, NSArray.self])
        #expect(parent?.list.first?.name == "secretvalue")
        #expect(storageError { let _: Child? = try store.get("p", allowedClasses: [Parent.self, Child.self, NSArray.self]) } == .typeConversionFailed)
        #expect(storageError { try store.put(Plain("x"), forKey: "x") } == .typeConversionFailed)
        let fallback = Child("fallback")
        let none: Child? = try store.get("none", defaultValue: fallback, allowedClasses: [Child.self])
        #expect(none === fallback)
    }

    @Test func listsOfObjects() throws {
        let store = try open(secure: true)
        try store.put([Child("a"), Child("b")], forKey: "list")
        let list: [Child]? = try store.get("list", allowedClasses: [NSArray.self, Child.self])
        #expect(list?.map(\.name) == ["a", "b"])
        try store.put(NSArray(array: [Child("c")]), forKey: "array")
        let array: NSArray? = try store.get("array", allowedClasses: [NSArray.self, Child.self])
        #expect(array?.count == 1)
    }

    @Test func codableValues() throws {
        struct Settings: Codable, Equatable { var theme: String, sizes: [Int] }
        let store = try open()
        try store.put(codable: Settings(theme: "dark", sizes: [1, 2]), forKey: "c")
        #expect(try store.get(codable: Settings.self, forKey: "c") == Settings(theme: "dark", sizes: [1, 2]))
        #expect(storageError { _ = try store.get(codable: [Int].self, forKey: "c") } == .typeConversionFailed)
        #expect(storageError { _ = try store.getString("c") } == .typeConversionFailed)
    }

    @Test func severalStoresInOneDatabase() throws {
        let one = try open("one")
        let two = try SecureKeyValueStore(databaseStore: one.secureDatabaseStore, name: "two \"quoted\"")
        try one.put("1", forKey: "k")
        try two.put("2", forKey: "k")
        #expect(try one.getString("k") == "1" && two.getString("k") == "2")
        try two.removeAll()
        #expect(try one.getString("k") == "1")
        one.close()
        #expect(!two.isOpen())
    }

    @Test func keyChangeAndEnd() throws {
        let store = SecureKeyValueStore(fullDatabasePath: fixture.path("kv.db"), name: "n")
        #expect(try !store.exists())
        try store.open(with: "key")
        try store.changeEncryptionKey(with: "new")
        store.close()
        #expect(storageError { try store.open(with: "key") }?.isWrongKey == true)
        #expect(try store.exists())
        try store.destroy()
        #expect(fixture.names.isEmpty)
    }

    @Test func dataStoringAndCodableStorage() throws {
        let store = try open()
        let storing: any DataStoring = store
        try storing.put(data: Data([9]), for: "d")
        #expect(try storing.data(for: "d") == Data([9]) && storing.keys() == ["d"])
        try storing.removeData(for: "d")
        for coder in [PlistCoder(), JSONCoder()] as [any CoderProtocol] {
            let codable = CodableStorage(store: store, coder: coder)
            try codable.put([1, 2], for: "list")
            try codable.put("single", for: "text")
            #expect(try codable.get([Int].self, for: "list") == [1, 2] && codable.get(String.self, for: "text") == "single")
            try codable.remove(for: "list")
            #expect(try codable.keys() == ["text"])
        }
        let composite = CompositeStorage()
        try composite.put("early", for: "e")
        try composite.setPersistentStore(CodableStorage(store: store))
        #expect(composite.persistentStore != nil)
        #expect(try composite.get(String.self, for: "e") == "early")
        #expect(try store.keys().contains("e"))
        try composite.remove(for: "e")
        composite.releasePersistentStore()
        #expect(try composite.keys().isEmpty)
    }
}

/// The lines of the stores' log, while this lives. Other tests may add theirs.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])
    init() { StoreLog.shared.send { [weak self] line in self?.lines.withLock { $0.append(line) } } }
    deinit { StoreLog.shared.send { _ in } }
    var all: [String] { lines.withLock { $0 } }
}
