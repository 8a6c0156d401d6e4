import Synchronization

/// A block whose newest content is in memory only.
final class PendingBlock: @unchecked Sendable {
    /// 4096 bytes; zeros past `length`.
    let buffer: PageBuffer
    /// Bytes of the block, 1 to 4096.
    var length: Int

    init(_ buffer: PageBuffer, length: Int) {
        self.buffer = buffer
        self.length = length
    }
}

/// Pages of 4096 bytes that pending blocks have done with, for the next ones: memory that comes and goes by the page costs page faults.
final class PagePool: Sendable {
    private let free = Mutex<[PageBuffer]>([])
    /// Most pages kept: 64 MiB, one file's worth of pending blocks.
    private let limit = 16384

    /// A page whose content is of no meaning.
    func take() -> PageBuffer {
        free.withLock { $0.popLast() } ?? PageBuffer(uninitialized: ContentGeometry.blockSize)
    }

    /// Takes back a page nobody uses any more. One that may still hold plaintext is wiped.
    func giveBack(_ page: PageBuffer, holdsPlaintext: Bool) {
        if holdsPlaintext { page.zero(0..<page.count) }
        free.withLock { if $0.count < limit { $0.append(page) } }
    }

    /// Lets all pages go.
    func removeAll() { free.withLock { $0.removeAll() } }

    /// Lets half of the pages go; says whether there are more.
    func trim() -> Bool {
        free.withLock { pages in
            pages.removeLast((pages.count + 1) / 2)
            return !pages.isEmpty
        }
    }
}
