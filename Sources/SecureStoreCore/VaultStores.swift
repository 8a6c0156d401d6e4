import SecureFileCore
import Synchronization

/// The stores of an open vault as directories of values: what the command line and the mount show. Safe to use from several threads.
///
/// A directory is a key-value store or a cache. Its name is that of the database, where the key-value store is called the same as that; else the
/// database's, `:`, and the store's; for a cache `::`. In both parts `%`, `:`, `/` and control characters are written as `%XX`.
package final class VaultStores: Sendable {
    private let folder: StoreFolder
    private let opened = Mutex<[[UInt8]: SecureDatabaseStore]>([:])

    /// - Parameter vault: Open; for reading will do, as stores have locks of their own.
    package init(of vault: Vault) throws(SecureFileError) { folder = try StoreFolder(of: vault) }

    /// - Returns: Nil where the vault has no folder of stores yet.
    package init?(existingOf vault: Vault) throws(SecureFileError) {
        guard StoreFolder.exists(in: vault) else { return nil }
        folder = try StoreFolder(of: vault)
    }

    package struct Directory: Sendable {
        package let name: String
        package let table: ValueTable
    }

    /// All directories, sorted by database and name.
    ///
    /// - Parameter complain: Told of each database that cannot be opened.
    package func directories(complain: (SecureStorageError) -> Void) throws(SecureFileError) -> [Directory] {
        var found: [Directory] = []
        for name in try folder.storeNames().sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            do throws(SecureStorageError) {
                guard let store = try database(name, creating: false) else { continue }
                for table in try ValueTable.all(in: store) { found.append(Directory(name: Self.name(of: table, in: name), table: table)) }
            } catch { complain(error) }
        }
        return found
    }

    /// The directory of that name; nil where there is none.
    package func directory(_ name: String) throws(SecureStorageError) -> Directory? {
        guard let (database, kind, table) = Self.parts(of: name), let store = try self.database(database, creating: false) else { return nil }
        let found = ValueTable(store, kind, table)
        return try found.exists() ? Directory(name: name, table: found) : nil
    }

    /// Makes a key-value store, and its database if that is missing.
    package func make(_ name: String) throws(SecureStorageError) -> Directory {
        guard let (database, kind, table) = Self.parts(of: name), kind == .keyValue, let store = try self.database(database, creating: true)
        else { throw .openFailed(code: Int(ResultCode.cannotOpen.rawValue), message: "no store can have this name") }
        let made = ValueTable(store, kind, table)
        try made.create()
        return Directory(name: name, table: made)
    }

    /// Removes a store with all its values; a database that then holds no table is destroyed.
    package func remove(_ directory: Directory) throws(SecureStorageError) {
        try directory.table.drop()
        let store = directory.table.store
        if try directory.table.first("SELECT 1 FROM sqlite_master LIMIT 1") == nil {
            try store.destroy()
            opened.withLock { opened in opened = opened.filter { $0.value !== store } }
        }
    }

    package func close() {
        let stores = opened.withLock { opened in
            defer { opened.removeAll() }
            return Array(opened.values)
        }
        for store in stores { store.close() }
    }

    private func database(_ name: [UInt8], creating: Bool) throws(SecureStorageError) -> SecureDatabaseStore? {
        if let store = opened.withLock({ $0[name] }), store.isOpen(), try store.exists() { return store }
        let store = SecureDatabaseStore(in: folder, name: name)
        if !creating, !(try store.exists()) { return nil }
        try store.openWithVaultKey()
        opened.withLock { $0[name] = store }
        return store
    }

    // MARK: Names

    private static func name(of table: ValueTable, in database: [UInt8]) -> String {
        let base = EscapedName.encode(database)
        if table.kind == .cache { return base + "::" + EscapedName.encode(Array(table.name.utf8)) }
        return Array(table.name.utf8) == database ? base : base + ":" + EscapedName.encode(Array(table.name.utf8))
    }

    private static func parts(of name: String) -> ([UInt8], ValueTable.Kind, String)? {
        let base = name.prefix { $0 != ":" }
        let rest = name.dropFirst(base.count)
        let kind: ValueTable.Kind = rest.hasPrefix("::") ? .cache : .keyValue
        guard let database = EscapedName.decode(String(base)), !database.isEmpty else { return nil }
        if rest.isEmpty { return String(validating: database, as: UTF8.self).map { (database, .keyValue, $0) } }
        guard let table = EscapedName.decode(String(rest.dropFirst(kind == .cache ? 2 : 1))), !table.isEmpty,
            let text = String(validating: table, as: UTF8.self)
        else { return nil }
        return (database, kind, text)
    }
}

/// Names of stores and keys as file names: bytes that no file name can hold, or that would be taken for something else, are written as `%XX`.
package enum EscapedName {
    /// - Parameter keepsColons: For keys; in names of stores a colon has a meaning.
    package static func encode(_ bytes: [UInt8], keepsColons: Bool = false) -> String {
        let isDots = bytes == [46] || bytes == [46, 46]
        var name: [UInt8] = []
        for byte in bytes {
            if byte < 32 || byte == 127 || byte == 37 || byte == 47 || byte == 58 && !keepsColons || isDots {
                name += Array("%".utf8) + Array(String(byte >> 4, radix: 16, uppercase: true).utf8)
                name += Array(String(byte & 15, radix: 16, uppercase: true).utf8)
            } else {
                name.append(byte)
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// The bytes a name stands for; nil where a `%` is followed by no two hexadecimal digits.
    package static func decode(_ name: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == 37 else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
