import CLinux
import Glibc
import SecureFileCore
import Synchronization

/// Mounts a file system and serves it until it is unmounted or a signal ends it.
package enum MountServer {
    /// What a serving process does to itself first: no core dumps, no tracing, many descriptors, no umask of its own.
    package static func prepareProcess() {
        _ = CLinux_harden_process()
        _ = CLinux_raise_descriptor_limit()
        CLinux_read_ahead_code()
        umask(0)
    }

    /// How many descriptors this process may have now.
    static var descriptorLimit: Int { Int(clamping: sysconf(Int32(_SC_OPEN_MAX))) }

    package static var isRoot: Bool { geteuid() == 0 }
    static var user: UInt32 { geteuid() }

    /// - Parameters:
    ///   - start: Starts threads of the file system's own: when the signals that end the mount are blocked.
    ///   - served: Given the kernel's caches once the mount is there and served; nil before it ends.
    ///   - ready: Called after that.
    package static func serve(
        _ fileSystem: any FileSystemOperations, at mountPoint: RawPath, _ options: MountOptions,
        start: () throws(Errno) -> Void = { () throws(Errno) in }, served: ((any KernelCaches)?) -> Void = { _ in }, ready: () -> Void
    ) throws(MountFailure) {
        var signals = SignalWaiter()
        MountPoint.clearDead(mountPoint)
        let session = try FuseSession(fileSystem, at: mountPoint, options)
        try session.mount()
        let ended = Ended()
        let target = SignalTarget()
        let loop: FuseLoop
        do throws(Errno) {
            try start()
            loop = try session.start {
                ended.flag.store(true, ordering: .releasing)
                target.wake()
            }
        } catch {
            session.unmount()
            throw MountFailure(message: "cannot start the threads that serve the mount: \(error)")
        }
        KernelLimits.raise(at: mountPoint)
        served(MountCaches(session: session, loop: loop))
        ready()
        while !ended.flag.load(ordering: .acquiring) {
            _ = signals.wait()
            if !ended.flag.load(ordering: .acquiring) { end(session, loop, ended) }
        }
        served(nil)
        loop.stop()
        let failure = loop.join()
        session.unmount()
        if let failure { throw MountFailure(message: "the connection to the kernel failed: \(failure)") }
    }

    /// Ends a mount that is still in place. The threads go on serving meanwhile: the kernel hands over what it still holds.
    private static func end(_ session: FuseSession, _ loop: FuseLoop, _ ended: Ended) {
        MountPoint.synchronize(session.mountPoint)
        if MountPoint.unmount(session.mountPoint) { return }  // the loop sees that and says so
        // In use: what is open stays with its processes and fails from now on; all that was written before is safe.
        ended.flag.store(true, ordering: .releasing)
        loop.stop()
    }

    private final class Ended: Sendable { let flag = Atomic<Bool>(false) }
}
