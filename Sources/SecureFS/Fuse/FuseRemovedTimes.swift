import CFuse
import SecureFileCore

/// The FUSE_SETATTR that the kernel sends after it has removed a file's last name, answered on the shortest way: whoever removes waits for it. See the
/// kernel's include/uapi/linux/fuse.h.
enum FuseRemovedTimes {
    /// fuse_out_header, fuse_attr_out.
    static let length = 16 + 16 + 88
    private static let start = 32

    /// The kernel says the times of modification and of change, and nothing else.
    static func isCandidate(_ input: PageBuffer, count: Int) -> Bool {
        count >= 128 && input.load(at: 4) == FUSE_SETATTR.rawValue && input.load(at: 40) == UInt32(FATTR_MTIME | FATTR_CTIME)
    }

    /// Answers the request in `input`, a candidate, if it can be; makes the reply in `buffer`.
    static func answer(_ input: PageBuffer, _ context: FuseContext, _ buffer: PageBuffer, _ device: FuseDevice) -> Bool {
        let node = NodeID(rawValue: input.load(at: 16))
        let modified = FileTime(seconds: input.load(at: 80), nanoseconds: Int64(input.load(at: 100, as: UInt32.self)))
        let changed = FileTime(seconds: input.load(at: 88), nanoseconds: Int64(input.load(at: 104, as: UInt32.self)))
        guard let status = context.fileSystem.attributesOfRemoved(node, modified: modified, changed: changed) else { return false }
        encode(status, unique: input.load(at: 8), remember: context.rememberSeconds, into: buffer)
        device.write(buffer, 0..<length)
        return true
    }

    static func encode(_ status: FileStatus, unique: UInt64, remember seconds: Double, into buffer: PageBuffer) {
        buffer.zero(0..<length)
        buffer.store(UInt32(length), at: 0)
        buffer.store(unique, at: 8)
        buffer.store(UInt64(seconds), at: 16)
        func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, _ offset: Int) { buffer.store(value, at: start + offset) }
        put(status.inode, 0)
        put(UInt64(bitPattern: status.size), 8)
        put(UInt64(bitPattern: status.blocks), 16)
        for (place, time) in [status.accessed, status.modified, status.changed].enumerated() {
            put(time.seconds, 24 + 8 * place)
            put(UInt32(time.nanoseconds), 48 + 4 * place)
        }
        put(status.mode, 60)
        put(UInt32(truncatingIfNeeded: status.linkCount), 64)
        put(status.owner, 68)
        put(status.group, 72)
        put(UInt32(truncatingIfNeeded: status.deviceNumber), 76)
        put(UInt32(4096), 80)
    }
}
