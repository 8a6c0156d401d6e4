import Foundation

/// A store of values by key, of plain types or of `NSCoding` classes.
public protocol KeyValueStoreProtocol: AnyObject {
    /// Stores a plain value; nil removes what is there.
    func put<T>(_ value: T?, forKey key: String) throws where T: SQLiteDatatypeBridgeable
    /// Stores an object as a keyed archive; nil removes what is there. It is read with `get`, not with `getString` and the like.
    func put<T>(_ value: T?, forKey key: String) throws where T: NSCoding
    func get<T>(_ key: String) throws -> T? where T: NSCoding
    func get<T>(_ key: String, allowedClasses: [AnyClass]) throws -> T?
    func getString(_ key: String) throws -> String?
    func getData(_ key: String) throws -> Data?
    @discardableResult func remove(_ key: String) throws -> Bool
    func removeAll() throws
}

/// A store of data by key.
public protocol DataStoring: AnyObject {
    func put(data: Data, for key: String) throws
    func data(for key: String) throws -> Data?
    func removeData(for key: String) throws
    func keys() throws -> Set<String>
}
