import SecureFileCore

extension SecureDatabaseStore {
    /// Opens the store with a passphrase; one that does not exist is made. In a vault that is open, the vault's key gets a slot as well, so that the
    /// mount can show the store; a store that was made through the mount gets this passphrase.
    ///
    /// Opening a store that is open only checks the passphrase.
    /// - Parameter encryptionKey: 1 to 4096 bytes of UTF-8, no NUL or newline.
    /// - Throws: `.authenticationFailed` for a wrong or impossible passphrase; `.openFailed` with SQLite's code: 11 where key slots or database
    ///   are damaged, 14 where one of them is missing, 26 where the file is none of ours. Nothing is ever replaced by an empty store.
    public func open(with encryptionKey: String) throws(SecureStorageError) {
        try open(.passphrase(Array(encryptionKey.utf8)))
    }

    /// Opens the store with the key of the vault it lies in; one that does not exist is made.
    ///
    /// - Throws: as ``open(with:)-(String)``; `.authenticationFailed` outside of a vault.
    public func openWithVaultKey() throws(SecureStorageError) { try open(nil) }

    /// Opens the store with a key that the caller keeps: 32 bytes to 1 MiB.
    public func open(withKeyFile content: [UInt8]) throws(SecureStorageError) { try open(.keyFile(content)) }

    private func open(_ given: Credential?) throws(SecureStorageError) {
        try lock.withLock { () throws(SecureStorageError) in
            let (folder, files) = try Self.opening { () throws(SecureFileError) in try locate() }
            let keys = try unlock(given, folder, files)
            if connection != nil { return }
            let connection = try connect(files, keys, isWritable: true)
            do throws(SecureStorageError) { try check(connection) } catch {
                connection.close()
                throw error
            }
            (self.connection, self.keys, self.files) = (connection, keys, files)
        }
    }

    /// The keys of the store, which is made where there is none.
    private func unlock(_ given: Credential?, _ folder: StoreFolder, _ files: StoreFiles) throws(SecureStorageError) -> StoreKeys {
        var credentials: [Credential] = given.map { [$0] } ?? []
        let secret = try Self.opening { () throws(SecureFileError) in
            for credential in credentials { try credential.check() }
            return try folder.vaultSecret()
        }
        if let secret { credentials.append(.keyFile(secret)) }
        if credentials.isEmpty { throw .authenticationFailed(message: "the store is in no open vault: it needs a passphrase") }
        if try Self.opening({ () throws(SecureFileError) in try StoreKeys.state(of: files) }) != .present || !files.exists(files.database) {
            if let made = try create(files, credentials) { return made }
        }
        return try Self.opening { () throws(SecureFileError) in try openSlots(files, given, secret) }
    }

    private func openSlots(_ files: StoreFiles, _ given: Credential?, _ secret: [UInt8]?) throws(SecureFileError) -> StoreKeys {
        guard let given else { return try StoreKeys.open(files, secret.map { [.keyFile($0)] } ?? []) }
        do throws(SecureFileError) { return try StoreKeys.open(files, [given]) } catch {
            // Made through the mount: the vault's owner, who is here, gives it its first passphrase.
            guard error.code == .wrongKey, let secret, case .passphrase(let passphrase) = given,
                let keys = try? StoreKeys.open(files, [.keyFile(secret)]), try !keys.hasPassphrase()
            else { throw error }
            try keys.setPassphrase(passphrase, keyDerivation)
            return keys
        }
    }

    func connect(_ files: StoreFiles, _ keys: StoreKeys, isWritable: Bool) throws(SecureStorageError) -> SQLiteConnection {
        let system = try Self.opening { () throws(SecureFileError) in
            try StoreFileSystem(files, keys, isWritable: isWritable, log: StoreLog.shared.note)
        }
        return try SQLiteConnection(system, isWritable: isWritable)
    }

    /// A store that was made holds a page at least: one that is empty was cut.
    private func check(_ connection: SQLiteConnection) throws(SecureStorageError) {
        do throws(SecureStorageError) {
            if try connection.first("PRAGMA page_count") != [.integer(0)] { return }
        } catch {
            guard case .backingStoreError(let code, let message) = error else { throw error }
            throw .openFailed(code: code, message: message)
        }
        throw .openFailed(code: Int(ResultCode.corrupt.rawValue), message: "the database was cut to nothing")
    }

    // MARK: Making

    static let applicationID: Int64 = 0x5346_5331  // "SFS1"

    /// Makes the store, or what is missing of one whose making was interrupted; nil where another process has made it meanwhile.
    private func create(_ files: StoreFiles, _ credentials: [Credential]) throws(SecureStorageError) -> StoreKeys? {
        try make(files, credentials) { (connection) throws(SecureStorageError) in
            try connection.run("PRAGMA application_id = \(Self.applicationID)")
        }
    }

    /// Makes key slots, and a database that `fill` fills, which gets its name when it is whole and durable.
    func make(
        _ files: StoreFiles, _ credentials: [Credential], _ fill: (SQLiteConnection) throws(SecureStorageError) -> Void,
        verifying check: ((SQLiteConnection) throws(SecureStorageError) -> Void)? = nil
    ) throws(SecureStorageError) -> StoreKeys? {
        let guardian = try Self.opening { () throws(SecureFileError) in try StoreKeys.guardian(of: files) }
        defer { guardian.end() }
        let state = try Self.opening { () throws(SecureFileError) in try StoreKeys.state(of: files) }
        if state == .destroyed { try Self.opening { () throws(SecureFileError) in try Self.finishDestruction(files) } }
        let hasDatabase = files.exists(files.database)
        if state == .present, hasDatabase { return nil }
        if state == .missing, hasDatabase {
            throw .openFailed(
                code: Int(ResultCode.cannotOpen.rawValue), message: "\(files.path): its key slots (….keys) are missing: restore them from a backup")
        }
        let keys = try Self.opening { () throws(SecureFileError) in
            state == .present
                ? try StoreKeys.open(files, credentials) : try StoreKeys.create(files, credentials, keyDerivation)
        }
        let temporary = try Self.opening { () throws(SecureFileError) in
            let temporary = try files.temporary()
            try temporary.makeEmptyDatabase()
            return temporary
        }
        do throws(SecureStorageError) {
            try withConnection(to: temporary, keys, fill)
            if let check { try withConnection(to: temporary, keys, check) }
        } catch {
            if state != .present { try? temporary.removeIfThere(files.keys) }
            try? temporary.removeIfThere(temporary.database)
            try? temporary.removeIfThere(temporary.journal)
            throw error
        }
        try Self.opening { () throws(SecureFileError) in try temporary.giveName(of: files) }
        return keys
    }

    private func withConnection(
        to files: StoreFiles, _ keys: StoreKeys, _ body: (SQLiteConnection) throws(SecureStorageError) -> Void
    ) throws(SecureStorageError) {
        let connection = try connect(files, keys, isWritable: true)
        defer { connection.close() }
        try body(connection)
    }
}
