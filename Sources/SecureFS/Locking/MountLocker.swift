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
    /// - Throws: ``SecureFileError``: `.noSpace`, `.system`, as ``Vault/lock(discardingUnwritten:)``.
    package func lock(discardingUnwritten: Bool) throws(SecureFileError) {
        try transition.withLock { (_) throws(SecureFileError) in
            if vault.isLocked { return }
            guard let caches = caches.withLock({ $0 }) else { throw SecureFileError(.closed, "the mount is coming or going") }
            // The most part while programs go on.
            caches.synchronize()
            gate.set(.draining)
            drain(caches)
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
        for round in 0..<Self.rounds {
            let before = gate.writes.load(ordering: .relaxed)
            caches.synchronize()
            caches.forgetContent(of: known.withContent)
            if round > 1, gate.writes.load(ordering: .relaxed) == before { return }
            // A write(2) that was let in before may be long.
            CurrentProcess.pause(milliseconds: round < 10 ? 2 : 50)
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

    /// Locks once no program has asked for anything for `minutes`, again and again.
    ///
    /// - Returns: To be kept, and stopped at the end.
    func watchIdleness(minutes: Int) throws(Errno) -> Ticker {
        let seen = Mutex<(uses: UInt, quiet: Int)>((0, 0))
        // A twelfth of the time at once: 5 seconds for a minute.
        return try Ticker(every: .seconds(5 * minutes)) { [weak self] in
            guard let self else { return false }
            let now = gate.uses.load(ordering: .relaxed)
            let isIdle = seen.withLock { seen in
                seen = (now, now == seen.uses ? seen.quiet + 1 : 0)
                return seen.quiet >= 12
            }
            if isIdle, !isLocked {
                do throws(SecureFileError) { try lock(discardingUnwritten: false) } catch { log.write("not locked when idle: \(error.message)") }
            }
            return true
        }
    }
}
