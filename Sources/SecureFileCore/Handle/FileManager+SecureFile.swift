import FoundationEssentials

// AppConnect's additions to NSFileManager. With another service than the shared one: ``SecureFiles``.
extension FileManager {
    /// Makes a secure file, or gives one that is there a new content in one step.
    ///
    /// - Parameters:
    ///   - contents: Nil: none.
    ///   - attributes: `.posixPermissions` counts, for a new file; others mean nothing here.
    /// - Throws: ``SecureFileError``: as ``SecureFiles/write(_:to:atomically:overwriting:permissions:)``.
    public func createSecureFile(
        atPath path: String, contents: Data? = nil, attributes: [FileAttributeKey: Any]? = nil, services: SecureServices = .shared
    ) throws(SecureFileError) {
        let asked = attributes?[.posixPermissions]
        let permissions = (asked as? Int).flatMap { UInt32(exactly: $0) } ?? asked as? UInt32 ?? SecureFiles.standardPermissions
        try SecureFiles(services).write(contents ?? Data(), to: path, atomically: true, permissions: permissions & 0o7777)
    }

    /// Copies a secure file.
    ///
    /// - Throws: ``SecureFileError``: as ``SecureFiles/copy(_:to:)``.
    public func copySecureFile(atPath source: String, toPath target: String, services: SecureServices = .shared) throws(SecureFileError) {
        try SecureFiles(services).copy(source, to: target)
    }

    /// Copies a secure file; as ``copySecureFile(atPath:toPath:services:)``.
    public func copySecureFile(at source: URL, to target: URL, services: SecureServices = .shared) throws(SecureFileError) {
        try SecureFiles(services).copy(try source.securePath(), to: try target.securePath())
    }

    /// Moves a secure file.
    ///
    /// - Throws: ``SecureFileError``: as ``SecureFiles/move(_:to:)``.
    public func moveSecureFile(atPath source: String, toPath target: String, services: SecureServices = .shared) throws(SecureFileError) {
        try SecureFiles(services).move(source, to: target)
    }

    /// Moves a secure file; as ``moveSecureFile(atPath:toPath:services:)``.
    public func moveSecureFile(at source: URL, to target: URL, services: SecureServices = .shared) throws(SecureFileError) {
        try SecureFiles(services).move(try source.securePath(), to: try target.securePath())
    }
}
