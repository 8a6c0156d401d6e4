import Foundation
import SecureFileCore

/// A store of `Codable` values.
public protocol CodableStoring: AnyObject {
    func get<T: Codable>(_ type: T.Type, for key: String) throws -> T?
    func put<T: Codable>(_ value: T, for key: String) throws
    func remove(for key: String) throws
    func keys() throws -> Set<String>
}

/// `Codable` values in a store of data.
open class CodableStorage: CodableStoring {
    private let store: any DataStoring
    private let coder: any CoderProtocol

    public init(store: any DataStoring, coder: any CoderProtocol = PlistCoder()) {
        self.store = store
        self.coder = coder
    }

    open func get<T: Codable>(_ type: T.Type, for key: String) throws -> T? { try store.data(for: key).map { try coder.decode(type, from: $0) } }
    open func put<T: Codable>(_ value: T, for key: String) throws { try store.put(data: try coder.encode(value), for: key) }
    open func remove(for key: String) throws { try store.removeData(for: key) }
    open func keys() throws -> Set<String> { try store.keys() }
}

/// Data by key, in memory only. Safe to use from several threads.
open class MemoryDataStorage: DataStoring {
    private let lock = RecursiveLock()
    private var values: [String: Data] = [:]
    public init() {}
    open func put(data: Data, for key: String) throws { lock.withLock { values[key] = data } }
    open func data(for key: String) throws -> Data? { lock.withLock { values[key] } }
    open func removeData(for key: String) throws { _ = lock.withLock { values.removeValue(forKey: key) } }
    open func keys() throws -> Set<String> { lock.withLock { Set(values.keys) } }
}

/// A store of `Codable` values whose lasting part comes later.
public protocol CompositeCodableStoring: CodableStoring {
    var persistentStore: (any CodableStoring)? { get }
    func setPersistentStore(_ store: any CodableStoring) throws
    func releasePersistentStore()
}

/// `Codable` values in memory first, and in a persistent store as soon as there is one: what was put before is moved there. Safe to use from several
/// threads as far as its store is.
open class CompositeStorage: CompositeCodableStoring {
    private let lock = RecursiveLock()
    private let memory: CodableStorage
    private var persistent: (any CodableStoring)?
    /// How to put each value that is in memory only.
    private var waiting: [String: (any CodableStoring) throws -> Void] = [:]

    public init() { memory = CodableStorage(store: MemoryDataStorage()) }

    open var persistentStore: (any CodableStoring)? { lock.withLock { persistent } }

    open func setPersistentStore(_ store: any CodableStoring) throws {
        try lock.withLock { () throws in
            for put in waiting.values { try put(store) }
            for key in waiting.keys { try memory.remove(for: key) }
            waiting.removeAll()
            persistent = store
        }
    }

    /// From now on values are kept in memory.
    open func releasePersistentStore() { lock.withLock { persistent = nil } }

    private func current() -> any CodableStoring { persistent ?? memory }

    open func get<T: Codable>(_ type: T.Type, for key: String) throws -> T? { try lock.withLock { () throws in try current().get(type, for: key) } }

    open func put<T: Codable>(_ value: T, for key: String) throws {
        try lock.withLock { () throws in
            try current().put(value, for: key)
            if persistent == nil { waiting[key] = { try $0.put(value, for: key) } }
        }
    }

    open func remove(for key: String) throws {
        try lock.withLock { () throws in
            try current().remove(for: key)
            waiting[key] = nil
        }
    }

    open func keys() throws -> Set<String> { try lock.withLock { () throws in try current().keys() } }
}
