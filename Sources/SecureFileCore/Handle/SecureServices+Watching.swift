import Synchronization

// Locking without being told to.
extension SecureServices {
    /// A watch that goes on until it is cancelled or its last reference goes.
    public final class Watch: Sendable {
        private let ticker: Ticker
        fileprivate init(_ ticker: Ticker) { self.ticker = ticker }
        deinit { cancel() }
        /// Ends it; what it is doing now it still does. A second call does nothing.
        public func cancel() { ticker.stop() }
    }

    @inline(__always)
    func noteUse() { uses.add(1, ordering: .relaxed) }

    private func watch(every interval: Duration, _ body: @escaping @Sendable () -> Bool) throws(SecureFileError) -> Watch {
        do throws(Errno) { return Watch(try Ticker(every: interval, body)) } catch {
            throw SecureFileError(error, "the thread of a watch cannot be started")
        }
    }

    /// Locks the service once no handle has been used for `idle`; again after each unlock. A failure (a full disk) is logged, and tried again after
    /// the same time.
    ///
    /// - Returns: To be kept as long as it is to be watched.
    /// - Throws: ``SecureFileError``: `.system` where no thread can be started.
    public func lockWhenIdle(for idle: Duration) throws(SecureFileError) -> Watch {
        let seen = Mutex<(uses: UInt?, quiet: Int)>((nil, 0))
        return try watch(every: idle / 8) { [weak self] in
            guard let self else { return false }
            let now = uses.load(ordering: .relaxed)
            let isIdle = seen.withLock { seen in
                seen = (now, now == seen.uses ? seen.quiet + 1 : 0)
                if seen.quiet < 8 { return false }
                seen.quiet = 0
                return true
            }
            if isIdle { lockLogging() }
            return true
        }
    }

    /// Follows the kernel's keyring: locks when the key goes from it, by its timeout or by `sfs lock`, and unlocks when it is put there again, by
    /// `sfs unlock`. That way one unlock serves the mount and programs alike.
    ///
    /// Nothing is done as long as the key has never been there.
    /// - Parameter interval: How often it is looked at; that long a key may be used after it has gone.
    /// - Returns: To be kept as long as it is to be followed.
    /// - Throws: ``SecureFileError``: `.system` where no thread can be started.
    public func followKeyring(every interval: Duration = .seconds(1)) throws(SecureFileError) -> Watch {
        let last = Mutex<Int32?>(keyID.flatMap { VolumeKeys.keyringSerial(keyID: $0) })
        return try watch(every: interval) { [weak self] in
            guard let self else { return false }
            let before = last.withLock { $0 }
            let now = follow(before)
            last.withLock { $0 = now }
            return true
        }
    }

    /// - Returns: the kernel's number of the key as it is now.
    private func follow(_ last: Int32?) -> Int32? {
        guard let keyID else { return nil }
        let now = VolumeKeys.keyringSerial(keyID: keyID)
        if now == nil, last != nil { lockLogging() }
        if now != nil, now != last, state == .locked {
            do throws(SecureFileError) { try unlock(.keyring(keyID: keyID)) } catch { log("not unlocked: \(error.message)") }
        }
        return now
    }

    private func lockLogging() {
        do throws(SecureFileError) { try lock() } catch { log("not locked: \(error.message)") }
    }
}
