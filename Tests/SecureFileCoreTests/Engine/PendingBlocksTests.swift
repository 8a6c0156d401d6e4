import TestSupport
import Testing

@testable import SecureFileCore

/// The account of blocks that wait for their batch.
struct PendingBlocksTests {
    private func block(_ length: Int) -> PendingBlock { PendingBlock(buffer: PageBuffer(count: 4096), length: length) }

    @Test func blocksComeAndGo() {
        var blocks = PendingBlocks()
        #expect(blocks.bits == 0 && blocks[0] == nil && blocks[63] == nil)
        for index in [63, 0, 17] { blocks[index] = block(index + 1) }
        #expect(blocks.bits == 0x8000_0000_0002_0001)
        #expect([0, 17, 63].map { blocks[$0]?.length } == [1, 18, 64])
        #expect(blocks[16] == nil && !blocks.has(18))
        blocks[17]?.length = 4096
        #expect(blocks[17]?.length == 4096)
        for index in [0, 63, 17] { blocks[index] = nil }
        #expect(blocks.bits == 0 && blocks[17] == nil)
        blocks[5] = nil
        #expect(blocks.bits == 0)
    }

    @Test func bitsAreTakenInOrder() {
        var bits: UInt64 = 0x8000_0000_0000_0005
        var taken: [Int] = []
        while let index = PendingBlocks.popFirst(&bits) { taken.append(index) }
        #expect(taken == [0, 2, 63] && bits == 0)
        #expect(PendingBlocks.bits(from: 0) == .max && PendingBlocks.bits(from: 63) == 0x8000_0000_0000_0000 && PendingBlocks.bits(from: 64) == 0)
    }

    /// Against a plain list of lengths: what follows on in the store is found, and what is taken is gone.
    @Test(arguments: 0..<200) func runsAreThoseOfAList(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var lengths = [Int?](repeating: nil, count: 64)
        var blocks = PendingBlocks()
        for _ in 0..<Int.random(in: 1...120, using: &random) {
            let index = Int.random(in: 0..<64, using: &random)
            let length = Bool.random(using: &random) ? 4096 : Int.random(in: 1...4096, using: &random)
            lengths[index] = length
            blocks[index] = block(length)
        }
        while blocks.bits != 0 {
            // What is asked for may leave out some of what is there.
            var some = blocks.bits & (UInt64.random(in: 0 ... .max, using: &random) | 1 << UInt64(blocks.bits.trailingZeroBitCount))
            if seed % 2 == 0 { some = blocks.bits }
            let run = blocks.firstRun(of: some)
            var expected: UInt64 = 0
            for index in some.trailingZeroBitCount..<64 {
                guard some >> UInt64(index) & 1 == 1 else { break }
                expected |= 1 << UInt64(index)
                if lengths[index] != 4096 { break }
            }
            #expect(run == expected, "seed \(seed)")
            var bits = run
            var taken: [Int] = []
            while let index = PendingBlocks.popFirst(&bits) { taken.append(lengths[index] ?? 0) }
            #expect(blocks.take(run).map(\.length) == taken)
            #expect(blocks.bits & run == 0)
        }
    }
}
