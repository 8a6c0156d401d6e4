import Synchronization

// Locking without being told to.
extension SecureServices {
    /// A watch that goes on until it is cancelled or its last reference goes.
    public final class Watch: Sendable {
        private let task: Task<Void, Never>
        fileprivate init(_ task: Task<Void, Never>) { self.task = task }
        deinit { cancel() }
        /// Ends it. A second call does nothing.
        public func cancel() { task.cancel() }
    }

    @inline(__always)
    func noteUse() { uses.add(1, ordering: .relaxed) }

    /// Locks the service once no handle has been used for `idle`; again after each unlock. A failure (a full disk) is logged, and tried again after
    /// the same time.
    ///
    /// - Returns: To be kept as long as it is to be watched.
    public func lockWhenIdle(for idle: Duration) -> Watch {
        Watch(
            Task.detached { [weak self] in
                var seen = self?.uses.load(ordering: .relaxed)
                while !Task.isCancelled {
                    guard (try? await Task.sleep(for: idle)) != nil, let self else { return }
                    let now = self.uses.load(ordering: .relaxed)
                    if now == seen { self.lockLogging() }
                    seen = now
                }
            })
    }

    /// Follows the kernel's keyring: locks when the key goes from it, by its timeout or by `sfs lock`, and unlocks when it is put there again, by
    /// `sfs unlock`. That way one unlock serves the mount and programs alike.
    ///
    /// Nothing is done as long as the key has never been there.
    /// - Parameter interval: How often it is looked at; that long a key may be used after it has gone.
    /// - Returns: To be kept as long as it is to be followed.
    public func followKeyring(every interval: Duration = .seconds(1)) -> Watch {
        Watch(
            Task.detached { [weak self] in
                var last: Int32?
                while !Task.isCancelled {
                    guard let self else { return }
                    self.follow(&last)
                    if (try? await Task.sleep(for: interval)) == nil { return }
                }
            })
    }

    private func follow(_ last: inout Int32?) {
        guard let keyID else { return }
        let now = VolumeKeys.keyringSerial(keyID: keyID)
        defer { last = now }
        if now == nil, last != nil { lockLogging() }
        if now != nil, now != last, state == .locked {
            do throws(SecureFileError) { try unlock(.keyring(keyID: keyID)) } catch { log("not unlocked: \(error.message)") }
        }
    }

    private func lockLogging() {
        do throws(SecureFileError) { try lock() } catch { log("not locked: \(error.message)") }
    }
}
