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
    case regular, directory, symlink
    case pipe, socket, characterDevice, blockDevice

    /// A pipe, socket or device: it has no content that a file system keeps.
    public var isSpecial: Bool {
        switch self {
        case .regular, .directory, .symlink: false
        case .pipe, .socket, .characterDevice, .blockDevice: true
        }
    }

    /// The system has no attributes of the namespace `user.` here. xattr(7)
    public var takesNoUserAttributes: Bool { self == .symlink || isSpecial }

    /// Of a mode as in st_mode; nil where its type is none that there is.
    public init?(mode: UInt32) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symlink
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFCHR: self = .characterDevice
        case S_IFBLK: self = .blockDevice
        default: return nil
        }
    }

    /// The type bits of a mode.
    public var modeBits: UInt32 {
        switch self {
        case .regular: S_IFREG
        case .directory: S_IFDIR
        case .symlink: S_IFLNK
        case .pipe: S_IFIFO
        case .socket: S_IFSOCK
        case .characterDevice: S_IFCHR
        case .blockDevice: S_IFBLK
        }
    }
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

    /// Which device a device node stands for, as in st_rdev; 0 for all else.
    public var deviceNumber: UInt64

    public var kind: FileKind { FileKind(mode: mode) ?? .socket }

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
        deviceNumber = UInt64(raw.st_rdev)
        accessed = FileTime(seconds: Int64(raw.st_atim.tv_sec), nanoseconds: Int64(raw.st_atim.tv_nsec))
        modified = FileTime(seconds: Int64(raw.st_mtim.tv_sec), nanoseconds: Int64(raw.st_mtim.tv_nsec))
        changed = FileTime(seconds: Int64(raw.st_ctim.tv_sec), nanoseconds: Int64(raw.st_ctim.tv_nsec))
    }
}
