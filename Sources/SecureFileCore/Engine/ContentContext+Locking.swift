/// Taking the content key away from all open files, and giving it back.
extension ContentContext {
    /// The key, and who has keys that come from it.
    struct Keyed: Sendable {
        /// Nil while the context is locked.
        var contentKey: SecretKey?
        /// The key is about to go: no file may be opened any more.
        var isGoing = false
        var files: [ObjectIdentifier: WeakFile] = [:]
        var isAvailable: Bool { contentKey != nil && !isGoing }
    }

    struct WeakFile: Sendable {
        weak let file: SecureFile?
    }

    /// Whether the key is locked away. It may be by the time the caller looks.
    public var isLocked: Bool { keyed.withLock { $0.contentKey == nil } }

    /// - Throws: `.keyNotAvailable` while the context is locked.
    func contentKey() throws(SecureFileError) -> SecretKey {
        guard let key = keyed.withLock({ $0.contentKey }) else { throw Self.locked }
        return key
    }

    static var locked: SecureFileError { SecureFileError(.keyNotAvailable, "the key is locked away") }

    /// Takes `file` among those that ``lock(discardingUnwritten:barrier:)`` wipes; tells whether it may take keys now.
    func enlist(_ file: SecureFile) -> Bool {
        keyed.withLock { keyed in
            keyed.files[ObjectIdentifier(file)] = WeakFile(file: file)
            return keyed.isAvailable
        }
    }

    func delist(_ file: ObjectIdentifier) { _ = keyed.withLock { $0.files.removeValue(forKey: file) } }

    /// Whether a file that gave up its keys may take them again.
    var mayResume: Bool { keyed.withLock { $0.isAvailable } }

    private var openFiles: [SecureFile] { keyed.withLock { $0.files.values.compactMap(\.file) } }

    /// Takes the key away. Every file is brought to the store and made durable first; then the keys, contexts and plaintext that files hold are
    /// wiped. From then on every call on them throws `.keyNotAvailable`, and none can be opened. A second call does nothing.
    ///
    /// Calls under way end first; those of other threads that come meanwhile may be done or refused, never half.
    ///
    /// - Parameters:
    ///   - discardingUnwritten: What cannot be written is given up; without it, a failure leaves everything as it was, unlocked.
    ///   - barrier: Makes everything written so far durable (syncfs). Nil: each file is synced by itself.
    /// - Throws: ``SecureFileError``: `.noSpace`, `.system`, `.damaged` from the first file that failed. With `discardingUnwritten` nothing.
    public func lock(discardingUnwritten: Bool = false, barrier: (() throws(Errno) -> Void)? = nil) throws(SecureFileError) {
        try transition.withLock { (_) throws(SecureFileError) in
            if isLocked { return }
            // Most of the work first, while calls still go on. What fails fails again below.
            if let barrier { try? settleAll(barrier: barrier) }
            keyed.withLock { $0.isGoing = true }
            do throws(SecureFileError) {
                try suspendFiles(discardingUnwritten, barrier)
            } catch {
                keyed.withLock { $0.isGoing = false }
                throw error
            }
            lanes.removeAll()
            pages.removeAll()
            buffers.removeAll()
            keyed.withLock { keyed in
                keyed.contentKey = nil
                keyed.isGoing = false
            }
        }
    }

    private func suspendFiles(_ discardingUnwritten: Bool, _ barrier: (() throws(Errno) -> Void)?) throws(SecureFileError) {
        let files = openFiles
        for file in files {
            do throws(SecureFileError) { try file.suspend(isSynced: barrier == nil, discardingUnwritten: discardingUnwritten) } catch {
                // Files that were suspended already take their keys again with their next call.
                throw error
            }
        }
        guard let barrier else { return }
        do throws(Errno) {
            try barrier()
        } catch {
            noteFailure()
            if !discardingUnwritten { throw SecureFileError(error, "could not sync the vault's filesystem") }
            return
        }
        for file in files { file.noteSyncedWhileSuspended() }
    }

    /// Gives the key back. Each file reads itself anew with its next call.
    ///
    /// - Throws: ``SecureFileError``: `.wrongKey` where it is another key than before; the context stays locked.
    public func unlock(_ contentKey: SecretKey, keyID: UInt64) throws(SecureFileError) {
        guard keyID == self.keyID else { throw SecureFileError(.wrongKey, "this is another key than before") }
        transition.withLock { _ in keyed.withLock { $0.contentKey = contentKey } }
    }
}
