import SecureFileCore
import Synchronization

/// Takes the key from a live mount, and gives it back. The mount stays in place; what programs have open stays open.
///
/// A write(2) that has returned lies in the kernel's page cache. None of that may be lost when the key goes, and none of it may stay there. So
/// nothing new is let in first, then the kernel hands over what it has until there is no more, and only then the key goes.
package final class MountLocker: Sendable {
    private let gate: LockGate
    private let fileSystem: StoreDirectoryFileSystem
    private let vault: Vault
    private let log: MountLog
    private let caches = Mutex<(any KernelCaches)?>(nil)
    private let transition = Mutex<Void>(())
    private static let rounds = 200
    /// So often nothing may come in, one after the other, before it counts as all.
    private static let quietRounds = 8

    init(_ gate: LockGate, _ fileSystem: StoreDirectoryFileSystem, _ log: MountLog) {
        self.gate = gate
        self.fileSystem = fileSystem
        self.log = log
        vault = fileSystem.vault.vault
    }

    /// The mount is served from now on; nil: no more.
    func attach(_ caches: (any KernelCaches)?) { self.caches.withLock { $0 = caches } }

    package var isLocked: Bool { vault.isLocked }

    /// Takes the key away; a second call does nothing.
    ///
    /// - Parameter discardingUnwritten: What cannot be written to the vault is given up; without it the mount stays unlocked then.
    /// - Throws: ``SecureFileError``: `.noSpace`, `.system`, as ``Vault/lock(discardingUnwritten:)``, and where the kernel held data that could not be
    ///   taken from it. The kernel has dropped that data then, and the next call may succeed.
    package func lock(discardingUnwritten: Bool) throws(SecureFileError) {
        try transition.withLock { (_) throws(SecureFileError) in
            if vault.isLocked { return }
            guard let caches = caches.withLock({ $0 }) else { throw SecureFileError(.closed, "the mount is coming or going") }
            let refusals = gate.refusals.load(ordering: .acquiring)
            // The most part while programs go on.
            caches.synchronize()
            gate.set(.draining)
            drain(caches)
            do throws(Errno) { if !discardingUnwritten { try gate.requireNoRefusal(since: refusals) } } catch {
                gate.set(.open)
                throw SecureFileError(error, "not all that programs have written could be stored; they are told by fsync or close")
            }
            fileSystem.giveUpPlaintext()
            let names = rootNames()
            do throws(SecureFileError) { try vault.lock(discardingUnwritten: discardingUnwritten) } catch {
                gate.set(.open)
                throw error
            }
            gate.set(.locked)
            caches.forgetEntries(ofRoot: names)
            caches.wipeBuffers()
        }
    }

    /// Has the kernel hand over everything it holds, and keep nothing of it.
    private func drain(_ caches: any KernelCaches) {
        // What was begun before the gate closed may still tell the kernel to remember attributes, and a write that finds them begins at once.
        caches.waitForRequests()
        let known = fileSystem.vault.table.knownToKernel()
        caches.forgetAttributes(of: known.inUse)
        var quiet = 0
        for round in 0..<Self.rounds {
            let before = gate.writes.load(ordering: .relaxed)
            caches.synchronize()
            // Only what is written already: forgetting waits for the rest of an inode, and this thread is not to wait for its own mount.
            if gate.writes.load(ordering: .relaxed) == before { caches.forgetContent(of: known.withContent) }
            quiet = gate.writes.load(ordering: .relaxed) == before ? quiet + 1 : 0
            if quiet == Self.quietRounds { return }
            // A write(2) that was let in before may be long, or its program may be waiting for a processor.
            CurrentProcess.pause(milliseconds: round < 20 ? 5 : 50)
        }
        log.write("data still comes in; what comes after the key has gone is refused")
    }

    private func rootNames() -> [[UInt8]] {
        let root = vault.root
        return fileSystem.vault.table.knownToKernel().ofRoot.compactMap { try? root.plaintextName(of: $0) }
    }

    /// Gives the key back.
    ///
    /// - Throws: ``SecureFileError``: `.wrongKey`, `.system`; the mount stays locked.
    package func unlock(with keys: VolumeKeys) throws(SecureFileError) {
        try transition.withLock { (_) throws(SecureFileError) in
            try vault.unlock(with: keys)
            gate.set(.open)
        }
    }

    // MARK: Idleness

    /// Locks once no program has asked for anything for `time` (up to a twelfth longer), again and again.
    ///
    /// - Returns: To be kept, and stopped at the end.
    func watchIdleness(_ time: Duration) throws(Errno) -> Ticker {
        let ticks = 12
        let seen = Mutex<(uses: UInt, quiet: Int)>((0, 0))
        return try Ticker(every: time / ticks) { [weak self] in
            guard let self else { return false }
            let now = gate.uses.load(ordering: .relaxed)
            let isIdle = seen.withLock { seen in
                seen = (now, now == seen.uses ? seen.quiet + 1 : 0)
                return seen.quiet >= ticks
            }
            if isIdle, !isLocked {
                do throws(SecureFileError) { try lock(discardingUnwritten: false) } catch { log.write("not locked when idle: \(error.message)") }
            }
            return true
        }
    }
}
