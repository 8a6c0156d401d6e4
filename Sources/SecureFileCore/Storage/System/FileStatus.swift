import Glibc

/// A point in time: seconds since 1970 and nanoseconds, 0 to 999,999,999.
public struct FileTime: Hashable, Sendable {
    public var seconds: Int64
    public var nanoseconds: Int64
    public init(seconds: Int64, nanoseconds: Int64) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }
}

/// What kind of object an inode is.
public enum FileKind: Sendable {
    case regular, directory, symlink, other
}

/// What the system says of an inode. The corresponding C type is `struct stat`.
public struct FileStatus: Sendable {
    public var device: UInt64
    public var inode: UInt64
    /// Type and permission bits, as in st_mode.
    public var mode: UInt32
    public var linkCount: UInt64
    public var owner: UInt32
    public var group: UInt32
    /// Length in bytes.
    public var size: Int64
    /// Space in use, in units of 512 bytes.
    public var blocks: Int64
    public var accessed: FileTime
    public var modified: FileTime
    public var changed: FileTime

    public var kind: FileKind {
        switch mode & S_IFMT {
        case S_IFREG: .regular
        case S_IFDIR: .directory
        case S_IFLNK: .symlink
        default: .other
        }
    }

    /// The permission bits, set-id and sticky bits included.
    public var permissions: UInt32 { mode & 0o7777 }

    init(_ raw: stat) {
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
        mode = raw.st_mode
        linkCount = UInt64(raw.st_nlink)
        owner = raw.st_uid
        group = raw.st_gid
        size = Int64(raw.st_size)
        blocks = Int64(raw.st_blocks)
        accessed = FileTime(seconds: Int64(raw.st_atim.tv_sec), nanoseconds: Int64(raw.st_atim.tv_nsec))
        modified = FileTime(seconds: Int64(raw.st_mtim.tv_sec), nanoseconds: Int64(raw.st_mtim.tv_nsec))
        changed = FileTime(seconds: Int64(raw.st_ctim.tv_sec), nanoseconds: Int64(raw.st_ctim.tv_nsec))
    }
}
