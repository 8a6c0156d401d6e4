import CLinux
import Glibc
import Synchronization

/// An open descriptor of the system, closed when the last reference goes. Safe to use from several threads.
///
/// Every call is made again when a signal interrupts it. Names are relative to this directory; the error thrown is the system's.
public final class FileDescriptor: Sendable {
    public let rawValue: Int32
    private let isOpen = Atomic<Bool>(true)

    /// Takes over `rawValue`, which must be open and nobody else's to close.
    public init(adopting rawValue: Int32) { self.rawValue = rawValue }

    deinit { if isOpen.load(ordering: .relaxed) { _ = Glibc.close(rawValue) } }

    /// Closes the descriptor now and reports what the system says; it counts as closed in any case. A second call does nothing.
    public func close() throws(Errno) {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        if Glibc.close(rawValue) != 0, Errno.last != .interrupted { throw Errno.last }
    }

    /// The descriptor belongs to somebody else from now on, who closes it.
    func release() { isOpen.store(false, ordering: .relaxed) }

    /// How to open: the flags of open(2); close-on-exec is always added.
    public struct OpenMode: OptionSet, Sendable {
        public let rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }
        public static let readOnly = OpenMode(rawValue: O_RDONLY)
        public static let writeOnly = OpenMode(rawValue: O_WRONLY)
        public static let readWrite = OpenMode(rawValue: O_RDWR)
        public static let create = OpenMode(rawValue: O_CREAT)
        public static let exclusive = OpenMode(rawValue: O_EXCL)
        public static let truncate = OpenMode(rawValue: O_TRUNC)
        public static let noFollow = OpenMode(rawValue: CLinux_O_NOFOLLOW)
        public static let directory = OpenMode(rawValue: CLinux_O_DIRECTORY)
        public static let pathOnly = OpenMode(rawValue: CLinux_O_PATH)
        public static let nonBlocking = OpenMode(rawValue: O_NONBLOCK)
        /// Reading does not change the time of last access, where that may be asked for. The corresponding C flag is `O_NOATIME`.
        public static let keepingAccessTime = OpenMode(rawValue: CLinux_O_NOATIME)
    }

    /// Opens `path`, relative to the working directory.
    public static func open(_ path: RawPath, _ mode: OpenMode, permissions: UInt32 = 0o600) throws(Errno) -> FileDescriptor {
        try open(CLinux_AT_FDCWD, path, mode, permissions)
    }

    /// Opens `name` in this directory.
    public func open(_ name: RawPath, _ mode: OpenMode, permissions: UInt32 = 0o600) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(rawValue, name, mode, permissions)
    }

    private static func open(_ at: Int32, _ path: RawPath, _ mode: OpenMode, _ permissions: UInt32) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            let fd: Int32 = try retrying {
                unsafe path.withCString { unsafe CLinux_openat(at, $0, mode.rawValue | CLinux_O_CLOEXEC, permissions) }
            }
            return FileDescriptor(adopting: fd)
        } catch {
            // Only the owner may ask for it; whoever else reads leaves a trace.
            guard error == .notPermitted, mode.contains(.keepingAccessTime) else { throw error }
            return try open(at, path, mode.subtracting(.keepingAccessTime), permissions)
        }
    }

    /// A second descriptor of the same inode, opened anew through /proc (for a descriptor that was opened as a path only, or in another mode).
    public func reopened(_ mode: OpenMode) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(RawPath("/proc/self/fd/\(rawValue)"), mode)
    }

    // MARK: Content

    /// Reads up to `range.count` bytes from `offset`; fewer only at the end of the file. The corresponding C function is `pread`.
    public func read(at offset: Int64, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int {
        var done = 0
        while done < range.count {
            let rest = range.lowerBound + done..<range.upperBound
            let got: Int = try retrying {
                unsafe buffer.withPointer(rest) { unsafe pread(rawValue, $0.baseAddress, $0.count, off_t(offset) + off_t(done)) }
            }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Has the system begin to read the `count` bytes at `offset` that it does not have in memory. A hint: no failure is reported. The corresponding
    /// C function is `posix_fadvise`.
    public func prefetch(at offset: Int64, count: Int64) {
        _ = posix_fadvise(rawValue, off_t(offset), off_t(count), Int32(POSIX_FADV_WILLNEED))
    }

    /// Writes the bytes `range` of `buffer` at `offset`, all of them or throws. The corresponding C function is `pwrite`.
    public func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: Int64) throws(Errno) {
        var done = 0
        while done < range.count {
            let rest = range.lowerBound + done..<range.upperBound
            let put: Int = try retrying {
                unsafe buffer.withPointer(rest) { unsafe pwrite(rawValue, $0.baseAddress, $0.count, off_t(offset) + off_t(done)) }
            }
            if put == 0 { throw .inputOutput }  // no progress is an error, not a reason to go on for ever
            done += put
        }
    }

    /// Writes the first `count` bytes of several pages behind each other at `offset`, all of them or throws. The corresponding C function is `pwritev`.
    func write(_ pages: [PageBuffer], _ count: Int, at offset: Int64) throws(Errno) {
        precondition(pages.count <= Int(UIO_MAXIOV))
        let put: Int = try retrying {
            unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: pages.count) { vector in
                var left = count
                for (number, page) in pages.enumerated() {
                    let length = min(left, page.count)
                    unsafe page.withPointer(0..<length) { unsafe vector[number] = iovec(iov_base: $0.baseAddress, iov_len: length) }
                    left -= length
                }
                return withExtendedLifetime(pages) { unsafe pwritev(rawValue, vector.baseAddress, Int32(pages.count), off_t(offset)) }
            }
        }
        // In part, as at a limit of size: page by page, which gives the error.
        var start = 0
        for page in pages where start < count {
            let end = min(start + page.count, count)
            if end > put { try write(page, max(0, put - start)..<end - start, at: offset + Int64(max(start, put))) }
            start = end
        }
    }

    /// The whole content of a small file, at most `limit` bytes; `.fileTooLarge` beyond.
    public func readAll(limit: Int) throws(Errno) -> [UInt8] {
        let buffer = PageBuffer(count: limit + 1)
        let got = try read(at: 0, into: buffer, 0..<limit + 1)
        if got > limit { throw .fileTooLarge }
        return buffer.bytes(0..<got)
    }

    /// What can be read from a stream (pipe, terminal) until its end, at most `limit` bytes; `.fileTooLarge` beyond.
    public func readStream(limit: Int) throws(Errno) -> [UInt8] {
        var all: [UInt8] = []
        let buffer = PageBuffer(count: 4096)
        while true {
            let got: Int = try retrying { unsafe buffer.withPointer(0..<4096) { unsafe Glibc.read(rawValue, $0.baseAddress, $0.count) } }
            if got == 0 { return all }
            all += buffer.bytes(0..<got)
            if all.count > limit { throw .fileTooLarge }
        }
    }

    /// Writes `bytes` at the descriptor's own position, all of them or throws.
    public func writeStream(_ bytes: [UInt8]) throws(Errno) {
        if bytes.isEmpty { return }
        let buffer = PageBuffer(uninitialized: bytes.count)
        buffer.copy(bytes, to: 0)
        try writeStream(buffer, 0..<bytes.count)
    }

    public func writeStream(_ buffer: PageBuffer, _ range: Range<Int>) throws(Errno) {
        var done = range.lowerBound
        while done < range.upperBound {
            let put: Int = try retrying {
                unsafe buffer.withPointer(done..<range.upperBound) { unsafe Glibc.write(rawValue, $0.baseAddress, $0.count) }
            }
            if put == 0 { throw .inputOutput }
            done += put
        }
    }

    public func setLength(_ length: Int64) throws(Errno) { try retrying { ftruncate(rawValue, off_t(length)) } }

    /// Content and length are on the disk when this returns. The corresponding C function is `fdatasync`.
    public func synchronizeData() throws(Errno) { try retrying { fdatasync(rawValue) } }

    /// Content and all attributes are on the disk when this returns. The corresponding C function is `fsync`.
    public func synchronize() throws(Errno) { try retrying { fsync(rawValue) } }

    /// Everything of the filesystem this descriptor is on is on the disk when this returns. The corresponding C function is `syncfs`.
    public func synchronizeFilesystem() throws(Errno) { try retrying { CLinux_syncfs(rawValue) } }

    /// Frees the space of a range, which then reads as zeros; the length stays.
    public func punchHole(at offset: Int64, count: Int64) throws(Errno) {
        let mode = CLinux_FALLOC_FL_PUNCH_HOLE | CLinux_FALLOC_FL_KEEP_SIZE
        try retrying { CLinux_fallocate(rawValue, mode, off_t(offset), off_t(count)) }
    }

    /// Reserves space for a range; the length stays.
    public func reserve(at offset: Int64, count: Int64) throws(Errno) {
        try retrying { CLinux_fallocate(rawValue, CLinux_FALLOC_FL_KEEP_SIZE, off_t(offset), off_t(count)) }
    }

    /// The first offset at or after `offset` that holds data, nil when there is none.
    public func nextData(at offset: Int64) throws(Errno) -> Int64? {
        do {
            return Int64(try retrying { Int(lseek(rawValue, off_t(offset), CLinux_SEEK_DATA)) })
        } catch {
            if error == .noSuchAddress { return nil }
            throw error
        }
    }

    // MARK: Attributes

    public func status() throws(Errno) -> FileStatus {
        var raw = stat()
        try retrying { unsafe fstat(rawValue, &raw) }
        return FileStatus(raw)
    }

    /// The same with the times of modification and change left out, of which the system thus need not keep what it has told. The corresponding
    /// C function is `statx`.
    package func statusButTimes() throws(Errno) -> FileStatus {
        var raw = stat()
        try retrying { unsafe CLinux_fstat_but_times(rawValue, &raw) }
        return FileStatus(raw)
    }

    /// The status of `name` in this directory; a symlink is not followed.
    public func status(of name: RawPath) throws(Errno) -> FileStatus {
        var raw = stat()
        try retrying { unsafe name.withCString { unsafe fstatat(rawValue, $0, &raw, CLinux_AT_SYMLINK_NOFOLLOW) } }
        return FileStatus(raw)
    }

    public func setPermissions(_ permissions: UInt32) throws(Errno) { try retrying { fchmod(rawValue, permissions) } }

    /// Sets owner and group; nil leaves one as it is.
    public func setOwner(_ owner: UInt32?, group: UInt32?) throws(Errno) {
        try retrying { fchown(rawValue, owner ?? .max, group ?? .max) }
    }

    /// Owner and group of `name`, a symlink itself where it is one.
    public func setOwner(of name: RawPath, _ owner: UInt32?, group: UInt32?) throws(Errno) {
        try retrying { unsafe name.withCString { unsafe fchownat(rawValue, $0, owner ?? .max, group ?? .max, CLinux_AT_SYMLINK_NOFOLLOW) } }
    }

    public func setPermissions(of name: RawPath, _ permissions: UInt32) throws(Errno) {
        try retrying { unsafe name.withCString { unsafe fchmodat(rawValue, $0, permissions, 0) } }
    }

    /// A time to set: a given one, the present, or none (it stays).
    public enum TimeChange: Sendable {
        case to(FileTime), now, keep
        var raw: timespec {
            switch self {
            case .to(let time): timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
            case .now: timespec(tv_sec: 0, tv_nsec: CLinux_UTIME_NOW)
            case .keep: timespec(tv_sec: 0, tv_nsec: CLinux_UTIME_OMIT)
            }
        }
    }

    public func setTimes(accessed: TimeChange, modified: TimeChange) throws(Errno) {
        let times = [accessed.raw, modified.raw]
        try retrying { unsafe times.withUnsafeBufferPointer { unsafe futimens(rawValue, $0.baseAddress) } }
    }

    public func setTimes(of name: RawPath, accessed: TimeChange, modified: TimeChange) throws(Errno) {
        let times = [accessed.raw, modified.raw]
        try retrying {
            unsafe times.withUnsafeBufferPointer { times in
                unsafe name.withCString { unsafe utimensat(rawValue, $0, times.baseAddress, CLinux_AT_SYMLINK_NOFOLLOW) }
            }
        }
    }

    // MARK: Locks

    /// Gives the advisory lock back, also where a child process that is just being started holds a copy of the descriptor.
    public func unlock() throws(Errno) { try retrying { flock(rawValue, LOCK_UN) } }

    /// Takes the exclusive advisory lock of the file without waiting; false when another open file holds it. A dead process holds none.
    public func tryLock() throws(Errno) -> Bool {
        do {
            try retrying { flock(rawValue, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.rawValue == EWOULDBLOCK { return false }
            throw error
        }
    }

    /// Whether another open file holds the exclusive lock. Asking takes a shared one for a moment.
    public func isLockedElsewhere() throws(Errno) -> Bool {
        do {
            try retrying { flock(rawValue, LOCK_SH | LOCK_NB) }
        } catch {
            if error.rawValue == EWOULDBLOCK { return true }
            throw error
        }
        try retrying { flock(rawValue, LOCK_UN) }
        return false
    }
}
