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
}
