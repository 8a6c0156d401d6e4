/// Files whose key goes away and comes back.
extension SecureFile {
    /// Runs `body` beside other readers, with the content there.
    ///
    /// - Throws: `.keyNotAvailable` while the key is locked away; what reading the file anew fails with; what `body` throws.
    @inline(__always)
    func reading<R>(_ body: () throws(SecureFileError) -> R) throws(SecureFileError) -> R {
        while true {
            lock.lockShared()
            if !isSuspended {
                defer { lock.unlock() }
                return try body()
            }
            lock.unlock()
            try changing { () throws(SecureFileError) in }
        }
    }

    /// Runs `body` alone, with the content there.
    @inline(__always)
    func changing<R>(_ body: () throws(SecureFileError) -> R) throws(SecureFileError) -> R {
        lock.lockExclusively()
        defer { lock.unlock() }
        if isSuspended { try resume() }
        return try body()
    }

    /// Forgets what is known of the store and reads the file's first page anew: for a reader beside a writer, under whose hands what is remembered
    /// gets old. A file that holds something unwritten is left as it is.
    ///
    /// - Throws: as ``open(_:_:path:)``; the next call tries again.
    public func readAnew() throws(SecureFileError) {
        try lock.writing { () throws(SecureFileError) in
            if isSuspended || isUnsettled { return }
            giveUpContent()
            isSuspended = true
            try resume()
        }
    }

    /// Brings everything to the store and gives up the keys and all plaintext. The next call reads the file anew, if the key is there then.
    ///
    /// - Parameters:
    ///   - isSynced: All of it is durable when this returns; else the caller syncs, and says so by ``noteSyncedWhileSuspended()``.
    ///   - discardingUnwritten: What cannot be written is given up, and noted with the context as a failure.
    /// - Throws: ``SecureFileError`` where it cannot be written; then nothing is given up.
    func suspend(isSynced: Bool, discardingUnwritten: Bool) throws(SecureFileError) {
        try lock.writing { () throws(SecureFileError) in
            let wasSuspended = isSuspended
            do throws(SecureFileError) {
                if isSuspended { return try syncSuspended(isSynced) }
                try keepingModificationTime { () throws(SecureFileError) in try bringToStore(isSynced) }
                wasSyncedAtSuspension = isSynced
            } catch {
                if !discardingUnwritten { throw error }
                context.log("\(path): what was not written yet is lost: \(error.message)")
                context.noteFailure()
                wasSyncedAtSuspension = false
                if wasSuspended { return }
                // A batch may be half done in the store: what is there is read as after a crash.
                context.noteGivenUp()
                ownSession = .none
            }
            giveUpContent()
            isSuspended = true
        }
    }

    /// The lock before this one may have failed in its sync, after this file was brought to the store.
    private func syncSuspended(_ isSynced: Bool) throws(SecureFileError) {
        if !isSynced || wasSyncedAtSuspension { return }
        try onStore("could not sync") { () throws(Errno) in try store.synchronize(attributes: false) }
        wasSyncedAtSuspension = true
    }

    private func bringToStore(_ isSynced: Bool) throws(SecureFileError) {
        if context.isStandalone {
            try endSession()
            // Of a grouped file only the mark of its clean end is left, which says nothing that a crash could make wrong.
            if isSynced, isOpenForWriting, form != .grouped { try synchronizeLocked(attributes: false) }
            return
        }
        try commitPending()
        if isSynced || needsSyncToSettle { try synchronizeLocked(attributes: false) }
        if isSynced { try makeGroupCutDurable() }
    }

    /// The caller of ``suspend(isSynced:discardingUnwritten:)`` has made durable what it brought to the store.
    func noteSyncedWhileSuspended() {
        lock.writing { if isSuspended { wasSyncedAtSuspension = true } }
    }

    /// Leaves nothing in memory but the size. Keys and buffers are wiped as their last references go.
    func giveUpContent() {
        releasePending(from: BlockIndex(0))
        groups.removeAll()
        (form, backingLength) = (.empty, 0)
        (header, inlineContent, fileKey, commit) = (nil, nil, nil, nil)
        (isOwed, isLenient, isInlineDirty, isStamped) = (false, false, false, false)
        (isTailUnchecked, isCutBarred, isEndUnsynced) = (false, false, false)
        (foreignSize, worstEpoch) = (nil, nil)
        dirtyGroupCount = 0
        deferredPunches.removeAll()
        epoch += 1
        isRegistered = false
        context.unregister(self)
    }

    /// Reads the file anew. Under the exclusive lock.
    func resume() throws(SecureFileError) {
        guard context.mayResume else { throw ContentContext.locked.at(path) }
        let size = plaintextSize
        plaintextSize = .zero
        do throws(SecureFileError) {
            try load()
            try confirmAssumedSize()
            // Its writer gave it up: outside of a vault that is settled before anything else. FORMAT section 8.2.
            if context.isStandalone, isOpenForWriting, isLenient { try settleForGoodLocked() }
        } catch {
            giveUpContent()
            plaintextSize = size
            throw error
        }
        isSuspended = false
    }

    /// Whoever opened the file unread has told others a size, from which they count.
    private func confirmAssumedSize() throws(SecureFileError) {
        guard let assumedSize else { return }
        hasContradictedSize = plaintextSize != assumedSize
        if hasContradictedSize { throw failure(.stale, "does not have the size that its length tells") }
        self.assumedSize = nil
    }

    /// Cuts a suspended file to nothing. Of its content nothing is needed for that: what comes next is a new file to all effects.
    func becomeEmptyUnread() throws(SecureFileError) {
        guard context.mayResume else { throw ContentContext.locked.at(path) }
        backingLength = try onStore("could not be examined") { () throws(Errno) in try store.length() }
        defer { updateRegistration() }
        do throws(SecureFileError) {
            try becomeEmpty()
        } catch {
            giveUpContent()
            throw error
        }
        (isSuspended, assumedSize, hasContradictedSize) = (false, nil, false)
    }
}
