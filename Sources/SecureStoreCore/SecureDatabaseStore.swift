import SecureFileCore

/// An encrypted SQLite database. Safe to use from several threads and several processes.
///
/// Everything SQLite writes, its journal and temporary files included, is sealed by the file engine of SecureFS; the random key lies in key slots
/// beside the database, so changing the passphrase rewrites no data.
public final class SecureDatabaseStore: @unchecked Sendable {
    /// Where a store is: a name in the folder of stores, or a path.
    enum Place: Sendable {
        case named(String)
        case path(String)
        case inFolder(StoreFolder, [UInt8])
    }

    /// The name of the store that is given none.
    public static let defaultDatabaseFileName = "SecureStore.db"

    let place: Place
    /// What a guess at the passphrase costs, in slots that are made from now on.
    let keyDerivation: Argon2Parameters
    /// Held over every call; the thread that holds it may call again.
    let lock = RecursiveLock()

    // Protected by `lock`.
    var connection: SQLiteConnection?
    var keys: StoreKeys?
    var files: StoreFiles?
    /// How deep transactions of this store are nested.
    var transactionDepth = 0

    /// The default store: `SecureStore.db` in the open vault's stores (``StoreLocation``), else in the user's data folder.
    public convenience init() { self.init(databaseFileName: Self.defaultDatabaseFileName) }

    /// A store by its name. In a vault it is a name only, and encrypted: 1 to 160 bytes without `/`.
    public init(databaseFileName: String, keyDerivation: Argon2Parameters = .standard) {
        place = .named(databaseFileName)
        self.keyDerivation = keyDerivation
    }

    /// A store anywhere, by the path of its database; the folder must exist.
    public init(fullDatabasePath: String, keyDerivation: Argon2Parameters = .standard) {
        place = .path(fullDatabasePath)
        self.keyDerivation = keyDerivation
    }

    /// A store in a folder at hand.
    package init(in folder: StoreFolder, name: [UInt8], keyDerivation: Argon2Parameters = .standard) {
        place = .inFolder(folder, name)
        self.keyDerivation = keyDerivation
    }

    deinit { connection?.close() }

    // MARK: State

    /// Whether the store is open.
    public func isOpen() -> Bool { lock.withLock { connection != nil } }

    /// Closes the store. Result sets end; an open transaction is rolled back. A second call does nothing.
    public func close() {
        lock.withLock {
            connection?.close()
            (connection, keys, files) = (nil, nil, nil)
            transactionDepth = 0
        }
    }

    /// Whether there is such a store; it need not be open.
    ///
    /// - Throws: `.openFailed` where that cannot be told.
    public func exists() throws(SecureStorageError) -> Bool {
        try lock.withLock { () throws(SecureStorageError) in
            try Self.opening { () throws(SecureFileError) in try StoreKeys.state(of: try locate().files) == .present }
        }
    }

    func locate() throws(SecureFileError) -> (folder: StoreFolder, files: StoreFiles) {
        let (folder, name): (StoreFolder, [UInt8])
        switch place {
        case .named(let text): (folder, name) = (try StoreLocation.folder(), Array(text.utf8))
        case .inFolder(let given, let bytes): (folder, name) = (given, bytes)
        case .path(let path):
            let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            guard let last = parts.last, !last.isEmpty else { throw SecureFileError(.invalidArgument, "the path names no file", path: path) }
            let parent = path.utf8.dropLast(last.count)
            (folder, name) = (try StoreFolder(RawPath(parent.count > 1 ? Array(parent.dropLast()) : Array(parent))), Array(last))
        }
        return (folder, try folder.files(of: name))
    }

    /// The connection, for one call.
    func open() throws(SecureStorageError) -> SQLiteConnection {
        guard let connection else { throw .closed }
        return connection
    }

    // MARK: Errors

    /// Runs a part of opening: a wrong key, damage and everything else are told apart.
    static func opening<R>(_ body: () throws(SecureFileError) -> R) throws(SecureStorageError) -> R {
        do throws(SecureFileError) { return try body() } catch {
            switch error.code {
            case .wrongKey: throw .authenticationFailed(message: error.description)
            case .invalidArgument where error.cause == nil: throw .authenticationFailed(message: error.description)
            default: throw .openFailed(code: Int(ResultCode(opening: error).rawValue), message: error.description)
            }
        }
    }
}

extension ResultCode {
    /// What a failure to open a store is to SQLite.
    init(opening error: SecureFileError) {
        let code = ResultCode(error)
        self = code == .inputOutput && error.code != .system ? .cannotOpen : code
    }
}
