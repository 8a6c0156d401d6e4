import SecureFileCore

/// The end of stores, and their keys.
extension SecureDatabaseStore {
    /// Gives the store another passphrase in the place of the old one. Nothing is encrypted anew: the time does not depend on the size of the
    /// store. After a crash at any moment the old or the new passphrase opens it. Other processes that have the store open go on.
    ///
    /// - Throws: `.closed`; `.encryptionKeyChangeFailed`: the old passphrase stays.
    public func changeEncryptionKey(with newKey: String) throws(SecureStorageError) {
        try lock.withLock { () throws(SecureStorageError) in
            guard connection != nil, let keys else { throw .closed }
            do throws(SecureFileError) {
                let passphrase = Array(newKey.utf8)
                try Credential.passphrase(passphrase).check()
                try keys.setPassphrase(passphrase, keyDerivation)
            } catch {
                throw .encryptionKeyChangeFailed(code: Int(ResultCode(opening: error).rawValue), message: error.description)
            }
        }
    }

    /// Closes the store and destroys it: its key first, after which nothing that is left or lies in a backup of the database can be read without a
    /// backup of the key slots; then its files. It need not be open, or openable. Destroying what does not exist does nothing.
    ///
    /// After a crash the store is there as it was, or the next ``open(with:)-(String)`` or `destroy()` finishes the destruction.
    /// - Throws: `.backingStoreError`.
    public func destroy() throws(SecureStorageError) {
        try lock.withLock { () throws(SecureStorageError) in
            close()
            do throws(SecureFileError) {
                let files = try locate().files
                let guardian = try StoreKeys.guardian(of: files)
                defer { guardian.end() }
                if try StoreKeys.state(of: files) == .missing, !files.exists(files.database) { return }
                try StoreKeys.destroy(files)
                try Self.finishDestruction(files)
            } catch { throw .backingStoreError(code: Int(ResultCode(opening: error).rawValue), message: error.description) }
        }
    }

    /// Removes the files of a store whose key is gone, the mark of that last.
    static func finishDestruction(_ files: StoreFiles) throws(SecureFileError) {
        try files.removeIfThere(files.journal)
        try files.removeIfThere(files.database)
        try files.synchronizeFolder()
        try files.removeIfThere(files.keys)
        try files.synchronizeFolder()
    }

    /// Looks at every page of the database. Empty: it is sound.
    ///
    /// - Returns: What is wrong, a line for each finding.
    /// - Throws: `.closed`, or `.backingStoreError` where it cannot be looked at further.
    public func verify() throws(SecureStorageError) -> [String] {
        try lock.withLock { () throws(SecureStorageError) in
            let connection = try open()
            let lines = try connection.all("PRAGMA integrity_check").map { row in String(sqliteValue: row.first ?? .null) ?? "" }
            return lines == ["ok"] ? [] : lines
        }
    }
}
