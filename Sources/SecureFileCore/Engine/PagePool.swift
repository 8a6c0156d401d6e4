import Synchronization

/// Pages of 4096 bytes that pending blocks have done with, for the next ones: memory that comes and goes by the page costs page faults.
final class PagePool: Sendable {
    private struct Pages {
        var free: [PageBuffer] = []
        /// Pages that have been made and are still there.
        var made = 0
    }
    private let pages = Mutex(Pages())
    /// Most pages kept: 64 MiB, one file's worth of pending blocks.
    private let limit = 16384
    /// Pages up to this number are made one by one: most programs overwrite little at a time.
    private let few = 256

    /// A page whose content is of no meaning.
    func take() -> PageBuffer { pages.withLock { take(&$0) } }

    func take(_ count: Int) -> [PageBuffer] { pages.withLock { pages in (0..<count).map { _ in take(&pages) } } }

    private func take(_ pages: inout Pages) -> PageBuffer {
        if let page = pages.free.popLast() { return page }
        if pages.made >= few, let slab = PageSlab() {
            pages.free.reserveCapacity(PageSlab.pageCount)
            for index in (1..<PageSlab.pageCount).reversed() { pages.free.append(PageBuffer(slab, page: index)) }
            pages.made += PageSlab.pageCount
            return PageBuffer(slab, page: 0)
        }
        pages.made += 1
        return PageBuffer(uninitialized: ContentGeometry.blockSize)
    }

    /// Takes back a page nobody uses any more. One that may still hold plaintext is wiped.
    func giveBack(_ page: PageBuffer, holdsPlaintext: Bool) {
        if holdsPlaintext { page.zero(0..<page.count) }
        pages.withLock { pages in
            if pages.free.count < limit { pages.free.append(page) } else { pages.made -= 1 }
        }
    }

    /// Takes back the pages of sealed blocks.
    func giveBack(sealed blocks: [PendingBlock]) {
        pages.withLock { pages in
            for block in blocks { if pages.free.count < limit { pages.free.append(block.buffer) } else { pages.made -= 1 } }
        }
    }

    /// Lets all pages go.
    func removeAll() {
        pages.withLock { pages in
            pages.made -= pages.free.count
            pages.free.removeAll()
        }
    }

    /// Lets half of the pages go; says whether there are more.
    func trim() -> Bool {
        pages.withLock { pages in
            let count = (pages.free.count + 1) / 2
            pages.free.removeLast(count)
            pages.made -= count
            return !pages.free.isEmpty
        }
    }
}
