import Synchronization

/// What all content files of one vault, or all files outside of a vault under one key, share: the key their keys come from, the session rule,
/// the cipher contexts, and the account of what is held in memory. Safe to use from several threads.
public final class ContentContext: Sendable {
    /// Limits and manners, set once.
    public struct Options: Sendable {
        /// Most bytes of overwrites one file, and all files, hold in memory before they are written out.
        public var pendingLimitPerFile = 64 << 20
        public var pendingLimit = 128 << 20
        /// Bytes of overwrites that are written out before that, where a barrier takes next to no time.
        package var smallestBatch = 4 << 20
        /// Most metadata pages one file keeps in memory.
        public var cachedGroupsPerFile = 2048
        /// The caller (the kernel, for a mount) keeps times itself: writes that are late do not change the backing file's.
        public var keepsModificationTimes = false
        /// New data goes to the store at the end of each write rather than at ``SecureFile/flush()``.
        public var writesNewDataAtOnce = false
        /// Who takes part in large reads and in large writes of new data. Not for a caller with threads of its own for each core.
        package var crew: Crew?
        /// Nanoseconds that a barrier is taken to cost, for tests that are to be the same each time. Nil: what the last one took.
        package var assumedBarrierTime: Int?
        public init() {}
    }

    public let keyID: UInt64
    let cipher: CipherKind
    private let sessionRule: Mutex<SessionRule>
    /// The files are outside of a vault, each with a session of its own. FORMAT section 8.2.
    let isStandalone: Bool
    /// The files of a vault are only read: no session of ours writes them.
    let isReader: Bool
    package let options: Options
    let lanes = LanePool()
    let pages = PagePool()
    let buffers = BufferPool()
    /// Takes a line about something that was accepted leniently, or failed in the background; never a name or content of the user.
    let log: @Sendable (String) -> Void

    /// The key, and the files that have taken keys from it.
    let keyed: Mutex<Keyed>
    /// Held while the key goes or comes.
    let transition = Mutex<Void>(())

    private let pendingBytes = Atomic<Int>(0)
    private let barrierTime = Atomic<Int>(0)
    private let unsettled = Mutex<[ObjectIdentifier: SecureFile]>([:])
    private let failure = Atomic<Bool>(false)

    public init(
        contentKey: SecretKey, keyID: UInt64, cipher: CipherKind, session: SessionRule, options: Options = Options(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        keyed = Mutex(Keyed(contentKey: contentKey))
        self.keyID = keyID
        self.cipher = cipher
        sessionRule = Mutex(session)
        isStandalone = false
        isReader = session.current == .none
        self.options = options
        self.log = log
    }

    /// For files outside of a vault.
    public init(
        standaloneFilesUnder contentKey: SecretKey, keyID: UInt64, cipher: CipherKind, options: Options = Options(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        keyed = Mutex(Keyed(contentKey: contentKey))
        self.keyID = keyID
        self.cipher = cipher
        sessionRule = Mutex(SessionRule(current: .none))
        isStandalone = true
        isReader = false
        self.options = options
        self.log = log
    }

    /// Which session writes, and whose files are read leniently.
    public var session: SessionRule { sessionRule.withLock { $0 } }

    /// For a reader beside a writer, whose sessions come and go: files opened from now on follow `rule`.
    public func follow(_ rule: SessionRule) { sessionRule.withLock { $0 = rule } }

    /// Whether a write to the store failed after which its files may be only what a loss of power leaves: then the session must not end as clean.
    public var hasFailed: Bool { failure.load(ordering: .relaxed) }
    /// Takes note of a failure, `unless` it was one that leaves the store as if the call had not been made.
    func noteFailure(unless harmless: Bool = false) { if !harmless { failure.store(true, ordering: .relaxed) } }

    /// A file of this session was given up with a batch half done: from now on all are read leniently, as after a crash.
    func noteGivenUp() { sessionRule.withLock { rule in if rule.current != .none { rule.lenient.insert(rule.current) } } }

    /// Nanoseconds that the last sync of any of the files took; 0: there was none yet.
    var lastBarrierTime: Int {
        get { barrierTime.load(ordering: .relaxed) }
        set { barrierTime.store(newValue, ordering: .relaxed) }
    }

    // MARK: Account of pending bytes

    func addPending(_ bytes: Int) { pendingBytes.add(bytes, ordering: .relaxed) }
    var isOverLimit: Bool { pendingByteCount > options.pendingLimit }
    /// Bytes of overwrites that all files together hold in memory.
    package var pendingByteCount: Int { pendingBytes.load(ordering: .relaxed) }

    /// Gives half of the idle memory back to the system; says whether there is more. For a caller that has had nothing to do for a while.
    public func trimMemory() -> Bool {
        let more = pages.trim()
        buffers.removeAll()
        if !more {
            PageStock.shared.removeAll()
            SystemMemory.trim()
        }
        return more
    }

    // MARK: Files with something still to be written

    /// Keeps `file` alive and on the list of ``settleAll(olderThan:)``.
    func register(_ file: SecureFile) { unsettled.withLock { $0[ObjectIdentifier(file)] = file } }
    func unregister(_ file: SecureFile) { _ = unsettled.withLock { $0.removeValue(forKey: ObjectIdentifier(file)) } }

    /// The files that hold something the store does not have.
    public var unsettledFiles: [SecureFile] { unsettled.withLock { Array($0.values) } }

    /// Gives up what files still hold in memory: for a session that is lost anyway. Until then the context and they keep each other alive.
    package func forgetFiles() { unsettled.withLock { $0.removeAll() } }

    /// Writes out what every file holds in memory. With several files one `barrier` serves all of them; it must make everything written so
    /// far durable (syncfs). Files that fail keep what they hold; the first error is thrown at the end.
    public func settleAll(barrier: () throws(Errno) -> Void) throws(SecureFileError) {
        try settle(unsettledFiles, barrier: barrier)
    }

    /// The same for the given files.
    public func settle(_ files: [SecureFile], barrier: () throws(Errno) -> Void) throws(SecureFileError) {
        var first: SecureFileError?
        for start in stride(from: 0, to: files.count, by: 64) {
            let part = files[start..<min(files.count, start + 64)]
            do throws(SecureFileError) {
                if part.count == 1, let file = part.first { try file.settle() } else { try settleTogether(part, barrier) }
            } catch { first = first ?? error }
        }
        if let first { throw first }
    }

    /// Step by step through all files at once: prepare each, one barrier, finish each, one barrier, cut each. All their locks are held meanwhile.
    private func settleTogether(_ files: ArraySlice<SecureFile>, _ barrier: () throws(Errno) -> Void) throws(SecureFileError) {
        var failures = FirstError()
        var times: [(file: SecureFile, time: FileTime?)] = []
        // Only these: a barrier says nothing about a file with a page that was not written.
        var prepared: [SecureFile] = []
        for file in files {
            file.lock.lockExclusively()
            do throws(SecureFileError) {
                times.append((file, try file.timeToKeep()))
                try file.prepareCommit()
                prepared.append(file)
            } catch { failures.note(error) }
        }
        defer {
            for (file, time) in times { do throws(SecureFileError) { try file.restoreTime(time) } catch { log("\(error)") } }
            for file in files {
                file.updateRegistration()
                file.lock.unlock()
            }
        }
        do throws(Errno) { try barrier() } catch {
            noteFailure()
            for file in prepared { file.abandonCommit() }
            throw SecureFileError(error, "could not sync the vault's filesystem")
        }
        for file in prepared {
            file.noteStoreSynced()
            do throws(SecureFileError) { try file.finishCommit() } catch { failures.note(error) }
        }
        try cutTogether(prepared, barrier, &failures)
        try failures.throwFirst()
    }

    private func cutTogether(_ files: [SecureFile], _ barrier: () throws(Errno) -> Void, _ failures: inout FirstError) throws(SecureFileError) {
        // A file that could not finish has versions in memory that a cut must not come before.
        let ready = files.filter { !$0.hasLooseEnds && $0.needsSyncToSettle }
        if ready.isEmpty { return }
        do throws(Errno) { try barrier() } catch {
            noteFailure()
            throw SecureFileError(error, "could not sync the vault's filesystem")
        }
        for file in files where !file.hasLooseEnds {
            file.noteStoreSynced()
            do throws(SecureFileError) { try file.finishCut() } catch { failures.note(error) }
        }
    }
}

/// The first of several errors, where one must not keep the others from their work.
private struct FirstError {
    private var first: SecureFileError?
    mutating func note(_ error: SecureFileError) { first = first ?? error }
    func throwFirst() throws(SecureFileError) { if let first { throw first } }
}
