import FoundationEssentials
import Synchronization

// AppConnect's constructors for a key that several apps share, named by a group id. Here a group is a service of its own: whoever has the
// group's key registers the service that holds it. A group without one has no key: `.keyAbsent`.
extension SecureServices {
    private static let groups = Mutex<[String: SecureServices]>([:])

    /// Has `services` hold the key of the encryption group `id`, for handles that are opened from now on; nil: the group has no key any more.
    public static func setServices(_ services: SecureServices?, forEncryptionGroupId id: String) {
        let former = groups.withLock { groups in
            defer { groups[id] = services }
            return groups[id]
        }
        _ = former  // freed here, outside of the lock
    }

    /// Who holds the key of the encryption group `id`.
    ///
    /// - Throws: ``SecureFileError``: `.keyAbsent`.
    public static func services(forEncryptionGroupId id: String) throws(SecureFileError) -> SecureServices {
        if let services = groups.withLock({ $0[id] }) { return services }
        throw SecureFileError(.keyAbsent, "no key has been given for this encryption group: SecureServices.setServices registers one")
    }
}

extension SecureFileHandle {
    /// Opens a file under the key of an encryption group.
    ///
    /// - Throws: ``SecureFileError``: `.keyAbsent` for an unknown group; as ``init(opening:for:services:)``.
    public convenience init(opening path: String, for mode: Mode, withEncryptionGroupId id: String) throws(SecureFileError) {
        try self.init(opening: path, for: mode, services: try SecureServices.services(forEncryptionGroupId: id))
    }

    /// Opens the file at `path` for reading, under the key of an encryption group; nil where that fails.
    public convenience init?(forReadingAtPath path: String, withEncryptionGroupId id: String) {
        try? self.init(opening: path, for: .reading, withEncryptionGroupId: id)
    }

    /// Opens the file at `path` for writing, under the key of an encryption group; nil where that fails.
    public convenience init?(forWritingAtPath path: String, withEncryptionGroupId id: String) {
        try? self.init(opening: path, for: .writing, withEncryptionGroupId: id)
    }

    /// Opens the file at `path` for reading and writing, under the key of an encryption group; nil where that fails.
    public convenience init?(forUpdatingAtPath path: String, withEncryptionGroupId id: String) {
        try? self.init(opening: path, for: .updating, withEncryptionGroupId: id)
    }

    /// As ``init(forReadingAtPath:withEncryptionGroupId:)``; `error` says why it failed.
    public convenience init?(forReadingAtPath path: String, withEncryptionGroupId id: String, error: inout (any Error)?) {
        do throws(SecureFileError) { try self.init(opening: path, for: .reading, withEncryptionGroupId: id) } catch let failure {
            error = failure
            return nil
        }
    }

    /// As ``init(forWritingAtPath:withEncryptionGroupId:)``; `error` says why it failed.
    public convenience init?(forWritingAtPath path: String, withEncryptionGroupId id: String, error: inout (any Error)?) {
        do throws(SecureFileError) { try self.init(opening: path, for: .writing, withEncryptionGroupId: id) } catch let failure {
            error = failure
            return nil
        }
    }

    /// As ``init(forUpdatingAtPath:withEncryptionGroupId:)``; `error` says why it failed.
    public convenience init?(forUpdatingAtPath path: String, withEncryptionGroupId id: String, error: inout (any Error)?) {
        do throws(SecureFileError) { try self.init(opening: path, for: .updating, withEncryptionGroupId: id) } catch let failure {
            error = failure
            return nil
        }
    }

    /// Opens the file at `url` for reading, under the key of an encryption group.
    ///
    /// - Throws: as ``init(opening:for:withEncryptionGroupId:)``.
    public convenience init(forReadingFrom url: URL, withEncryptionGroupId id: String) throws(SecureFileError) {
        try self.init(forReadingFrom: url, services: try SecureServices.services(forEncryptionGroupId: id))
    }

    /// Opens the file at `url` for writing, under the key of an encryption group.
    ///
    /// - Throws: as ``init(opening:for:withEncryptionGroupId:)``.
    public convenience init(forWritingTo url: URL, withEncryptionGroupId id: String) throws(SecureFileError) {
        try self.init(forWritingTo: url, services: try SecureServices.services(forEncryptionGroupId: id))
    }

    /// Opens the file at `url` for reading and writing, under the key of an encryption group.
    ///
    /// - Throws: as ``init(opening:for:withEncryptionGroupId:)``.
    public convenience init(forUpdating url: URL, withEncryptionGroupId id: String) throws(SecureFileError) {
        try self.init(forUpdating: url, services: try SecureServices.services(forEncryptionGroupId: id))
    }
}
