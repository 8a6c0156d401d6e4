import Synchronization

/// A folder of ciphertext, opened with a key. Safe to use from several threads.
///
/// One process at a time has it open for writing; any number may read beside it.
public final class Vault: Sendable {
    /// What the opener may do.
    public enum Access: Sendable { case readOnly, readWrite }

    /// The folder, as it was given.
    public let path: RawPath
    public let root: VaultDirectory
    public let configuration: VaultConfiguration
    public let access: Access
    /// What all content files of the vault share.
    public let content: ContentContext
    /// Whose files are read leniently, and the session new content is stamped with. FORMAT section 8.
    public let sessionRule: SessionRule
    /// Whether a session that ended without a close was found when this one was opened.
    public let foundDeadSession: Bool
    /// What newly written files are sealed with.
    public var cipher: CipherKind { configuration.cipher }
    /// Status of the root, as if the vault's own folders in it were not there.
    public func rootStatus() throws(Errno) -> FileStatus {
        var status = try root.descriptor.status()
        // The system counts subdirectories, or says 1 where it does not.
        for folder in [ReservedNames.links, ReservedNames.stores] where status.linkCount > 2 {
            if let there = try? root.descriptor.status(of: folder), there.kind == .directory { status.linkCount -= 1 }
        }
        return status
    }

    /// Sockets, pipes and devices are shown, and may be made. Not by default: a vault holds data, and names below it should lead to nothing else.
    public var showsSpecialFiles: Bool {
        get { root.codec.showsSpecialFiles.load(ordering: .relaxed) }
        set { root.codec.showsSpecialFiles.store(newValue, ordering: .relaxed) }
    }

    public var attributes: VaultAttributes { VaultAttributes(codec: root.codec) }

    /// What is held while the vault is open for writing; nil after the close, and for reading.
    let writing: Mutex<Writing?>
    private let isOpen = Atomic<Bool>(true)
    let secrets: Mutex<Secrets>
    /// Held while the key goes or comes.
    let transition = Mutex<Void>(())

    /// What goes when the vault is locked.
    struct Secrets: Sendable {
        var keys: VolumeKeys?
        /// While it is locked: the sealed record of this session's end.
        var closingRecord: [UInt8]?
    }

    /// The vault's keys.
    ///
    /// - Throws: ``SecureFileError``: `.keyNotAvailable` while the vault is locked.
    public var keys: VolumeKeys {
        get throws(SecureFileError) {
            if let keys = secrets.withLock({ $0.keys }) { return keys }
            throw SecureFileError(.keyNotAvailable, "the vault is locked", path: path.description)
        }
    }

    /// Whether ``close()`` has been called.
    public var isClosed: Bool { !isOpen.load(ordering: .relaxed) }

    struct Writing: Sendable {
        var lock: VaultLock
        var record: SessionRecord
    }

    /// How the engine is to behave, and where it says what it met.
    struct ContentManner {
        var options: ContentContext.Options
        var log: @Sendable (String) -> Void
    }

    init(_ parts: Parts, _ access: Access, _ writing: Writing?, _ manner: ContentManner) {
        content = ContentContext(
            contentKey: parts.keys.contentKey, keyID: parts.keys.keyID, cipher: parts.configuration.cipher, session: parts.sessionRule,
            options: manner.options, log: manner.log)
        path = parts.path
        root = parts.root
        secrets = Mutex(Secrets(keys: parts.keys))
        configuration = parts.configuration
        self.access = access
        sessionRule = parts.sessionRule
        foundDeadSession = parts.foundDeadSession
        self.writing = Mutex(writing)
    }

    /// What opening a vault finds out.
    struct Parts {
        var path: RawPath
        var root: VaultDirectory
        var keys: VolumeKeys
        var configuration: VaultConfiguration
        var sessionRule: SessionRule
        var foundDeadSession: Bool
    }

    /// Writes out what content files still hold in memory, one sync of the filesystem serving all. Nothing is promised durable by it.
    public func settleContent() throws(SecureFileError) {
        let folder = root.codec.root
        try content.settleAll { () throws(Errno) in try folder.synchronizeFilesystem() }
    }

    /// Ends the session: everything written is on the disk, the session is recorded as ended well, and the lock is given back. Content
    /// files must not be used any more. A second call does nothing; the vault counts as closed in any case. A locked vault can be closed.
    ///
    /// - Throws: ``SecureFileError`` where the disk fails: then the session counts as died, which the next opener takes account of.
    public func close() throws(SecureFileError) {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        try transition.withLock { (_) throws(SecureFileError) in try finish() }
    }

    private func finish() throws(SecureFileError) {
        let writing = self.writing.withLock { state in
            defer { state = nil }
            return state
        }
        guard var writing else { return }
        defer { writing.lock.release() }
        let folder = root.codec.root
        try settleContent()
        if content.hasFailed || !content.unsettledFiles.isEmpty {
            throw SecureFileError(
                .system, "writing failed earlier; files are as after a power cut", path: path.description, cause: .inputOutput)
        }
        try explained("the vault's filesystem cannot be synced", path: path.description) { () throws(Errno) in
            try folder.synchronizeFilesystem()
        }
        try endSession(&writing.record)
    }

    private func endSession(_ record: inout SessionRecord) throws(SecureFileError) {
        let folder = root.codec.root
        record.open = .none
        if let keys = try? keys { return try VaultSession.write(record, folder, keys, path: path.description) }
        guard let sealed = secrets.withLock({ $0.closingRecord }) else {
            throw SecureFileError(.keyNotAvailable, "the vault is locked and its session cannot be ended as clean", path: path.description)
        }
        try VaultSession.write(sealed: sealed, folder, path: path.description)
    }

    /// Names this process as the one that has the vault in use: after a fork.
    public func nameHolder() {
        writing.withLock { $0?.lock.nameHolder() }
    }

    /// Forgets the sessions that died. Only for a checker that has settled every file (FORMAT section 8.3). Durable when it returns.
    public func forgetDeadSessions() throws(SecureFileError) {
        try writing.withLock { (state: inout Writing?) throws(SecureFileError) in
            guard var writing = state else { throw SecureFileError(.readOnly, "the vault is not open for writing", cause: .readOnly) }
            writing.record.dead = []
            try VaultSession.write(writing.record, root.codec.root, try keys, path: path.description)
            state = writing
        }
    }

    /// Reads the session record again: for a reader beside a writer, whose sessions come and go. FORMAT section 8.3.
    public func currentSessionRule() throws(SecureFileError) -> SessionRule {
        if access == .readWrite { return sessionRule }
        return Vault.readingRule(try VaultSession.read(root.codec.root, try keys, path: path.description))
    }

    /// For a reader: whether another process has the vault open for writing now.
    package var isInUseElsewhere: Bool { VaultLock.isHeld(root.codec.root) }

    static func readingRule(_ record: SessionRecord) -> SessionRule {
        var lenient = Set(record.dead)
        if record.open != .none { lenient.insert(record.open) }
        return SessionRule(current: .none, lenient: lenient)
    }
}
