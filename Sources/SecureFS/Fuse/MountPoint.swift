import CLinux
import Glibc
import SecureFileCore

/// Mounting and unmounting by path, with root's own call or through fusermount3.
package enum MountPoint {
    /// A mount whose server has died answers ENOTCONN to everything; such a one is taken away so that a new mount can be made.
    package static func clearDead(_ path: RawPath) {
        while unsafe path.withCString({ unsafe CLinux_is_dead_mount($0) }) != 0 {
            if geteuid() == 0 {
                if unsafe path.withCString({ unsafe CLinux_unmount_detach($0) }) != 0 { return }
            } else if run(["fusermount3", "-u", "-z", "-q", "--"], path) != .succeeded {
                return
            }
        }
    }

    /// Unmounts as umount(8) does: waits until all is written, and refuses while the mount is in use.
    ///
    /// By another process: the call waits for the mount's own server, without a way to interrupt it. A server that made it itself and was
    /// killed meanwhile would neither answer nor end, and everybody who uses the mount would hang with it.
    package static func unmount(_ path: RawPath) -> Bool {
        switch run(["fusermount3", "-u", "-q", "--"], path) {
        case .succeeded: true
        case .failed: false
        case .notStarted: unsafe path.withCString { unsafe umount2($0, 0) } == 0
        }
    }

    /// Has everything the kernel still holds of the mount written to its server; by another process too.
    static func synchronize(_ path: RawPath) { _ = run(["sync", "-f", "--"], path) }

    private enum Outcome { case succeeded, failed, notStarted }

    private static func run(_ arguments: [String], _ path: RawPath) -> Outcome {
        let words = arguments.map { Array($0.utf8) + [0] } + [Array(path.bytes) + [0]]
        // One block of memory with all words one behind the other, so that no pointer outlives what it points to.
        var block = words.flatMap { $0.map { CChar(bitPattern: $0) } }
        var starts: [Int] = []
        var next = 0
        for word in words {
            starts.append(next)
            next += word.count
        }
        var child = pid_t()
        let started = unsafe block.withUnsafeMutableBufferPointer { memory in
            guard let base = memory.baseAddress else { return ENOMEM }
            var vector: [UnsafeMutablePointer<CChar>?] = unsafe starts.map { unsafe base + $0 } + [nil]
            return unsafe posix_spawnp(&child, base, nil, nil, &vector, environ)
        }
        guard started == 0 else { return .notStarted }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            if CLinux_errno() != EINTR { return .failed }
        }
        return status == 0 ? .succeeded : .failed
    }
}
