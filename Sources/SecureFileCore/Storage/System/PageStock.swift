import Synchronization

/// Pages of 4096 bytes that were given back not long ago, for the next buffers of that length.
///
/// A file that is made and closed needs two for a moment, and leaves a node behind that stays. The allocator puts nodes into the holes that such
/// pages leave, and then has no hole for the next page: a million files made cost it twice what their nodes need.
@safe
final class PageStock: @unchecked Sendable {
    static let shared = PageStock()
    static let pageSize = 4096
    /// Most pages kept: 1 MiB.
    static let limit = 256

    @safe private struct Stock: @unchecked Sendable {
        var free: [UnsafeMutableRawPointer] = unsafe []
    }
    private let stock = Mutex(Stock())

    /// Pages there are to be had without the allocator.
    var count: Int { stock.withLock { stock in unsafe stock.free.count } }

    /// A page whose content is of no meaning.
    @unsafe func take() -> UnsafeMutableRawPointer {
        if let page = unsafe stock.withLock({ stock in unsafe stock.free.popLast() }) { return unsafe page }
        return UnsafeMutableRawPointer.allocate(byteCount: Self.pageSize, alignment: 64)
    }

    /// Takes back what ``take()`` gave, wiped.
    @unsafe func giveBack(_ page: UnsafeMutableRawPointer) {
        let isKept = stock.withLock { stock in
            guard unsafe stock.free.count < Self.limit else { return false }
            unsafe stock.free.append(page)
            return true
        }
        if !isKept { unsafe page.deallocate() }
    }

    /// Lets all pages go.
    func removeAll() {
        stock.withLock { stock in
            while let page = unsafe stock.free.popLast() { unsafe page.deallocate() }
        }
    }
}
