import Glibc

/// A directory being read. One thread at a time.
@safe
public final class DirectoryStream: @unchecked Sendable {
    private let stream: OpaquePointer

    public struct Entry: Sendable {
        public var name: [UInt8]
        public var inode: UInt64
        /// Nil where the filesystem does not tell.
        public var kind: FileKind?
        /// Where the entry behind this one is found (``DirectoryStream/seek(to:)``).
        public var nextPosition: Int
    }

    /// Reads the directory `descriptor` from its beginning, through a descriptor of its own.
    public init(_ descriptor: FileDescriptor) throws(Errno) {
        let own = try descriptor.open(RawPath("."), [.readOnly, .directory])
        guard let opened = unsafe fdopendir(own.rawValue) else { throw Errno.last }
        own.release()
        unsafe stream = opened
    }

    deinit { unsafe closedir(stream) }

    /// The descriptor of the directory being read; good as long as the stream is.
    public var descriptorNumber: Int32 { unsafe dirfd(stream) }

    /// The next entry, `.` and `..` included; nil at the end.
    public func next() throws(Errno) -> Entry? {
        unsafe __errno_location().pointee = 0
        guard let entry = unsafe readdir(stream) else {
            let error = Errno.last
            if error.rawValue != 0 { throw error }
            return nil
        }
        let kind: FileKind? =
            FileKind(mode: UInt32(unsafe entry.pointee.d_type) << 12)  // as DTTOIF; nil: DT_UNKNOWN
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            unsafe pointer.withMemoryRebound(to: UInt8.self, capacity: 256) {
                unsafe Array(UnsafeBufferPointer(start: $0, count: strlen(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))))
            }
        }
        return unsafe Entry(name: name, inode: UInt64(entry.pointee.d_ino), kind: kind, nextPosition: Int(entry.pointee.d_off))
    }

    /// Goes on at a position an entry has named; 0 is the beginning.
    public func seek(to position: Int) {
        if position == 0 { unsafe rewinddir(stream) } else { unsafe seekdir(stream, position) }
    }
}
