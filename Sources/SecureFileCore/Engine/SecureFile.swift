import Synchronization

/// The content of one backing file: blocks sealed one by one, overwritten so that no crash leaves one unreadable. FORMAT sections 3, 8 and 9.
///
/// There is one instance for a backing inode at a time; it may be used from several threads. Reads run beside each other, everything else
/// alone. Overwrites of what an earlier sync has promised to keep are held in memory and go out in batches; new data goes out at once
/// or at ``flush()``. Nothing survives a loss of power for certain but what ``synchronize(attributes:)`` has confirmed.
///
/// After an error a file can be used further: what could not be written is still in memory.
public final class SecureFile: @unchecked Sendable {
    /// How the content lies in the store.
    enum Form { case empty, inline, grouped }

    let store: any ByteStore
    let context: ContentContext
    /// For messages: the path of the backing file.
    let path: String
    let lock = ReadWriteLock()

    // Everything below is protected by `lock`: read under either side, changed under the exclusive one. Only the group cache
    // is also filled by readers; it has a lock of its own.

    var form = Form.empty
    var plaintextSize = ByteCount.zero
    var fileKey: SecretKey?
    var cipher: CipherKind
    /// Page 0, in the inline and the grouped form.
    var header: GroupState?
    /// The content in the inline form, 4096 bytes.
    var inlineContent: PageBuffer?
    let groups = GroupCache()
    /// The groups with blocks whose newest content is in memory only, and how many blocks these are.
    var pendingGroups: [GroupIndex: GroupState] = [:]
    var pendingCount = 0
    /// Sealed versions that the metadata names already, and that a failed write may have left in the store in part; all of them are pending too.
    var unfinished: [BlockIndex: UnfinishedBlock] = [:]

    /// The file was last written by a session that died: two slots are tried.
    var isLenient = false
    /// Length of the backing file as it is now.
    var backingLength: Int64 = 0
    /// When opened, the backing file was longer than the recorded size needs.
    public internal(set) var backingDisagreed = false

    /// Number of syncs so far.
    var epoch: UInt64 = 0
    /// Nanoseconds that the last sync took.
    var barrierTime: Int?
    /// Some version of this content may be promised to survive: it was there when opened, or synced since.
    var isOwed = false
    /// As long as the durable page 0 may name another, ended session: the size it records. FORMAT section 8.2.
    var foreignSize: ByteCount?
    /// Page 0 was written in this session.
    var isStamped = false
    /// The file was cut, or something past its end was cleared or shortened, since the last sync with nothing pending: until then it must not grow.
    var isEndUnsynced = false
    /// The epoch in which the backing file was lengthened, not durably so before the next.
    var extensionEpoch: UInt64?
    /// The epoch in which metadata pages were cut off the backing file, not durably so before the next.
    var groupCutEpoch: UInt64?
    /// Cleared ranges of the backing file that go back to the filesystem once that is durable.
    var deferredPunches: [Range<Int64>] = []
    /// The content in the inline form has changes that the store does not have.
    var isInlineDirty = false
    /// What a batch has prepared and not yet finished.
    var commit: Commit?
    /// The epoch in which a page that is read may have changes noted by nobody: everything is then taken for unsynced.
    var worstEpoch: UInt64?
    /// The same, plus 1, when the cache had to drop a page that knew of unsynced writes; readers set it too.
    let forgottenEpoch = Atomic<UInt64>(0)
    /// Entries past the end, or a tail block longer than the size says, have not been looked for yet.
    var isTailUnchecked = false
    /// The store was written or cut since its last sync.
    var hasUnsyncedWrites = true
    /// The last block is damaged: what lies behind it stays, as it may be part of it.
    var isCutBarred = false
    /// The time of modification to be kept while something is written, and whether the store has given the file another since.
    var keptTime: FileTime?
    var hasTimeMoved = false
    /// Which metadata pages are asked for in order by overwrites.
    var readAhead = PageReadAhead()
    /// Groups above 0 whose page is dirty.
    var dirtyGroupCount = 0
    /// The context knows that something has to be settled.
    var isRegistered = false
    /// The keys have been given up and nothing is in memory but the size: the content is read anew before the next
    /// call. ``suspend(isSynced:discardingUnwritten:)``.
    var isSuspended = false
    /// While suspended: everything written is known to be durable.
    var wasSyncedAtSuspension = false
    /// As long as nobody has looked into the store: the size that was told, which page 0 has to confirm. ``openUnread(_:_:path:size:)``.
    var assumedSize: ByteCount?
    var hasContradictedSize = false
    /// The session of a file outside of a vault, made when it is first named. FORMAT section 8.2.
    var ownSession = SessionID.none
    /// Outside of a vault: there is a writer.
    var isOpenForWriting = false
    /// Page 0 is sealed as that of a file closed cleanly.
    var endsSession = false

    init(_ store: any ByteStore, _ context: ContentContext, path: String) {
        self.store = store
        self.context = context
        self.path = path
        cipher = context.cipher
        isSuspended = !context.enlist(self)
    }

    deinit { context.delist(ObjectIdentifier(self)) }

    /// A file on a store that is known to be empty and new.
    public static func create(_ store: any ByteStore, _ context: ContentContext, path: String) -> SecureFile {
        SecureFile(store, context, path: path)
    }

    /// Opens the content in `store`.
    ///
    /// - Throws: `.notSecureFile` (plaintext or foreign), `.unsupportedVersion`, `.wrongKey`, `.damaged`, `.truncated`, `.keyNotAvailable`, or the
    ///   system's error.
    public static func open(_ store: any ByteStore, _ context: ContentContext, path: String) throws(SecureFileError) -> SecureFile {
        let file = SecureFile(store, context, path: path)
        file.lock.lockExclusively()
        defer { file.lock.unlock() }
        if file.isSuspended { throw ContentContext.locked.at(path) }
        try file.load()
        return file
    }

    /// The content in `store`, without looking at it: the next call that needs page 0 reads it, or ``truncate(to:)`` to nothing does without.
    /// For a writer that is most likely about to cut it.
    ///
    /// - Parameter size: The plaintext size, as the caller has told it to others. Where page 0 says another, every call throws `.system` with the
    ///   cause `ESTALE` and changes nothing; ``isMisjudged`` tells it then.
    /// - Throws: `.keyNotAvailable`. What ``open(_:_:path:)`` throws comes with the first call that needs the content.
    public static func openUnread(
        _ store: any ByteStore, _ context: ContentContext, path: String, size: ByteCount
    ) throws(SecureFileError) -> SecureFile {
        let file = SecureFile(store, context, path: path)
        file.lock.lockExclusively()
        defer { file.lock.unlock() }
        if file.isSuspended { throw ContentContext.locked.at(path) }
        (file.isSuspended, file.plaintextSize, file.assumedSize) = (true, size, size)
        return file
    }

    // MARK: What can be asked

    /// The plaintext size; of a file whose key is locked away, what it was then.
    public var size: ByteCount { lock.reading { plaintextSize } }

    /// Page 0 was found to contradict the size told to ``openUnread(_:_:path:size:)``.
    public var isMisjudged: Bool { lock.reading { hasContradictedSize } }

    /// The plaintext size, where the key is there.
    ///
    /// - Throws: `.keyNotAvailable`; as ``open(_:_:path:)`` where the file has to be read anew.
    public func knownSize() throws(SecureFileError) -> ByteCount { try reading { () throws(SecureFileError) in plaintextSize } }

    /// Whether anything is still to be written to the store: until then this instance must be kept and used for the file.
    public var hasPendingWrites: Bool { lock.reading { isUnsettled } }

    // MARK: What can be done

    /// Reads plaintext at `offset` into `buffer` from `bufferOffset`.
    ///
    /// - Returns: Bytes read: `count`, or fewer at the end of the file, 0 at or past it.
    /// - Throws: `.damaged` (with the block; the destination is zeroed, nothing unverified is released), or the system's error.
    public func read(at offset: ByteOffset, count: Int, into buffer: PageBuffer, bufferOffset: Int = 0) throws(SecureFileError) -> Int {
        try reading { () throws(SecureFileError) in try readLocked(offset, count, buffer, bufferOffset) }
    }

    /// Writes the bytes `range` of `source` at `offset`; a gap between the end and `offset` reads as zeros.
    ///
    /// - Throws: `.limitExceeded`, `.noSpace`, the system's error, or `.damaged` if a block that is written in part cannot be read. Then some
    ///   of the blocks may have the new content and others the old; none is mixed.
    public func write(_ source: Span<UInt8>, _ range: Range<Int>, at offset: ByteOffset) throws(SecureFileError) {
        if range.isEmpty { return }
        lock.lockExclusively()
        defer { lock.unlock() }
        if isSuspended { try resume() }
        try writeLocked(source, range, offset)
    }

    /// Cuts the file to `size`, or lengthens it with zeros. Of a file cut to nothing nothing has to be read.
    public func truncate(to size: ByteCount) throws(SecureFileError) {
        try lock.writing { () throws(SecureFileError) in
            if isSuspended, size == .zero { return try becomeEmptyUnread() }
            if isSuspended { try resume() }
            try truncateLocked(size)
        }
    }

    /// Gives new data and its metadata to the store, without a sync. Overwrites of promised content stay in memory.
    public func flush() throws(SecureFileError) {
        try changing { () throws(SecureFileError) in
            if !hasLooseEnds { return }
            try keepingModificationTime(isInUse: true) { () throws(SecureFileError) in try flushLocked() }
        }
    }

    /// Runs `body` while nothing is written to the store: for a change of the backing file's times.
    public func excludingWrites<R>(_ body: () throws(Errno) -> R) throws(Errno) -> R {
        lock.lockExclusively()
        defer { lock.unlock() }
        return try body()
    }

    /// Everything written so far is durable when this returns; with `attributes`, owner, mode and times too.
    ///
    /// - Throws: The system's error. Then nothing is known to be durable that was not before; everything is still in memory or in the store.
    public func synchronize(attributes: Bool = true) throws(SecureFileError) {
        try changing { () throws(SecureFileError) in
            try keepingModificationTime(isInUse: true) { () throws(SecureFileError) in try synchronizeLocked(attributes: attributes) }
        }
    }

    /// Brings the store to the state in which the file could be opened anew: pending overwrites, cuts and sizes are written. A file whose key
    /// is locked away is in that state.
    public func settle() throws(SecureFileError) {
        try lock.writing { () throws(SecureFileError) in
            if !isUnsettled { return }
            try keepingModificationTime { () throws(SecureFileError) in
                try commitPending()
                if needsSyncToSettle { try synchronizeLocked(attributes: false) }
            }
        }
    }
}

extension SecureFile {
    /// The backing length the present size needs.
    var expectedBackingLength: Int64 {
        switch form {
        case .empty: 0
        case .inline: ContentGeometry.backingLength(plaintextSize, .inline)
        case .grouped: ContentGeometry.backingLength(plaintextSize, .grouped)
        }
    }

    /// Anything that ``flush()`` would do something about.
    var hasLooseEnds: Bool {
        pendingCount > 0 || isInlineDirty || dirtyGroupCount > 0 || header?.isDirty == true || backingLength < expectedBackingLength
    }

    /// What cannot be settled without a sync: a cut that waits for one, or an end of which the next instance would not know that it was changed.
    /// To whoever only reads, excess is nothing to be done about.
    var needsSyncToSettle: Bool {
        ((backingLength > expectedBackingLength && !isCutBarred || isEndUnsynced) && !context.isReader) || !deferredPunches.isEmpty
    }

    var isUnsettled: Bool { hasLooseEnds || needsSyncToSettle }

    func failure(_ error: Errno, _ what: String) -> SecureFileError { SecureFileError(error, what, path: path) }

    func failure(_ error: CryptoFailure) -> SecureFileError {
        SecureFileError(.system, "libcrypto failed", path: path, cause: .inputOutput)
    }

    func damaged(_ block: BlockIndex?, _ what: String) -> SecureFileError { SecureFileError(.damaged, what, path: path, block: block) }

    func seal<R>(_ body: (AEADLane) throws(CryptoFailure) -> R) throws(SecureFileError) -> R {
        do {
            return try context.lanes.withLane(body)
        } catch { throw failure(error) }
    }

    func onStore<R>(_ what: String, _ body: () throws(Errno) -> R) throws(SecureFileError) -> R {
        do { return try body() } catch { throw failure(error, what) }
    }

    /// Runs `body`; the backing file's time of modification is afterwards what it was, where the caller keeps times itself. A sync of the store
    /// makes it durable.
    ///
    /// - Parameter isInUse: Whoever uses the file closes it later: the store may give the time back then.
    func keepingModificationTime(always: Bool = false, isInUse: Bool = false, _ body: () throws(SecureFileError) -> Void) throws(SecureFileError) {
        keptTime = try timeToKeep(always: always)
        hasTimeMoved = false
        defer { keptTime = nil }
        do throws(SecureFileError) { try body() } catch {
            try? restoreKeptTime()
            throw error
        }
        if !isInUse { return try restoreKeptTime() }
        guard hasTimeMoved else { return }
        if let time = keptTime { try onStore("could not set the times") { () throws(Errno) in try store.restoreLater(modified: time) } }
        hasTimeMoved = false
    }

    func restoreKeptTime() throws(SecureFileError) {
        guard hasTimeMoved else { return }
        try restoreTime(keptTime)
        hasTimeMoved = false
    }

    /// The time of modification that what is about to be written must not change; nil where it may.
    func timeToKeep(always: Bool = false) throws(SecureFileError) -> FileTime? {
        guard always || (context.options.keepsModificationTimes && isUnsettled) else { return nil }
        return try onStore("could not read the times") { () throws(Errno) in try store.modificationTime() }
    }

    func restoreTime(_ time: FileTime?) throws(SecureFileError) {
        if let time { try onStore("could not set the times") { () throws(Errno) in try store.restore(modified: time) } }
    }

    /// Keeps the context informed of whether this file has to be settled.
    func updateRegistration() {
        let isUnsettled = isUnsettled
        if isUnsettled == isRegistered { return }
        isRegistered = isUnsettled
        if isUnsettled { context.register(self) } else { context.unregister(self) }
    }
}
