import Testing

@testable import SecureFileCore

/// Pages come one by one at first, then by the slab; each is there once, and all of them can be let go.
struct PagePoolTests {
    @Test func pagesAreSeparate() {
        let pool = PagePool()
        var pages = (0..<2000).map { _ in pool.take() }
        for (number, page) in pages.enumerated() {
            page.zero(0..<4096)
            page.store(UInt64(number), at: 0)
            page.store(UInt64(number), at: 4088)
        }
        for (number, page) in pages.enumerated() { #expect(page.load(at: 0) == UInt64(number) && page.load(at: 4088) == UInt64(number)) }
        for page in pages { pool.giveBack(page, holdsPlaintext: true) }
        pages = (0..<2000).map { _ in pool.take() }
        #expect(pages.allSatisfy { $0.isZero(0..<4096) }, "what held plaintext is wiped")
        #expect(Set(pages.map { ObjectIdentifier($0) }).count == 2000)
        for page in pages { pool.giveBack(page, holdsPlaintext: false) }
        var rounds = 0
        while pool.trim() { rounds += 1 }
        #expect(rounds < 20)
        let page = pool.take()
        page.zero(0..<4096)
        pool.removeAll()
        page.store(UInt8(1), at: 4095)
    }
}
