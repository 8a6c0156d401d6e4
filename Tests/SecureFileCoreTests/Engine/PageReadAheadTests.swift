import Testing

@testable import SecureFileCore

/// Metadata pages that are begun with before they are asked for.
struct PageReadAheadTests {
    private func pages(_ readAhead: inout PageReadAhead, after group: Int64, before count: Int64) -> Range<Int64> {
        let pages = readAhead.pages(after: GroupIndex(group), before: GroupIndex(count))
        return pages.lowerBound.rawValue..<pages.upperBound.rawValue
    }

    /// What is asked for by going through groups in order: each page once, before it is needed, none behind the end.
    @Test(arguments: [1, 2], [3, 20, 100, 1000]) func eachPageOnce(step: Int64, count: Int64) {
        var readAhead = PageReadAhead()
        var begun: [Int64] = []
        var late = 0
        for group in stride(from: step, to: count, by: Int(step)) {
            if group > 2 * step, !begun.contains(group) { late += 1 }
            let pages = self.pages(&readAhead, after: group, before: count)
            #expect(pages.isEmpty || pages.lowerBound > group && pages.upperBound <= count)
            #expect(Int64(pages.count) <= PageReadAhead.window)
            begun += pages
        }
        #expect(late == 0)
        #expect(Set(begun).count == begun.count)
    }

    @Test func nothingForHereAndThere() {
        var readAhead = PageReadAhead()
        for group: Int64 in [500, 3, 900, 4, 800, 801, 12, 20, 28, 36, 7, 7] {
            #expect(pages(&readAhead, after: group, before: 1000).isEmpty)
        }
    }

    @Test func aSecondPassBeginsAnew() {
        var readAhead = PageReadAhead()
        for first: Int64 in [3, 4] {
            let begun = (1..<64).reduce(into: [Int64]()) { $0 += pages(&readAhead, after: $1, before: 64) }
            #expect(begun == Array(first..<64))
        }
    }
}
