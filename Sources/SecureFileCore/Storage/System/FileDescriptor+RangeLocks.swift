import CLinux
import Glibc

/// Advisory locks of byte ranges. They belong to the open file, not to the process: two descriptors opened by one process exclude each
/// other too, closing another descriptor of the file takes none away, and a dead process holds none.
extension FileDescriptor {
    public enum RangeLock: Sendable {
        case shared, exclusive, none
        var type: Int16 {
            switch self {
            case .shared: Int16(F_RDLCK)
            case .exclusive: Int16(F_WRLCK)
            case .none: Int16(F_UNLCK)
            }
        }
    }

    /// Changes the lock of a range without waiting; false when another open file's lock is in the way. A file opened for reading only can be
    /// locked shared only. The range may lie past the end. The corresponding C function is `fcntl` with `F_OFD_SETLK`.
    public func setLock(_ lock: RangeLock, start: Int64, count: Int64) throws(Errno) -> Bool {
        do throws(Errno) {
            try retrying { CLinux_lock_range(rawValue, lock.type, off_t(start), off_t(count)) }
            return true
        } catch {
            if error == .tryAgain || error == .accessDenied { return false }
            throw error
        }
    }

    /// Whether another open file holds a lock that excludes an exclusive one of the range.
    public func isLockedElsewhere(start: Int64, count: Int64) throws(Errno) -> Bool {
        try retrying { CLinux_is_range_locked(rawValue, Int16(F_WRLCK), off_t(start), off_t(count)) } == 1
    }
}
