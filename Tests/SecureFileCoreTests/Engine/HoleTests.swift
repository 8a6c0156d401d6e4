import SecureFileCore
import TestSupport
import Testing

/// Holes: reading, making, finding and filling them.
struct HoleTests {
    private let store = MemoryByteStore()
    private let file: SecureFile

    init() throws { file = SecureFile.create(store, TestVault.context(session: 1), path: "file") }

    @Test func aGapReadsAsZeros() throws {
        let content = try file.write(10, at: 700_000, seed: 1)
        #expect(try file.bytes(at: 0, count: 700_000).allSatisfy { $0 == 0 })
        #expect(try file.bytes(at: 700_000, count: 100) == content)
        try file.synchronize()
        let again = try SecureFile.open(store, TestVault.context(session: 2), path: "file")
        #expect(try again.bytes(at: 0, count: 700_000).allSatisfy { $0 == 0 })
        #expect(try again.nextData(at: ByteOffset(0)) == ByteOffset(700_000 & ~4095))
    }

    @Test func punchingAtEveryAlignment() throws {
        for (offset, count) in [(0, 1), (0, 4096), (1, 4095), (1, 4096), (4095, 2), (4096, 4096), (4000, 9000), (0, 20_000), (12_000, 100_000)] {
            let store = MemoryByteStore()
            let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
            var model = ModelFile()
            let actions: [FileAction] = [
                .write(at: 0, count: 15_000, seed: 1), .synchronize, .punch(at: Int64(offset), count: Int64(count)), .flush,
                .write(at: Int64(offset) + 10, count: 30, seed: 2), .settle,
            ]
            for action in actions {
                try action.perform(on: file)
                action.apply(to: &model)
                try expect(file, is: model)
            }
            try file.synchronize()
            try expect(SecureFile.open(store, TestVault.context(session: 2), path: "file"), is: model)
        }
    }

    @Test func punchingKeepsTheSizeAndFreesThePages() throws {
        try file.write(262_144, at: 0, seed: 1)
        try file.synchronize()
        try file.punchHole(at: ByteOffset(4096), count: ByteCount(100_000))
        #expect(file.size == ByteCount(262_144))
        #expect(store.image.pages[2] != nil, "the page of block 1 is needed until the hole is durable")
        try file.synchronize()
        for page in Int64(2)...24 { #expect(store.image.pages[page] == nil) }
        #expect(store.image.pages[1] != nil && store.image.pages[26] != nil)
    }

    @Test func punchingATebibyteHoleIsQuick() throws {
        try file.truncate(to: ByteCount(1 << 40))
        try file.write(4096, at: 1 << 38, seed: 1)
        try file.synchronize()
        try file.punchHole(at: ByteOffset(0), count: ByteCount(1 << 40))
        #expect(try file.nextData(at: ByteOffset(0)) == nil)
        try file.synchronize()
        #expect(try file.bytes(at: 1 << 38, count: 4096).allSatisfy { $0 == 0 })
    }

    @Test func dataAndHolesAreFound() throws {
        try file.write(4096, at: 8192, seed: 1)
        try file.write(100, at: 262_144 + 5000, seed: 2)
        for synced in [false, true] {
            if synced { try file.synchronize() }
            #expect(try file.nextData(at: ByteOffset(0)) == ByteOffset(8192))
            #expect(try file.nextData(at: ByteOffset(9000)) == ByteOffset(9000))
            #expect(try file.nextHole(at: ByteOffset(0)) == ByteOffset(0))
            #expect(try file.nextHole(at: ByteOffset(9000)) == ByteOffset(12_288))
            #expect(try file.nextData(at: ByteOffset(12_288)) == ByteOffset(262_144 + 4096))
            #expect(try file.nextHole(at: ByteOffset(262_144 + 4096)) == ByteOffset(262_144 + 5100))
            #expect(try file.nextData(at: ByteOffset(262_144 + 5100)) == nil)
            #expect(try file.nextHole(at: ByteOffset(262_144 + 5100)) == nil)
            #expect(try file.nextData(at: ByteOffset(-1)) == nil)
        }
    }

    @Test func anInlineFileIsAllData() throws {
        try file.write(100, at: 50, seed: 1)
        #expect(try file.nextData(at: ByteOffset(3)) == ByteOffset(3))
        #expect(try file.nextHole(at: ByteOffset(3)) == ByteOffset(150))
    }

    @Test func zeroRangeGrowsOrNot() throws {
        try file.write(5000, at: 0, seed: 1)
        try file.zeroRange(at: ByteOffset(4000), count: ByteCount(6000), keepSize: true)
        #expect(file.size == ByteCount(5000))
        #expect(try file.bytes(at: 4000, count: 1000).allSatisfy { $0 == 0 })
        try file.zeroRange(at: ByteOffset(4000), count: ByteCount(6000), keepSize: false)
        #expect(file.size == ByteCount(10_000))
        #expect(try file.bytes(at: 4000, count: 6000).allSatisfy { $0 == 0 })
    }

    @Test func allocateChangesNoContent() throws {
        let content = try file.write(5000, at: 0, seed: 1)
        try file.allocate(at: ByteOffset(0), count: ByteCount(4000), keepSize: false)
        try file.allocate(at: ByteOffset(3000), count: ByteCount(40_000), keepSize: true)
        #expect(try file.allBytes == content)
        try file.allocate(at: ByteOffset(3000), count: ByteCount(40_000), keepSize: false)
        #expect(try file.allBytes == content + [UInt8](repeating: 0, count: 38_000))
    }

    @Test func rangesOutOfBoundsAreRefused() throws {
        try file.write(5000, at: 0, seed: 1)
        for (offset, count) in [(-1, 10), (0, 0), (0, -5), (ContentGeometry.sizeLimit - 5, 10), (Int64.max, 1)] as [(Int64, Int64)] {
            expectError(.invalidArgument) { try file.punchHole(at: ByteOffset(offset), count: ByteCount(count)) }
            expectError(.invalidArgument) { try file.allocate(at: ByteOffset(offset), count: ByteCount(count), keepSize: false) }
            expectError(.invalidArgument) { try file.zeroRange(at: ByteOffset(offset), count: ByteCount(count), keepSize: false) }
        }
        #expect(file.size == ByteCount(5000))
    }

    @Test func aSparseFileFilledUp() throws {
        try file.truncate(to: ByteCount(30 * 262_144))
        var model = ModelFile()
        model.truncate(to: 30 * 262_144)
        for group in [29, 3, 17, 0, 18] as [Int64] {
            let action = FileAction.write(at: group * 262_144 + 100, count: 5000, seed: UInt64(group + 1))
            try action.perform(on: file)
            action.apply(to: &model)
            try file.flush()
        }
        try file.synchronize()
        try expect(SecureFile.open(store, TestVault.context(session: 2), path: "file"), is: model)
    }
}
