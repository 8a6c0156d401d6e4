/// The backing file of one content file, as the engine needs it. The test doubles (memory, faulty, crashing) conform too.
///
/// Offsets and lengths are bytes of the backing file. A store may be read by several threads at once; everything else is called by one at a time.
public protocol ByteStore: AnyObject, Sendable {
    /// The length of the file.
    func length() throws(Errno) -> Int64
    /// Reads `range.count` bytes from `offset` into the bytes `range` of `buffer`; returns how many there were, fewer only at the end.
    func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int
    /// Has the system begin to read a range that will be asked for. A hint: does nothing where that cannot be done.
    func prefetch(at offset: BackingOffset, count: Int64)
    /// Writes the bytes `range` of `buffer` at `offset`, all of them, or throws; then any part of them may have been written.
    func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(Errno)
    /// The same for the first `count` bytes of several pages of 4096, all full but the last.
    func write(_ pages: [PageBuffer], _ count: Int, at offset: BackingOffset) throws(Errno)
    /// Cuts the file, or lengthens it by a hole.
    func setLength(_ length: Int64) throws(Errno)
    /// Everything written and the length are on the disk when this returns; with `attributes`, owner, mode and times too.
    func synchronize(attributes: Bool) throws(Errno)
    /// Gives back the space of a range, which then reads as zeros. May do nothing where that cannot be done.
    func punchHole(at offset: BackingOffset, count: Int64) throws(Errno)
    /// Reserves space for a range; the length stays.
    func reserve(at offset: BackingOffset, count: Int64) throws(Errno)
    /// The first offset at or after `offset` that may hold something else than zeros; nil when there is none.
    func nextData(at offset: BackingOffset) throws(Errno) -> BackingOffset?
    /// The file's time of last modification, to be given back after a write that is no modification (``restore(modified:)``); nil: not kept.
    func modificationTime() throws(Errno) -> FileTime?
    func restore(modified: FileTime) throws(Errno)
    /// The same, which need not be true before the store is closed: for a store that has the time to be told in memory.
    func restoreLater(modified: FileTime) throws(Errno)
}

extension ByteStore {
    public func prefetch(at offset: BackingOffset, count: Int64) {}
    public func restoreLater(modified: FileTime) throws(Errno) { try restore(modified: modified) }
}

extension ByteStore {
    public func write(_ pages: [PageBuffer], _ count: Int, at offset: BackingOffset) throws(Errno) {
        let whole = PageBuffer(uninitialized: count)
        for (number, page) in pages.enumerated() {
            let start = number * page.count
            whole.copy(0..<min(page.count, count - start), of: page, to: start)
        }
        try write(whole, 0..<count, at: offset)
    }
}

/// A backing file of the operating system.
public final class PosixByteStore: ByteStore {
    public let descriptor: FileDescriptor

    public init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    public func length() throws(Errno) -> Int64 { try descriptor.status().size }

    public func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int {
        try descriptor.read(at: offset.rawValue, into: buffer, range)
    }

    public func prefetch(at offset: BackingOffset, count: Int64) { descriptor.prefetch(at: offset.rawValue, count: count) }

    public func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(Errno) {
        try descriptor.write(buffer, range, at: offset.rawValue)
    }

    public func write(_ pages: [PageBuffer], _ count: Int, at offset: BackingOffset) throws(Errno) {
        try descriptor.write(pages, count, at: offset.rawValue)
    }

    public func setLength(_ length: Int64) throws(Errno) { try descriptor.setLength(length) }

    public func synchronize(attributes: Bool) throws(Errno) {
        if attributes { try descriptor.synchronize() } else { try descriptor.synchronizeData() }
    }

    public func punchHole(at offset: BackingOffset, count: Int64) throws(Errno) {
        do {
            try descriptor.punchHole(at: offset.rawValue, count: count)
        } catch {
            // The range is a hole by its metadata already: space that cannot be given back is no failure.
            if error != .notSupported && error != .noSystemCall { throw error }
        }
    }

    public func reserve(at offset: BackingOffset, count: Int64) throws(Errno) { try descriptor.reserve(at: offset.rawValue, count: count) }

    public func nextData(at offset: BackingOffset) throws(Errno) -> BackingOffset? {
        do {
            return try descriptor.nextData(at: offset.rawValue).map { BackingOffset($0) }
        } catch {
            if error == .invalidArgument || error == .notSupported { return offset }  // not told: may be data
            throw error
        }
    }

    public func modificationTime() throws(Errno) -> FileTime? { try descriptor.status().modified }

    public func restore(modified: FileTime) throws(Errno) { try descriptor.setTimes(accessed: .keep, modified: .to(modified)) }
}
