import CLinux
import Glibc

/// Extended attributes through `/proc/self/fd`, for descriptors opened as a path only: the calls that take a descriptor refuse those. The
/// inode is the descriptor's own, a symlink too; nothing is followed. Needs /proc.
extension FileDescriptor {
    private var procPath: RawPath { RawPath("/proc/self/fd/\(rawValue)") }

    func pathExtendedAttribute(_ name: RawPath) throws(Errno) -> [UInt8] {
        let path = procPath
        return try unsafe ExtendedAttributes.get(size: 256) { name, value, size in
            unsafe path.withCString { unsafe getxattr($0, name, value, size) }
        } named: { name }
    }

    func setPathExtendedAttribute(_ name: RawPath, _ value: [UInt8], _ rule: AttributeRule) throws(Errno) {
        try retrying {
            unsafe procPath.withCString { path in
                unsafe name.withCString { name in
                    unsafe value.withUnsafeBytes { unsafe setxattr(path, name, $0.baseAddress, $0.count, rule.rawValue) }
                }
            }
        }
    }

    func removePathExtendedAttribute(_ name: RawPath) throws(Errno) {
        try retrying { unsafe procPath.withCString { path in unsafe name.withCString { unsafe removexattr(path, $0) } } }
    }

    func pathExtendedAttributeNames() throws(Errno) -> [RawPath] {
        let path = procPath
        let list = try unsafe ExtendedAttributes.get(size: 1024) { _, value, size in
            unsafe path.withCString { unsafe listxattr($0, value?.assumingMemoryBound(to: CChar.self), size) }
        } named: { RawPath("") }
        return list.split(separator: 0).map { RawPath($0) }
    }
}
