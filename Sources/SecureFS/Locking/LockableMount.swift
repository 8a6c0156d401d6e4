import SecureFileCore
import Synchronization

/// The file system of a mount, with all that can take its key away.
final class LockableMount: Sendable {
    let fileSystem: GatedFileSystem
    private let inner: StoreDirectoryFileSystem
    private let locker: MountLocker
    private let log: MountLog
    private let running = Mutex<(control: ControlServer?, idleness: Ticker?)>((nil, nil))

    init(_ vault: Vault, showsStores: Bool, _ log: MountLog) throws(Errno) {
        self.log = log
        inner = StoreDirectoryFileSystem(try VaultFileSystem(vault, log: log, isRoot: MountServer.isRoot), showsStores: showsStores)
        fileSystem = GatedFileSystem(inner)
        locker = MountLocker(fileSystem.gate, inner, log)
    }

    /// Starts what works in the background: after a fork, if there is one.
    func start(autoLockMinutes: Int) throws(Errno) {
        try inner.start()
        if autoLockMinutes > 0 {
            let idleness = try locker.watchIdleness(.seconds(60 * autoLockMinutes))
            running.withLock { $0.idleness = idleness }
        }
        do throws(Errno) {
            let control = try ControlServer(locker, user: MountServer.user)
            running.withLock { $0.control = control }
        } catch { log.write("no control socket, so no `sfs lock` of this mount: \(error)") }
    }

    /// The mount is served, and the kernel's caches can be spoken to; nil: no more.
    func attach(_ caches: (any KernelCaches)?) { locker.attach(caches) }

    /// Writes everything that is still held back and ends the session. Nobody may use the file system any more.
    func finish() throws(SecureFileError) {
        let running = running.withLock { running in
            defer { running = (nil, nil) }
            return running
        }
        running.idleness?.stop()
        running.control?.stop()
        do throws(SecureFileError) { try inner.finish() } catch {
            running.control?.tellEnd(error)
            throw error
        }
        running.control?.tellEnd(nil)
    }
}
