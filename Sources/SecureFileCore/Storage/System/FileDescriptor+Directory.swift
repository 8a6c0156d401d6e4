import CLinux
import Glibc

extension FileDescriptor {
    public func makeDirectory(_ name: RawPath, permissions: UInt32) throws(Errno) {
        try retrying { unsafe name.withCString { unsafe mkdirat(rawValue, $0, permissions) } }
    }

    /// Makes a pipe, socket or device. The corresponding C function is `mknodat`.
    public func makeSpecialFile(_ name: RawPath, _ kind: FileKind, permissions: UInt32, device: UInt64) throws(Errno) {
        try retrying { unsafe name.withCString { unsafe mknodat(rawValue, $0, kind.modeBits | permissions, dev_t(device)) } }
    }

    public func remove(_ name: RawPath) throws(Errno) {
        try retrying { unsafe name.withCString { unsafe unlinkat(rawValue, $0, 0) } }
    }

    public func removeDirectory(_ name: RawPath) throws(Errno) {
        try retrying { unsafe name.withCString { unsafe unlinkat(rawValue, $0, CLinux_AT_REMOVEDIR) } }
    }

    /// What a rename does with a target that exists.
    public enum RenameRule: Sendable {
        case replace, noReplace, exchange
        var flags: UInt32 {
            switch self {
            case .replace: 0
            case .noReplace: CLinux_RENAME_NOREPLACE
            case .exchange: CLinux_RENAME_EXCHANGE
            }
        }
    }

    /// The corresponding C function is `renameat2`.
    public func rename(_ name: RawPath, to directory: FileDescriptor, _ newName: RawPath, _ rule: RenameRule = .replace) throws(Errno) {
        try retrying {
            unsafe name.withCString { old in
                unsafe newName.withCString { new in unsafe CLinux_renameat2(rawValue, old, directory.rawValue, new, rule.flags) }
            }
        }
    }

    /// Gives the inode of this descriptor another name. Needs /proc.
    public func link(as newName: RawPath, in directory: FileDescriptor) throws(Errno) {
        let source = RawPath("/proc/self/fd/\(rawValue)")
        try retrying {
            unsafe source.withCString { old in
                unsafe newName.withCString { new in
                    unsafe linkat(CLinux_AT_FDCWD, old, directory.rawValue, new, CLinux_AT_SYMLINK_FOLLOW)
                }
            }
        }
    }

    /// Gives `name`, itself where it is a symlink, another name.
    public func link(_ name: RawPath, to directory: FileDescriptor, _ newName: RawPath) throws(Errno) {
        try retrying {
            unsafe name.withCString { old in
                unsafe newName.withCString { new in unsafe linkat(rawValue, old, directory.rawValue, new, 0) }
            }
        }
    }

    public func makeSymlink(_ name: RawPath, target: RawPath) throws(Errno) {
        try retrying {
            unsafe target.withCString { target in unsafe name.withCString { unsafe symlinkat(target, rawValue, $0) } }
        }
    }

    /// The target of the symlink `name`, at most 4095 bytes.
    public func symlinkTarget(_ name: RawPath) throws(Errno) -> [UInt8] {
        let buffer = PageBuffer(count: 4096)
        let length: Int = try retrying {
            unsafe name.withCString { name in
                unsafe buffer.withPointer(0..<4096) {
                    unsafe readlinkat(rawValue, name, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
                }
            }
        }
        return buffer.bytes(0..<length)
    }

    /// Space and inode counts of the filesystem. The corresponding C function is `fstatvfs`.
    public func filesystemStatus() throws(Errno) -> FilesystemStatus {
        var raw = statvfs()
        try retrying { unsafe fstatvfs(rawValue, &raw) }
        return FilesystemStatus(
            blockSize: UInt64(raw.f_bsize), fragmentSize: UInt64(raw.f_frsize), blocks: UInt64(raw.f_blocks), blocksFree: UInt64(raw.f_bfree),
            blocksAvailable: UInt64(raw.f_bavail), files: UInt64(raw.f_files), filesFree: UInt64(raw.f_ffree),
            filesAvailable: UInt64(raw.f_favail), isReadOnly: raw.f_flag & UInt(ST_RDONLY) != 0)
    }

    /// Whether 256 MiB are free.
    package func hasPlentyOfRoom() -> Bool {
        guard let status = try? filesystemStatus() else { return false }
        return status.blocksAvailable.multipliedReportingOverflow(by: status.fragmentSize).partialValue >= 256 << 20
    }

    /// Whether this lies on ext2, ext3 or ext4. The corresponding C function is `fstatfs`.
    package func isOnExt() throws(Errno) -> Bool {
        try retrying { CLinux_filesystem_kind(rawValue) } == 0xef53
    }

    /// Whether this lies in memory (tmpfs, ramfs): nothing has to be fetched to be read. The corresponding C function is `fstatfs`.
    package func isInMemory() throws(Errno) -> Bool {
        let kind = try retrying { CLinux_filesystem_kind(rawValue) }
        return kind == 0x0102_1994 || kind == 0x8584_58F6
    }

    // MARK: Extended attributes

    /// The value of an extended attribute of this inode; `.noData` when it has none.
    public func extendedAttribute(_ name: RawPath) throws(Errno) -> [UInt8] {
        try unsafe ExtendedAttributes.get(size: 256) { name, value, size in unsafe fgetxattr(self.rawValue, name, value, size) } named: { name }
    }

    public func setExtendedAttribute(_ name: RawPath, _ value: [UInt8], _ rule: AttributeRule = .any) throws(Errno) {
        try retrying {
            unsafe name.withCString { name in
                unsafe value.withUnsafeBytes { unsafe fsetxattr(rawValue, name, $0.baseAddress, $0.count, rule.rawValue) }
            }
        }
    }

    public func removeExtendedAttribute(_ name: RawPath) throws(Errno) {
        try retrying { unsafe name.withCString { unsafe fremovexattr(rawValue, $0) } }
    }

    /// The names of all extended attributes of this inode.
    public func extendedAttributeNames() throws(Errno) -> [RawPath] {
        let list = try unsafe ExtendedAttributes.get(size: 1024) { _, value, size in
            unsafe flistxattr(self.rawValue, value?.assumingMemoryBound(to: CChar.self), size)
        } named: { RawPath("") }
        return list.split(separator: 0).map { RawPath($0) }
    }

    /// Whether an attribute must exist, must not, or may.
    public enum AttributeRule: Int32, Sendable {
        case any = 0
        case mustNotExist = 1  // XATTR_CREATE
        case mustExist = 2  // XATTR_REPLACE
    }
}

/// The growing-buffer loop that getxattr(2) and listxattr(2) need.
enum ExtendedAttributes {
    typealias Call = (UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int

    static func get(size: Int, _ call: Call, named name: () -> RawPath) throws(Errno) -> [UInt8] {
        let name = name()
        var size = size
        while true {
            let buffer = PageBuffer(count: size)
            do {
                let got: Int = try retrying {
                    unsafe name.withCString { name in
                        unsafe buffer.withPointer(0..<size) { unsafe call(name, $0.baseAddress, $0.count) }
                    }
                }
                return buffer.bytes(0..<got)
            } catch {
                guard error == .range, size < 1 << 20 else { throw error }
                size *= 16
            }
        }
    }
}

/// What fstatvfs(3) says, in its units.
public struct FilesystemStatus: Sendable {
    public var blockSize, fragmentSize, blocks, blocksFree, blocksAvailable, files, filesFree, filesAvailable: UInt64
    public var isReadOnly: Bool
}
