import Synchronization

/// Large buffers that nobody needs any more, wiped, for the next who need some: new ones come from the system page by page, which takes as long
/// as the cipher.
final class BufferPool: Sendable {
    private struct Kept {
        /// The last one given back is the last.
        var buffers: [PageBuffer] = []
        var bytes = 0
    }
    private let kept = Mutex(Kept())
    /// Most bytes kept.
    private static let limit = 8 << 20
    /// What is smaller the allocator keeps itself, without page faults.
    private static let smallest = 1 << 16

    /// A buffer of `count` bytes or somewhat more, whose content is of no meaning.
    func take(_ count: Int) -> PageBuffer {
        if count < Self.smallest { return PageBuffer(uninitialized: count) }
        let found = kept.withLock { kept -> PageBuffer? in
            guard let index = kept.buffers.lastIndex(where: { $0.count >= count && $0.count / 2 <= count }) else { return nil }
            kept.bytes -= kept.buffers[index].count
            return kept.buffers.remove(at: index)
        }
        // Rounded up, so that it fits the next of about that size.
        return found ?? PageBuffer(uninitialized: (count + Self.smallest - 1) / Self.smallest * Self.smallest)
    }

    /// Wipes a buffer nobody uses any more, and keeps it if there is room.
    func giveBack(_ buffer: PageBuffer) {
        if buffer.count < Self.smallest || buffer.count > Self.limit { return }
        buffer.zero(0..<buffer.count)
        let dropped = kept.withLock { kept -> ArraySlice<PageBuffer> in
            kept.buffers.append(buffer)
            kept.bytes += buffer.count
            // Those that have fitted nobody for the longest time go.
            var count = 0
            while kept.bytes > Self.limit {
                kept.bytes -= kept.buffers[count].count
                count += 1
            }
            defer { kept.buffers.removeFirst(count) }
            return kept.buffers.prefix(count)
        }
        _ = dropped  // freed outside of the lock
    }

    /// Lets all of them go.
    func removeAll() { kept.withLock { $0 = Kept() } }

    /// Bytes kept at the moment.
    var byteCount: Int { kept.withLock { $0.bytes } }
}
