import SecureFileCore
import Synchronization

/// A backing file in memory, sparse. What is written is there at once; a sync does nothing but count.
public final class MemoryByteStore: ByteStore {
    private struct State {
        var image: PageImage
        var syncs = 0
        var modified = FileTime(seconds: 1, nanoseconds: 0)
    }
    private let state: Mutex<State>

    public init(_ image: PageImage = PageImage()) { state = Mutex(State(image: image)) }

    /// What is in the file now; setting it is somebody else changing the file.
    public var image: PageImage {
        get { state.withLock { $0.image } }
        set { state.withLock { $0.image = newValue } }
    }
    public var syncCount: Int { state.withLock { $0.syncs } }

    public func length() -> Int64 { state.withLock { $0.image.length } }

    public func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) -> Int {
        // The image is a value that shares its pages: readers do not wait for each other's copying.
        image.read(at: offset.rawValue, into: buffer, range)
    }

    public func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) {
        state.withLock {
            $0.image.write(buffer, range, at: offset.rawValue)
            $0.modified.seconds += 1
        }
    }

    public func setLength(_ length: Int64) throws(Errno) {
        if length < 0 { throw .invalidArgument }
        state.withLock {
            $0.image.setLength(length)
            $0.modified.seconds += 1
        }
    }

    public func synchronize(attributes: Bool) { state.withLock { $0.syncs += 1 } }

    public func punchHole(at offset: BackingOffset, count: Int64) throws(Errno) {
        if offset.rawValue < 0 || count <= 0 { throw .invalidArgument }
        state.withLock { $0.image.punch(at: offset.rawValue, count: count) }
    }

    public func reserve(at offset: BackingOffset, count: Int64) throws(Errno) { if offset.rawValue < 0 || count <= 0 { throw .invalidArgument } }

    public func nextData(at offset: BackingOffset) -> BackingOffset? { image.nextData(at: offset.rawValue).map { BackingOffset($0) } }

    public func modificationTime() -> FileTime? { state.withLock { $0.modified } }

    public func restore(modified: FileTime) { state.withLock { $0.modified = modified } }
}
