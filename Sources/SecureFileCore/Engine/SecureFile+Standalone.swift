/// Files outside of a vault: each has a session of its own. FORMAT section 8.2.
extension SecureFile {
    /// Opens a file outside of a vault for writing. One whose last writer died is settled first, which reads all of it once.
    ///
    /// The caller sees to it that nobody else writes meanwhile, and ends with ``closeStandalone()``.
    /// - Throws: as ``open(_:_:path:)``.
    public static func openForWriting(_ store: any ByteStore, _ context: ContentContext, path: String) throws(SecureFileError) -> SecureFile {
        let file = try open(store, context, path: path)
        file.lock.writing { file.isOpenForWriting = true }
        do throws(SecureFileError) { try file.settleForGood() } catch {
            // Nobody gets this instance: what it holds must not come to the store later, over what another has written.
            file.lock.writing { file.giveUpContent() }
            throw error
        }
        return file
    }

    /// Whether the file names a session that is not this instance's: another process writes it, or has died doing so.
    public var isOfOtherSession: Bool { lock.reading { isLenient } }

    /// Ends the writing: everything is brought to the store, and the file marked as closed cleanly. One of more than 3839 bytes that was
    /// changed is synced for that. The instance may be used further, and then has to be closed again.
    ///
    /// - Throws: ``SecureFileError``: `.noSpace`, `.system`. The file is then as after a crash: everything synced before is there, and the next
    ///   writer settles it.
    public func closeStandalone() throws(SecureFileError) {
        try lock.writing { () throws(SecureFileError) in
            // Suspended, it has been closed already.
            if isSuspended { return }
            try keepingModificationTime { () throws(SecureFileError) in try endSession() }
        }
    }

    /// Under the exclusive lock.
    func endSession() throws(SecureFileError) {
        precondition(context.isStandalone)
        if form != .grouped {
            try commitPending()
            if needsSyncToSettle { try synchronizeLocked(attributes: false) }
            return
        }
        // Page 0 may say that all is well only when it is: everything else reaches the disk before.
        if isUnsettled || isStamped && hasUnsyncedWrites { try synchronizeLocked(attributes: false) }
        try makeGroupCutDurable()
        guard let header, isOwn(header.page.session) else { return }
        endsSession = true
        // Also after an error: the page may be there, in the cache of the system or on the disk.
        defer {
            (endsSession, isStamped) = (false, false)
            foreignSize = plaintextSize
        }
        try writePage(header)
    }

    /// The session page 0 names from the next seal on.
    func sessionToName() throws(SecureFileError) -> SessionID {
        if !context.isStandalone { return context.session.current }
        // The inline page is the whole file, and reaches the disk whole: there is nothing to be lenient with.
        if endsSession || form == .inline { return .none }
        if ownSession == .none {
            do { ownSession = try SessionID.random() } catch { throw failure(error) }
        }
        return ownSession
    }

    /// Whether page 0 names the session of this instance.
    func isOwn(_ session: SessionID) -> Bool {
        context.isStandalone ? session == ownSession && session != .none : session == context.session.current
    }

    /// Whether a file that `session` wrote last may hold what a crash leaves. FORMAT section 8.3.
    func isReadLeniently(_ session: SessionID) -> Bool {
        context.isStandalone ? session != .none && session != ownSession : context.session.isLenient(session)
    }
}

extension SessionID {
    /// A new one.
    static func random() throws(CryptoFailure) -> SessionID {
        while true {
            let bytes = try RandomBytes.make(16)
            let id = SessionID(low: LittleEndian.load(bytes, at: 0, count: 8), high: LittleEndian.load(bytes, at: 8, count: 8))
            if id != .none { return id }
        }
    }
}
