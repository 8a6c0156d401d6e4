import CSQLite
import SecureFileCore
import Synchronization

/// The SQLite VFS of one connection: the files of one store, all of them sealed. FORMAT section 15.
///
/// SQLite knows the database as `/store` and its journal as `/store-journal`; no other name can be opened. Temporary files have no name, on the
/// disk neither, and a key of their own that is never stored.
@safe
final class StoreFileSystem: @unchecked Sendable {
    static let databaseName = "/store"
    static let journalName = "/store-journal"

    private let files: StoreFiles
    private let content: ContentContext
    private let isWritable: Bool
    /// The name the VFS is registered under.
    let name: String
    private let vfs: UnsafeMutablePointer<sqlite3_vfs>
    private let cName: UnsafeMutablePointer<CChar>
    private let lastFailure = Mutex<SecureFileError?>(nil)
    private static let counter = Atomic<UInt64>(0)

    /// - Parameter keys: of the store.
    init(_ files: StoreFiles, _ keys: StoreKeys, isWritable: Bool, log: @escaping @Sendable (String) -> Void) throws(SecureFileError) {
        self.files = files
        self.isWritable = isWritable
        content = ContentContext(
            standaloneFilesUnder: keys.keys.contentKey, keyID: keys.keys.keyID, cipher: keys.cipher, options: Self.options, log: log)
        name = "sfs-\(Self.counter.add(1, ordering: .relaxed).newValue)"
        guard let system = unsafe sqlite3_vfs_find(nil) else {
            throw SecureFileError(.system, "SQLite has no system interface", path: files.path, cause: .noMemory)
        }
        let characters = name.utf8CString
        unsafe cName = UnsafeMutablePointer.allocate(capacity: characters.count)
        for (place, character) in characters.enumerated() { unsafe (cName + place).initialize(to: character) }
        unsafe vfs = UnsafeMutablePointer.allocate(capacity: 1)
        // Clock, sleep and random numbers are the system VFS's own.
        unsafe vfs.initialize(to: system.pointee)
        unsafe configure()
        unsafe sqlite3_vfs_register(vfs, 0)
    }

    @unsafe
    private func configure() {
        unsafe vfs.pointee.iVersion = 2
        unsafe vfs.pointee.szOsFile = Int32(MemoryLayout<CSQLite_file>.size)
        unsafe vfs.pointee.mxPathname = 512
        unsafe vfs.pointee.pNext = nil
        unsafe vfs.pointee.zName = UnsafePointer(cName)
        unsafe vfs.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
        unsafe StoreFileSystemCalls.install(in: &vfs.pointee)
    }

    deinit {
        unsafe sqlite3_vfs_unregister(vfs)
        unsafe vfs.deallocate()
        unsafe cName.deallocate()
    }

    private static var options: ContentContext.Options {
        var options = ContentContext.Options()
        // SQLite has a page cache of its own.
        options.cachedGroupsPerFile = 512
        options.pendingLimitPerFile = 32 << 20
        return options
    }

    // MARK: What SQLite asks for

    func openDatabase() throws(SecureFileError) -> StoreFile {
        let file = try open(files.database, isWritable ? .readWrite : .readOnly)
        return try StoreFile(.database, file, content, path: files.path)
    }

    /// - Parameter creating: It may be missing.
    func openJournal(creating: Bool) throws(SecureFileError) -> StoreFile {
        let isNew = creating && !files.exists(files.journal)
        let file = try open(files.journal, isWritable ? (creating ? [.readWrite, .create] : .readWrite) : .readOnly)
        return try StoreFile(.journal, file, content, path: files.path + " (journal)", folderToSync: isNew ? files.directory : nil)
    }

    /// A file without a name, under a key that lives as long as it is open.
    func openTemporary() throws(SecureFileError) -> StoreFile {
        let file: FileDescriptor
        do throws(Errno) {
            file = try unnamedFile()
        } catch { throw SecureFileError(error, "no temporary file can be made", path: files.path) }
        let key: SecretKey
        do { key = try RandomBytes.makeKey(32) } catch {
            throw SecureFileError(.system, "no key for a temporary file can be made", path: files.path)
        }
        let context = ContentContext(standaloneFilesUnder: key, keyID: 0, cipher: .aes256GCM, options: Self.options)
        return try StoreFile(.temporary, file, context, path: files.path)
    }

    private func unnamedFile() throws(Errno) -> FileDescriptor {
        do throws(Errno) { return try files.directory.open(RawPath("."), [.readWrite, .unnamed], permissions: 0o600) } catch {
            guard error == .notSupported || error == .isDirectory else { throw error }
        }
        let name = RawPath("\(files.database).tmp-\(CurrentProcess.id)-\(Self.counter.add(1, ordering: .relaxed).newValue)")
        let file = try files.directory.open(name, [.readWrite, .create, .exclusive, .noFollow], permissions: 0o600)
        try files.directory.remove(name)
        return file
    }

    private func open(_ name: RawPath, _ mode: FileDescriptor.OpenMode) throws(SecureFileError) -> FileDescriptor {
        do throws(Errno) {
            let file = try files.directory.open(name, mode.union([.noFollow, .nonBlocking]), permissions: 0o600)
            guard try file.status().kind == .regular else { throw .invalidArgument }
            return file
        } catch { throw SecureFileError(error, "cannot be opened", path: files.path) }
    }

    /// - Returns: False when there is none.
    func deleteJournal(durably: Bool) throws(SecureFileError) -> Bool {
        do throws(Errno) {
            try files.directory.remove(files.journal)
            if durably { try files.directory.synchronize() }
            return true
        } catch {
            if error == .noEntry { return false }
            if error == .invalidArgument { return true }  // a filesystem that syncs no folders
            throw SecureFileError(error, "the journal cannot be removed", path: files.path)
        }
    }

    /// Whether a file of that name is there and not empty.
    func exists(_ name: String) -> Bool {
        let real = name == Self.databaseName ? files.database : name == Self.journalName ? files.journal : nil
        guard let real, let status = try? files.directory.status(of: real) else { return false }
        return status.size > 0
    }

    // MARK: Failures

    /// Keeps `error` for the message of what SQLite is about to report.
    func note(_ error: SecureFileError) -> ResultCode {
        lastFailure.withLock { $0 = error }
        return ResultCode(error)
    }

    /// What failed since this was last called.
    func takeFailure() -> SecureFileError? {
        lastFailure.withLock { failure in
            defer { failure = nil }
            return failure
        }
    }
}
