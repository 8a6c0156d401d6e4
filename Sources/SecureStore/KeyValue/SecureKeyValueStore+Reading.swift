import Foundation

extension SecureKeyValueStore {
    // MARK: Objects

    /// The object of `key`; nil where there is none. With secure coding `T` is the only class allowed, with its subclasses.
    ///
    /// - Throws: `.typeConversionFailed` where the value is none, or of another class; the log says why.
    public func get<T>(_ key: String) throws -> T? where T: NSCoding {
        let classes: [AnyClass]? = requiresSecureCoding ? (T.self as? AnyClass).map { [$0] } ?? [] : nil
        return try decode(key, classes)
    }

    /// The object of `key`, or `defaultValue` where there is none.
    public func get<T>(_ key: String, defaultValue: T) throws -> T? where T: NSCoding { try get(key) ?? defaultValue }

    /// The object of `key`; nil where there is none.
    ///
    /// - Parameter allowedClasses: All classes that may occur in it, containers included.
    /// - Throws: `.typeConversionFailed` where the value is none, or a class occurs that is not listed; the log says which.
    public func get<T>(_ key: String, allowedClasses: [AnyClass]) throws -> T? { try decode(key, allowedClasses) }

    /// The object of `key`, or `defaultValue` where there is none.
    public func get<T>(_ key: String, defaultValue: T, allowedClasses: [AnyClass]) throws -> T? {
        try decode(key, allowedClasses) ?? defaultValue
    }

    private func decode<T>(_ key: String, _ classes: [AnyClass]?) throws -> T? {
        guard let row = try table.get(key) else { return nil }
        guard row.type == .archive, let data = Data(sqliteValue: row.value) else {
            throw conversionFailed(key, "a value that is not an archived object was read as \(T.self)")
        }
        let object: NSObject
        do { object = try SecureArchive.decode(data, classes, isSecure: requiresSecureCoding) } catch {
            throw conversionFailed(key, error.description)
        }
        guard let value: T = SwiftValue.cast(object) else {
            throw conversionFailed(key, "an object of class \(SecureClassNames.plainName(of: type(of: object))) was read as \(T.self)")
        }
        return value
    }

    // MARK: Plain values

    /// The plain value of `key`; nil where there is none.
    ///
    /// - Throws: `.typeConversionFailed` where it is of another type. Whole numbers, real numbers and truth values are read as each other where
    ///   nothing is lost; text can be read as data.
    public func get<T>(_ key: String) throws -> T? where T: SQLiteDatatypeBridgeable {
        guard let row = try table.get(key) else { return nil }
        let isPlain = row.type != .archive && row.type != .codable
        guard isPlain, Self.fits(row.type, T.storedType), let value = T(sqliteValue: row.value) else {
            throw conversionFailed(key, "a value of another type was read as \(T.self)")
        }
        return value
    }

    /// The plain value of `key`, or `defaultValue` where there is none.
    public func get<T>(_ key: String, defaultValue: T) throws -> T where T: SQLiteDatatypeBridgeable { try get(key) ?? defaultValue }

    private static func fits(_ stored: StoredType, _ wanted: StoredType) -> Bool {
        if stored == wanted { return true }
        let numbers: Set<StoredType> = [.integer, .real, .boolean]
        return numbers.contains(stored) && numbers.contains(wanted) || stored == .text && wanted == .data
    }

    public func getString(_ key: String) throws -> String? { try get(key) }
    public func getData(_ key: String) throws -> Data? { try get(key) }
    public func getInt(_ key: String) throws -> Int? { try get(key) }
    public func getInt64(_ key: String) throws -> Int64? { try get(key) }
    public func getDouble(_ key: String) throws -> Double? { try get(key) }
    public func getFloat(_ key: String) throws -> Float? { try get(key) }
    public func getBool(_ key: String) throws -> Bool? { try get(key) }
    public func getDate(_ key: String) throws -> Date? { try get(key) }

    // MARK: Codable values

    /// The `Codable` value of `key`; nil where there is none.
    public func get<T>(codable type: T.Type = T.self, forKey key: String) throws -> T? where T: Decodable {
        guard let row = try table.get(key) else { return nil }
        guard row.type == .codable, let data = Data(sqliteValue: row.value) else {
            throw conversionFailed(key, "a value that is not Codable was read as \(T.self)")
        }
        do { return try PlistCoder().decode(type, from: data) } catch { throw conversionFailed(key, "\(Swift.type(of: error))") }
    }
}

extension SecureKeyValueStore: DataStoring {
    public func put(data: Data, for key: String) throws { try put(data, forKey: key) }
    public func data(for key: String) throws -> Data? { try getData(key) }
    public func removeData(for key: String) throws { try remove(key) }
}
