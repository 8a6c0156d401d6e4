import FoundationEssentials
import Testing

@testable import SecureFileCore

struct BufferPoolTests {
    /// What a program reads as Data comes from memory that is used again, and is wiped in between.
    @Test func buffersAreUsedAgain() {
        let pool = BufferPool()
        for count in [100_000, 1 << 20, (1 << 20) - 5] {
            let buffer = pool.take(count)
            buffer.zero(0..<buffer.count)
            buffer[count - 1] = 1
            var data: [UInt8] = []
            do { data += buffer.data(count: count, from: pool) }
            #expect(data.count == count && data[count - 1] == 1)
            let again = pool.take(count - 4096)
            #expect(again === buffer && again.isZero(0..<again.count))
            pool.giveBack(again)
        }
        #expect(pool.take(300_000).count < 1 << 20, "a small one does not take up a large one")
        for _ in 0..<20 { pool.giveBack(PageBuffer(count: 1 << 20)) }
        #expect(pool.byteCount == 8 << 20)
        pool.giveBack(PageBuffer(count: 9 << 20))
        pool.giveBack(PageBuffer(count: 100))
        #expect(pool.byteCount == 8 << 20)
        pool.removeAll()
        #expect(pool.byteCount == 0)
    }
}
