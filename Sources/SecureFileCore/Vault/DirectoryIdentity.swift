/// The id of a directory, in its file `sfs.dir` and in an attribute. FORMAT section 5.2.
enum DirectoryIdentity {
    static let length = 32

    static func makeID() throws(CryptoFailure) -> DirectoryID { DirectoryID(bytes: try RandomBytes.make(16)) }

    /// The id, then the tag.
    static func encode(_ id: DirectoryID, _ key: SecretKey) throws(CryptoFailure) -> [UInt8] {
        id.bytes + (try Hashing.hmac(key, id.bytes)).prefix(16)
    }

    /// Nil where length or tag do not fit.
    static func decode(_ content: [UInt8], _ key: SecretKey) throws(CryptoFailure) -> DirectoryID? {
        guard content.count == length else { return nil }
        let id = DirectoryID(bytes: Array(content.prefix(16)))
        return try encode(id, key).equalsInConstantTime(content) ? id : nil
    }

    /// Gives the new directory `descriptor` its id. Where the filesystem takes the attribute it becomes durable with the directory; where
    /// not, the file is synced here.
    static func write(_ id: DirectoryID, _ key: SecretKey, to descriptor: FileDescriptor) throws(Errno) {
        let content: [UInt8]
        do { content = try encode(id, key) } catch { throw .inputOutput }
        var isAttributeRefused = false
        do throws(Errno) { try descriptor.setExtendedAttribute(ReservedNames.directoryAttribute, content) } catch {
            isAttributeRefused = true
        }
        let file = try descriptor.open(ReservedNames.directoryID, [.writeOnly, .create, .exclusive, .noFollow], permissions: 0o644)
        try file.writeStream(content)
        if isAttributeRefused {
            try file.synchronize()
            try descriptor.synchronize()
        }
        try file.close()
    }

    /// The id of the directory `descriptor`: the file's, or the attribute's where the file is missing or does not verify; then the file is
    /// restored, if the vault is open for writing.
    ///
    /// - Throws: ``SecureFileError``: `.damaged` where neither verifies, `.system`.
    static func read(_ descriptor: FileDescriptor, _ codec: VaultCodec, path: String) throws(SecureFileError) -> DirectoryID {
        let file: [UInt8]
        var failure: Errno?
        do throws(Errno) {
            file = try AtomicFile.readPlausible(ReservedNames.directoryID, in: descriptor, limit: length) ?? []
        } catch {
            // No permission to look into the directory, or a failing disk.
            (file, failure) = ([], error)
        }
        do {
            let key = try codec.directoryKey()
            if let id = try decode(file, key) { return id }
            let attribute = (try? descriptor.extendedAttribute(ReservedNames.directoryAttribute)) ?? []
            if let id = try decode(attribute, key) {
                if codec.isWritable, failure == nil {
                    try? AtomicFile.replace(ReservedNames.directoryID, in: descriptor, with: attribute, permissions: 0o644)
                }
                return id
            }
        } catch { throw SecureFileError(error, "a directory's id cannot be checked", path: path) }
        if let failure { throw SecureFileError(failure, "a directory's id cannot be read", path: path) }
        throw SecureFileError(
            .damaged, "the directory has lost its id: sfs.dir is missing or damaged; restore it from a backup", path: path)
    }
}
