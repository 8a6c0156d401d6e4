import SecureFileCore

/// FUSE_STATX (Linux 6.6), which libfuse 3.14 does not know: attributes and the time of birth, for programs that ask statx(2) for that.
/// See the kernel's include/uapi/linux/fuse.h.
struct FuseStatx {
    static let opcode: UInt32 = 52

    // fuse_out_header, fuse_statx_out up to its statx, fuse_statx.
    private static let headerLength = 16
    private static let start = 16 + 32
    static let length = 16 + 32 + 256
    private static let basicStats: UInt32 = 0x7FF  // STATX_BASIC_STATS
    private static let birth: UInt32 = 0x800  // STATX_BTIME

    /// The reply to the request `unique`.
    let bytes: PageBuffer
    let count: Int

    /// - Parameter seconds: How long the kernel may remember the attributes.
    init(_ status: FileStatus, born: FileTime?, unique: UInt64, remember seconds: Double) {
        let buffer = PageBuffer(count: Self.length)
        buffer.store(UInt32(Self.length), at: 0)
        buffer.store(unique, at: 8)
        buffer.store(UInt64(seconds), at: 16)
        func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, _ offset: Int) { buffer.store(value, at: Self.start + offset) }
        func put(_ time: FileTime, _ offset: Int) {
            put(time.seconds, offset)
            put(UInt32(time.nanoseconds), offset + 8)
        }
        put(Self.basicStats | (born == nil ? 0 : Self.birth), 0)
        put(UInt32(4096), 4)
        put(UInt32(truncatingIfNeeded: status.linkCount), 16)
        put(status.owner, 20)
        put(status.group, 24)
        put(UInt16(truncatingIfNeeded: status.mode), 28)
        put(status.inode, 32)
        put(UInt64(bitPattern: status.size), 40)
        put(UInt64(bitPattern: status.blocks), 48)
        put(status.accessed, 64)
        if let born { put(born, 80) }
        put(status.changed, 96)
        put(status.modified, 112)
        // As major(3) and minor(3) have it.
        let device = status.deviceNumber
        put(UInt32(truncatingIfNeeded: device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000), 128)
        put(UInt32(truncatingIfNeeded: device & 0xFF | device >> 12 & 0xFFFF_FF00), 132)
        (bytes, count) = (buffer, Self.length)
    }

    init(_ error: Errno, unique: UInt64) {
        let buffer = PageBuffer(count: Self.headerLength)
        buffer.store(UInt32(Self.headerLength), at: 0)
        buffer.store(-error.rawValue, at: 4)
        buffer.store(unique, at: 8)
        (bytes, count) = (buffer, Self.headerLength)
    }

    /// Answers the request in `input`.
    static func answer(_ input: PageBuffer, _ unique: UInt64, _ context: FuseContext, _ device: FuseDevice) {
        let node = NodeID(rawValue: input.load(at: 16))
        let reply: FuseStatx
        do throws(Errno) {
            let status = try context.fileSystem.attributes(of: node)
            let born = try context.fileSystem.birthTime(of: node)
            reply = FuseStatx(status, born: born, unique: unique, remember: node.isVolatile ? 0 : context.rememberSeconds)
        } catch {
            reply = FuseStatx(error, unique: unique)
        }
        device.write(reply.bytes, 0..<reply.count)
    }
}
