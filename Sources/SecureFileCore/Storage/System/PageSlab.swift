import Glibc

/// Memory for 512 pages of 4096 bytes in one piece, which the system fills in at once: faulted in page by page, memory costs more than the cipher.
@safe
final class PageSlab: @unchecked Sendable {
    static let pageCount = 512
    private static let size = pageCount * 4096
    /// `MADV_POPULATE_WRITE`, since Linux 5.14; before, memory comes page by page all the same.
    private static let populate: Int32 = 23
    private let base: UnsafeMutableRawPointer

    /// Nil where there is no memory.
    init?() {
        guard let memory = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), unsafe memory != MAP_FAILED else {
            return nil
        }
        unsafe base = memory
        unsafe madvise(base, Self.size, Self.populate)
    }

    deinit { unsafe munmap(base, Self.size) }

    /// The memory of a page, 0 to 511.
    @unsafe func page(_ index: Int) -> UnsafeMutableRawPointer {
        precondition(index >= 0 && index < Self.pageCount)
        return unsafe base + index * 4096
    }
}
