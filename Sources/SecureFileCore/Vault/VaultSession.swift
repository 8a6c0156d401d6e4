/// The session record of a vault on the disk. FORMAT section 8.
enum VaultSession {
    /// The record of the vault whose root is `folder`.
    ///
    /// - Throws: ``SecureFileError``: `.damaged` for another length, form or tag.
    static func read(_ folder: FileDescriptor, _ keys: VolumeKeys, path: String) throws(SecureFileError) -> SessionRecord {
        let content = try explained("the session record cannot be read", path: path) { () throws(Errno) in
            try AtomicFile.readPlausible(ReservedNames.session, in: folder, limit: SessionRecord.lengthMaximum)
        }
        guard let content else { return .empty }
        guard content.count > SessionRecord.tagLength else { throw damage(path) }
        let body = Array(content.dropLast(SessionRecord.tagLength))
        let tag = Array(content.suffix(SessionRecord.tagLength))
        let expected: [UInt8]
        do { expected = try Hashing.hmac(keys.sessionKey, body) } catch {
            throw SecureFileError(error, "the session record cannot be checked")
        }
        guard expected.equalsInConstantTime(tag), let record = SessionRecord(body: body) else { throw damage(path) }
        return record
    }

    private static func damage(_ path: String) -> SecureFileError {
        SecureFileError(
            .damaged, "the session record sfs.session is damaged: restore it from a backup, or remove it and run a check", path: path)
    }

    /// Replaces the record, durably.
    static func write(_ record: SessionRecord, _ folder: FileDescriptor, _ keys: VolumeKeys, path: String) throws(SecureFileError) {
        try write(sealed: try seal(record, keys), folder, path: path)
    }

    /// The record with its tag, as it goes to the disk.
    static func seal(_ record: SessionRecord, _ keys: VolumeKeys) throws(SecureFileError) -> [UInt8] {
        let body = record.body
        do { return body + (try Hashing.hmac(keys.sessionKey, body)) } catch {
            throw SecureFileError(error, "the session record cannot be made")
        }
    }

    /// Replaces the record by one that ``seal(_:_:)`` gave.
    static func write(sealed: [UInt8], _ folder: FileDescriptor, path: String) throws(SecureFileError) {
        try explained("the session record cannot be written", path: path) { () throws(Errno) in
            try SpareFile.replace(ReservedNames.session, in: folder, with: sealed, permissions: 0o600)
        }
    }

    /// Opens a session for writing: what was open before died. The caller holds the vault's lock.
    ///
    /// - Returns: the record as it is on the disk now.
    /// - Throws: `.limitExceeded` where too many sessions died since the last check.
    static func begin(_ folder: FileDescriptor, _ keys: VolumeKeys, path: String) throws(SecureFileError) -> SessionRecord {
        var record = try read(folder, keys, path: path)
        if record.open != .none {
            guard record.dead.count < SessionRecord.deadMaximum else {
                throw SecureFileError(
                    .limitExceeded, "\(record.dead.count) sessions ended without a close: run a check of the vault", path: path)
            }
            record.dead.append(record.open)
            // What this process reads from the cache must not be lost later by what took the other one down.
            try explained("the vault's filesystem cannot be synced", path: path) { () throws(Errno) in try folder.synchronizeFilesystem() }
        }
        do { record.open = try SessionID.random() } catch { throw SecureFileError(error, "a session cannot be opened", path: path) }
        try write(record, folder, keys, path: path)
        return record
    }
}
