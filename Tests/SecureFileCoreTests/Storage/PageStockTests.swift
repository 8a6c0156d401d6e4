import Testing

@testable import SecureFileCore

@Suite struct PageStockTests {
    /// The allocator may have put something small into the hole meanwhile, and would then need another.
    @Test func aPageGivenBackIsTheNextTaken() {
        let stock = PageStock()
        let page = unsafe stock.take()
        unsafe stock.giveBack(page)
        let small = (0..<200).map { [UInt8](repeating: 1, count: 40 + $0) }
        let next = unsafe stock.take()
        let isSame = unsafe next == page
        #expect(isSame)
        #expect(small.count == 200)
        unsafe stock.giveBack(next)
        stock.removeAll()
        #expect(stock.count == 0)
    }

    @Test func noMorePagesAreKeptThanMayBe() {
        let stock = PageStock()
        let pages = unsafe (0..<PageStock.limit + 10).map { _ in unsafe stock.take() }
        for index in unsafe pages.indices { unsafe stock.giveBack(pages[index]) }
        #expect(stock.count == PageStock.limit)
        stock.removeAll()
    }
}
