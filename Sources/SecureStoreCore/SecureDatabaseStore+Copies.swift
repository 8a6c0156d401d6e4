import SecureFileCore

/// From plaintext, and to it.
extension SecureDatabaseStore {
    /// Makes the store with the content of a plaintext SQLite database, and opens it.
    ///
    /// The store must not exist yet. It gets its name only when the copy is whole, durable and verified: `PRAGMA integrity_check`, the same
    /// schema, and the same number of rows in each table. The plaintext is left as it is unless `removingPlaintext`: then the database and what
    /// SQLite keeps beside it are removed afterwards (their bytes stay on the disk until overwritten).
    /// - Throws: `.openFailed` where the store exists or the plaintext cannot be read; as ``open(with:)-(String)``; `.backingStoreError`.
    public func migrate(
        fromPlaintextDatabaseAt path: String, with encryptionKey: String, removingPlaintext: Bool = false
    ) throws(SecureStorageError) {
        try lock.withLock { () throws(SecureStorageError) in
            if connection != nil { throw .openFailed(code: Int(ResultCode.misuse.rawValue), message: "the store is open already") }
            let (folder, files) = try Self.opening { () throws(SecureFileError) in try locate() }
            var credentials: [Credential] = [.passphrase(Array(encryptionKey.utf8))]
            let secret = try Self.opening { () throws(SecureFileError) in
                try credentials[0].check()
                return try folder.vaultSecret()
            }
            if let secret { credentials.append(.keyFile(secret)) }
            let source = try SQLiteConnection(plaintextDatabaseAt: path, isWritable: false)
            defer { source.close() }
            let made = try make(files, credentials) { (copy) throws(SecureStorageError) in
                try copy.copyAll(from: source)
                copy.close()
            } verifying: { (copy) throws(SecureStorageError) in
                try Self.compare(copy, source)
            }
            guard made != nil else {
                throw .openFailed(code: Int(ResultCode.misuse.rawValue), message: "there is such a store already")
            }
            source.close()
            if removingPlaintext { Self.removePlaintext(path) }
            try open(with: encryptionKey)
        }
    }

    private static func compare(_ copy: SQLiteConnection, _ source: SQLiteConnection) throws(SecureStorageError) {
        let corrupt = Int(ResultCode.corrupt.rawValue)
        guard try copy.all("PRAGMA integrity_check") == [[.text("ok")]] else {
            throw .backingStoreError(code: corrupt, message: "the copy is not sound, as the plaintext may be")
        }
        let schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2"
        let objects = try source.all(schema)
        guard try copy.all(schema) == objects else { throw .backingStoreError(code: corrupt, message: "the copy has another schema") }
        for object in objects where object[0] == .text("table") {
            guard case .text(let name) = object[1] else { continue }
            let count = "SELECT count(*) FROM \(SQLName.quoted(name))"
            guard try copy.first(count) == source.first(count) else {
                throw .backingStoreError(code: corrupt, message: "the copy has another number of rows in a table")
            }
        }
    }

    private static func removePlaintext(_ path: String) {
        guard let folder = try? FileDescriptor.open(RawPath("."), [.readOnly, .directory]) else { return }
        for ending in ["", "-journal", "-wal", "-shm"] { try? folder.remove(RawPath(path + ending)) }
    }

    /// Copies the whole content into a new plaintext database.
    ///
    /// - Throws: `.closed`; `.backingStoreError`, with SQLite's code 14 where there is a file of that name.
    public func export(toPlaintextDatabaseAt path: String) throws(SecureStorageError) {
        try withConnection { (connection) throws(SecureStorageError) in
            do throws(Errno) {
                try FileDescriptor.open(RawPath(path), [.writeOnly, .create, .exclusive], permissions: 0o600).close()
            } catch {
                throw .backingStoreError(code: Int(ResultCode.cannotOpen.rawValue), message: "\(path): \(error)")
            }
            let target = try SQLiteConnection(plaintextDatabaseAt: path, isWritable: true)
            defer { target.close() }
            try target.copyAll(from: connection)
        }
    }
}

/// Names in SQL text.
package enum SQLName {
    package static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}
