import CSQLite
import SecureFileCore

/// One file that SQLite has open: the database of a store, its rollback journal, or a temporary file. Used by one thread at a time.
///
/// The database is written by several processes in turn. Its content is looked at only under a lock; when one is taken and another connection
/// has written meanwhile, everything kept in memory is dropped. Before an exclusive lock is given back everything is on the disk, and the
/// file marked as ended well. FORMAT section 15.
final class StoreFile {
    enum Role { case database, journal, temporary }

    private let role: Role
    private let descriptor: FileDescriptor
    private let store: PosixByteStore
    private let context: ContentContext
    private let path: String
    private let lock: StoreLock
    /// The folder to sync with the file's first sync: it holds the name of a new journal.
    private var folderToSync: FileDescriptor?
    /// Nil for a database as long as it was never looked at under a lock.
    private var content: SecureFile?
    /// The database was written under the present lock.
    private var hasWritten = false
    /// What could not be brought to the disk as a lock was given back: whatever comes after it would be built on sand.
    private var lostWrite: SecureFileError?
    private let staging = PageBuffer(count: 65536)
    /// The first bytes of the database, which SQLite reads at the start of each transaction.
    private var head: [UInt8]?
    private static let headCount = 100

    init(
        _ role: Role, _ descriptor: FileDescriptor, _ context: ContentContext, path: String, folderToSync: FileDescriptor? = nil
    ) throws(SecureFileError) {
        self.role = role
        self.descriptor = descriptor
        self.context = context
        self.path = path
        self.folderToSync = folderToSync
        store = PosixByteStore(descriptor)
        lock = StoreLock(descriptor)
        if role != .database { content = try openJournal() }
    }

    /// A journal whose first page never reached the disk holds nothing that anything depends on: it reads as empty.
    private func openJournal() throws(SecureFileError) -> SecureFile {
        let got: Int
        do throws(Errno) { got = try store.read(at: BackingOffset(0), into: staging, 0..<4096) } catch {
            throw SecureFileError(error, "cannot be read", path: path)
        }
        if got == 0 || got >= 256 && !staging.isZero(0..<got) { return try SecureFile.open(store, context, path: path) }
        return SecureFile.create(store, context, path: path)
    }

    // MARK: Content

    /// Reads `count` bytes into `destination`, zeros behind the end.
    ///
    /// - Returns: Bytes read.
    @unsafe
    func read(_ destination: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SecureFileError) -> Int {
        // SQLite looks at the database's header once before it has a lock, to learn the page size: it is told when it has one.
        guard let content, role != .database || lock.level > .none else {
            unsafe destination.initializeMemory(as: UInt8.self, repeating: 0)
            return 0
        }
        if unsafe readHead(destination, at: offset, content) { return destination.count }
        var done = 0
        while done < destination.count {
            let part = min(staging.count, destination.count - done)
            let got = try content.read(at: ByteOffset(offset + Int64(done)), count: part, into: staging)
            unsafe staging.withPointer(0..<got) { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: destination[done..<done + got]).copyMemory(from: UnsafeRawBufferPointer(bytes))
            }
            done += got
            if got < part { break }
        }
        if done < destination.count {
            unsafe UnsafeMutableRawBufferPointer(rebasing: destination[done...]).initializeMemory(as: UInt8.self, repeating: 0)
        }
        return done
    }

    @unsafe
    private func readHead(_ destination: UnsafeMutableRawBufferPointer, at offset: Int64, _ content: SecureFile) -> Bool {
        guard role == .database, offset >= 0, offset + Int64(destination.count) <= Int64(Self.headCount) else { return false }
        if head == nil {
            guard (try? content.read(at: ByteOffset(0), count: Self.headCount, into: staging)) == Self.headCount else { return false }
            head = staging.bytes(0..<Self.headCount)
        }
        guard let head else { return false }
        unsafe destination.copyBytes(from: head[Int(offset)..<Int(offset) + destination.count])
        return true
    }

    /// A database copied from one with a write-ahead log says in its header that it has one; here none has.
    @unsafe
    func write(_ source: UnsafeRawBufferPointer, at offset: Int64) throws(SecureFileError) {
        let content = try contentForChange()
        let span = unsafe Span<UInt8>(_unsafeBytes: source)
        if role == .database, offset == 0, span.count >= Self.headCount, span[18] == 2 || span[19] == 2 {
            var page = unsafe Array(source)
            (page[18], page[19]) = (1, 1)
            try content.write(page.span, 0..<page.count, at: ByteOffset(0))
        } else {
            try content.write(span, 0..<span.count, at: ByteOffset(offset))
        }
    }

    func truncate(to size: Int64) throws(SecureFileError) { try contentForChange().truncate(to: ByteCount(size)) }

    private func contentForChange() throws(SecureFileError) -> SecureFile {
        if let lostWrite { throw lostWrite }
        guard let content, role != .database || lock.level == .exclusive else {
            throw SecureFileError(.system, "written without an exclusive lock", path: path, cause: .inputOutput)
        }
        hasWritten = true
        head = nil
        return content
    }

    /// Everything written so far is on the disk when this returns.
    func synchronize() throws(SecureFileError) {
        if let lostWrite { throw lostWrite }
        if role == .temporary { return }
        try content?.synchronize(attributes: false)
        guard let folder = folderToSync else { return }
        do throws(Errno) { try folder.synchronize() } catch {
            // Some filesystems sync no folders.
            if error != .invalidArgument { throw SecureFileError(error, "the store's folder could not be synced", path: path) }
        }
        folderToSync = nil
    }

    var size: Int64 { lock.level == .none && role == .database ? 0 : content?.size.rawValue ?? 0 }

    // MARK: Locks

    /// Raises the lock; false when another connection is in the way.
    func raiseLock(to level: StoreLock.Level) throws(SecureFileError) -> Bool {
        let before = lock.level
        do throws(Errno) { if !(try lock.raise(to: level)) { return false } } catch {
            throw SecureFileError(error, "cannot be locked", path: path)
        }
        guard before == .none, role == .database else { return true }
        do throws(SecureFileError) { try refresh() } catch {
            try? lock.lower(to: .none)
            throw error
        }
        return true
    }

    /// Under a lock that keeps writers out: what another connection has written since is not hidden by what this one remembers.
    private func refresh() throws(SecureFileError) {
        if let lostWrite { throw lostWrite }
        if let content, try content.isCurrent() { return }
        head = nil
        content = nil
        content = try SecureFile.open(store, context, path: path)
    }

    func lowerLock(to level: StoreLock.Level) throws(SecureFileError) {
        if lock.level > .shared, hasWritten { endWriting() }
        do throws(Errno) { try lock.lower(to: level) } catch { throw SecureFileError(error, "cannot be unlocked", path: path) }
    }

    /// Brings everything to the disk and marks the file as ended well. A file whose last writer died is settled on this occasion.
    private func endWriting() {
        guard let content else { return }
        do throws(SecureFileError) {
            if content.needsSettling { try content.settleForGood() }
            try content.closeStandalone()
        } catch {
            // What was synced is there, and read leniently; what was not is gone with this instance.
            if content.hasPendingWrites { lostWrite = error }
            self.content = nil
        }
        hasWritten = false
    }

    func isReserved() throws(SecureFileError) -> Bool {
        do throws(Errno) { return try lock.isReserved() } catch { throw SecureFileError(error, "locks cannot be read", path: path) }
    }

    // MARK: End

    func close() throws(SecureFileError) {
        switch role {
        case .database: try lowerLock(to: .none)
        case .journal: try content?.settle()
        case .temporary: context.forgetFiles()
        }
        content = nil
        if let lostWrite { throw lostWrite }
    }
}
