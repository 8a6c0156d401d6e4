import CLinux
import Glibc

/// Attributes of the inode a descriptor stands for, also where it was opened as a path only: the plain calls refuse those. Nothing is
/// followed, not even a symlink that is itself the inode. Needs /proc.
extension FileDescriptor {
    private var procPath: RawPath { RawPath("/proc/self/fd/\(rawValue)") }

    public func setInodePermissions(_ permissions: UInt32) throws(Errno) {
        try retrying { unsafe procPath.withCString { unsafe fchmodat(CLinux_AT_FDCWD, $0, permissions, 0) } }
    }

    /// When the inode was made; nil where the file system does not keep it. The corresponding C function is `statx`.
    public func birthTime() throws(Errno) -> FileTime? {
        var (seconds, nanoseconds): (Int64, UInt32) = (0, 0)
        let isKept = try retrying { unsafe CLinux_birth_time(rawValue, &seconds, &nanoseconds) }
        return isKept == 0 ? nil : FileTime(seconds: seconds, nanoseconds: Int64(nanoseconds))
    }

    /// Sets owner and group; nil leaves one as it is.
    public func setInodeOwner(_ owner: UInt32?, group: UInt32?) throws(Errno) {
        let flags = CLinux_AT_EMPTY_PATH | CLinux_AT_SYMLINK_NOFOLLOW
        try retrying { unsafe fchownat(rawValue, "", owner ?? .max, group ?? .max, flags) }
    }

    public func setInodeTimes(accessed: TimeChange, modified: TimeChange) throws(Errno) {
        let times = [accessed.raw, modified.raw]
        try retrying {
            unsafe times.withUnsafeBufferPointer { times in
                unsafe procPath.withCString { unsafe utimensat(CLinux_AT_FDCWD, $0, times.baseAddress, 0) }
            }
        }
    }
}
