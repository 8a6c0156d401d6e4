import CLinux
import Glibc

/// Attributes of the inode a descriptor stands for, also where it was opened as a path only: the plain calls refuse those. Nothing is
/// followed, not even a symlink that is itself the inode. Needs /proc.
extension FileDescriptor {
    private var procPath: RawPath { RawPath("/proc/self/fd/\(rawValue)") }

    public func setInodePermissions(_ permissions: UInt32) throws(Errno) {
        try retrying { unsafe procPath.withCString { unsafe fchmodat(CLinux_AT_FDCWD, $0, permissions, 0) } }
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
