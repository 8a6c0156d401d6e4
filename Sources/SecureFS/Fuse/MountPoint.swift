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
            } else if !runFusermount(["-u", "-z", "-q", "--"], path) {
                return
            }
        }
    }

    /// Unmounts as umount(8) does: waits until all is written, and refuses while the mount is in use.
    package static func unmount(_ path: RawPath) -> Bool {
        if geteuid() == 0 { return unsafe path.withCString { unsafe umount2($0, 0) } == 0 }
        return runFusermount(["-u", "-q", "--"], path)
    }

    /// Has everything the kernel still holds of the mount written to its server.
    static func synchronize(_ path: RawPath) {
        guard let root = try? FileDescriptor.open(path, [.readOnly, .directory]) else { return }
        try? root.synchronizeFilesystem()
    }

    private static func runFusermount(_ arguments: [String], _ path: RawPath) -> Bool {
        let words = (["fusermount3"] + arguments).map { Array($0.utf8) + [0] } + [Array(path.bytes) + [0]]
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
            return unsafe posix_spawnp(&child, "fusermount3", nil, nil, &vector, environ)
        }
        guard started == 0 else { return false }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            if CLinux_errno() != EINTR { return false }
        }
        return status == 0
    }
}
