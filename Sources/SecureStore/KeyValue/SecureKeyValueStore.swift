import Foundation

/// Values by key in a ``SecureDatabaseStore``: plain types, `NSCoding` objects, `Codable` values. Several stores with different names may be in one
/// database; opening one opens all that share the ``SecureDatabaseStore``. Safe to use from several threads and processes.
open class SecureKeyValueStore: KeyValueStoreProtocol {
    /// The name of the store that is given none.
    public static let defaultName = "SecureKeyValueStore"

    public let secureDatabaseStore: SecureDatabaseStore
    public let name: String
    /// Objects must support `NSSecureCoding`, and only classes that the reader lists are made. What is stored is the same either way.
    public let requiresSecureCoding: Bool
    let table: ValueTable

    /// A store in the database of the given name (``SecureDatabaseStore/init(databaseFileName:keyDerivation:)``); without one, in a database that
    /// has the store's own name.
    public convenience init(databaseFileName: String? = nil, name: String = defaultName, requiresSecureCoding: Bool = false) {
        self.init(SecureDatabaseStore(databaseFileName: databaseFileName ?? name), name, requiresSecureCoding)
    }

    /// A store in the database at a path.
    public convenience init(fullDatabasePath: String, name: String = defaultName, requiresSecureCoding: Bool = false) {
        self.init(SecureDatabaseStore(fullDatabasePath: fullDatabasePath), name, requiresSecureCoding)
    }

    /// A store in a database at hand, which may be open.
    ///
    /// - Throws: Only where it is open and the store's table is missing and cannot be made.
    public convenience init(databaseStore: SecureDatabaseStore, name: String, requiresSecureCoding: Bool = false) throws {
        self.init(databaseStore, name, requiresSecureCoding)
        if databaseStore.isOpen() { try table.create() }
    }

    private init(_ store: SecureDatabaseStore, _ name: String, _ requiresSecureCoding: Bool) {
        secureDatabaseStore = store
        self.name = name
        self.requiresSecureCoding = requiresSecureCoding
        table = ValueTable(store, .keyValue, name)
    }

    // MARK: State

    /// Opens the database: ``SecureDatabaseStore/open(with:)-(String)``.
    open func open(with encryptionKey: String) throws {
        try secureDatabaseStore.open(with: encryptionKey)
        try table.create()
    }

    /// Opens the database with the key of the vault it lies in.
    open func openWithVaultKey() throws {
        try secureDatabaseStore.openWithVaultKey()
        try table.create()
    }

    open func isOpen() -> Bool { secureDatabaseStore.isOpen() }

    /// Closes the database, and so all stores that share it.
    open func close() { secureDatabaseStore.close() }

    /// ``SecureDatabaseStore/changeEncryptionKey(with:)``
    open func changeEncryptionKey(with newKey: String) throws { try secureDatabaseStore.changeEncryptionKey(with: newKey) }

    /// Whether the database exists.
    open func exists() throws -> Bool { try secureDatabaseStore.exists() }

    /// ``SecureDatabaseStore/destroy()``: the whole database, with all stores in it.
    open func destroy() throws { try secureDatabaseStore.destroy() }

    // MARK: Writing

    open func put<T>(_ value: T?, forKey key: String) throws where T: SQLiteDatatypeBridgeable {
        guard let value else { return try discard(key) }
        try store(ValueTable.Row(T.storedType, value.sqliteValue), key)
    }

    open func put<T>(_ value: T?, forKey key: String) throws where T: NSCoding {
        guard let value else { return try discard(key) }
        try put(archiving: value, forKey: key)
    }

    /// Stores a list of objects, as an `NSArray`.
    open func put<T>(_ values: [T]?, forKey key: String) throws where T: NSCoding {
        guard let values else { return try discard(key) }
        try put(archiving: values, forKey: key)
    }

    /// `put(nil, forKey:)` removes what is there.
    open func put(_ nothing: Never?, forKey key: String) throws { try discard(key) }

    /// Stores a `Codable` value, as a property list.
    open func put<T>(codable value: T?, forKey key: String) throws where T: Encodable {
        guard let value else { return try discard(key) }
        let data: Data
        do { data = try PlistCoder().encode(value) } catch { throw conversionFailed(key, "\(type(of: error))") }
        try store(ValueTable.Row(.codable, data.sqliteValue), key)
    }

    private func put(archiving value: Any, forKey key: String) throws {
        let data: Data
        do { data = try SecureArchive.encode(value, requiresSecureCoding: requiresSecureCoding) } catch {
            throw conversionFailed(key, error.description)
        }
        try store(ValueTable.Row(.archive, data.sqliteValue), key)
    }

    private func store(_ row: ValueTable.Row, _ key: String) throws { try table.put(key, row) }

    private func discard(_ key: String) throws { _ = try table.remove(key) }

    /// Removes the value of `key`.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    open func remove(_ key: String) throws -> Bool { try table.remove(key) }

    /// Removes all values of this store; others in the database stay.
    open func removeAll() throws { try table.removeAll() }

    open func keys() throws -> Set<String> { Set(try table.keys()) }

    // MARK: Logging

    /// The error for a value that cannot be converted, with its line in the log: store, class and key path, never the value.
    func conversionFailed(_ key: String, _ why: String) -> SecureStorageError {
        StoreLog.shared.note("store \(name): \(why)")
        return .typeConversionFailed
    }
}
