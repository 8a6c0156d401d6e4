import CFuse
import CLinux
import Glibc
import SecureFileCore

// Between Swift values and the C structures of libfuse, one direction a function.

extension timespec {
    init(_ time: FileTime) { self.init(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds)) }
}

extension FileTime {
    init(_ raw: timespec) { self.init(seconds: Int64(raw.tv_sec), nanoseconds: Int64(raw.tv_nsec)) }
}

extension stat {
    init(_ status: FileStatus) {
        self.init()
        st_ino = UInt(status.inode)
        st_mode = status.mode
        st_nlink = UInt(status.linkCount)
        st_uid = status.owner
        st_gid = status.group
        st_size = Int(status.size)
        st_blocks = Int(status.blocks)
        st_rdev = UInt(status.deviceNumber)
        st_blksize = 4096
        st_atim = timespec(status.accessed)
        st_mtim = timespec(status.modified)
        st_ctim = timespec(status.changed)
    }

    /// What a plain directory entry tells: inode and kind.
    init(inode: UInt64, kind: FileKind) {
        self.init()
        st_ino = UInt(inode)
        st_mode = kind.modeBits
    }
}

extension fuse_entry_param {
    /// - Parameter seconds: How long the kernel may remember the entry and its attributes.
    init(_ entry: Entry, remember seconds: Double) {
        let seconds = entry.node.isVolatile ? 0 : seconds
        self.init()
        ino = entry.node.rawValue
        attr = stat(entry.attributes)
        attr_timeout = seconds
        entry_timeout = seconds
    }

    /// There is no such entry, and the kernel may remember it.
    static func negative(remember seconds: Double) -> fuse_entry_param {
        var entry = fuse_entry_param()
        entry.entry_timeout = seconds
        return entry
    }
}

extension statvfs {
    init(_ status: FilesystemStatus, nameLimit: UInt) {
        self.init()
        f_bsize = UInt(status.blockSize)
        f_frsize = UInt(status.fragmentSize)
        f_blocks = UInt(status.blocks)
        f_bfree = UInt(status.blocksFree)
        f_bavail = UInt(status.blocksAvailable)
        f_files = UInt(status.files)
        f_ffree = UInt(status.filesFree)
        f_favail = UInt(status.filesAvailable)
        f_namemax = nameLimit
    }
}

extension OpenIntent {
    init(flags: Int32, losesPrivileges: Caller?) {
        let access = flags & O_ACCMODE
        self.init(
            reads: access != O_WRONLY, writes: access != O_RDONLY, truncates: flags & O_TRUNC != 0, appends: flags & O_APPEND != 0,
            losesPrivileges: losesPrivileges)
    }
}

extension AttributeChange {
    /// - Parameter bits: What of `raw` counts, FUSE_SET_ATTR_….
    init(_ raw: stat, bits: Int32, losesPrivileges: Bool) {
        self.init()
        if bits & FUSE_SET_ATTR_MODE != 0 { permissions = raw.st_mode & 0o7777 }
        if bits & FUSE_SET_ATTR_UID != 0 { owner = raw.st_uid }
        if bits & FUSE_SET_ATTR_GID != 0 { group = raw.st_gid }
        if bits & FUSE_SET_ATTR_SIZE != 0 { size = Int64(raw.st_size) }
        if bits & FUSE_SET_ATTR_ATIME_NOW != 0 {
            accessed = .now
        } else if bits & FUSE_SET_ATTR_ATIME != 0 {
            accessed = .to(FileTime(raw.st_atim))
        }
        if bits & FUSE_SET_ATTR_MTIME_NOW != 0 {
            modified = .now
        } else if bits & FUSE_SET_ATTR_MTIME != 0 {
            modified = .to(FileTime(raw.st_mtim))
        }
        if bits & FUSE_SET_ATTR_CTIME != 0 { changed = FileTime(raw.st_ctim) }
        isOwnerConfirmed = bits & ~FUSE_SET_ATTR_FORCE == FUSE_SET_ATTR_CTIME
        isEmpty = bits & ~FUSE_SET_ATTR_FORCE == 0
        self.losesPrivileges = losesPrivileges
    }
}

extension AllocationMode {
    /// Nil for a combination fallocate(2) has and we have not.
    init?(flags: Int32) {
        let keep = flags & CLinux_FALLOC_FL_KEEP_SIZE != 0
        switch flags & ~CLinux_FALLOC_FL_KEEP_SIZE {
        case 0: self = .allocate(keepSize: keep)
        case CLinux_FALLOC_FL_PUNCH_HOLE where keep: self = .punchHole
        case CLinux_FALLOC_FL_ZERO_RANGE: self = .zeroRange(keepSize: keep)
        default: return nil
        }
    }
}

extension Array where Element == UInt8 {
    /// A copy of a C string, whose memory dies when the operation returns.
    init(copying string: UnsafePointer<CChar>) {
        self = unsafe Array(UnsafeRawBufferPointer(start: string, count: strlen(string)))
    }
}
