import TestSupport
import Testing

@testable import SecureFileCore

/// Files that are lengthened ahead of their end.
struct AheadByteStoreTests {
    private let store = MemoryByteStore()
    private let growth: GrowthAhead
    private let ahead: AheadByteStore

    init() {
        growth = GrowthAhead()
        ahead = AheadByteStore(store, length: 0, growth)
    }

    /// Writes `count` bytes at the end and syncs.
    private func step(_ count: Int, _ number: Int) throws {
        let content = FileAction.content(count, seed: UInt64(number))
        try ahead.write(content, 0..<count, at: BackingOffset(try ahead.length()))
        try ahead.synchronize(attributes: false)
    }

    @Test func smallSyncedStepsGetRoomAndItIsUsed() throws {
        for number in 1...4 {
            try step(4000, number)
            #expect(store.length() == (number < 4 ? Int64(4000 * number) : 16384 + 65536))
            #expect(try ahead.length() == Int64(4000 * number))
        }
        // 65,920 bytes more are there: 16 steps need nothing.
        for number in 5...20 { try step(4000, number) }
        #expect(store.length() == 16384 + 65536)
        try step(4000, 21)
        #expect(store.length() == 86016 + 65536)
        let time = store.modificationTime()
        try ahead.endAhead()
        #expect(store.length() == 84000)
        #expect(store.modificationTime() == time)
    }

    @Test func largeStepsAndShortFilesAreLeftAlone() throws {
        for number in 1...10 { try step(100_000, number) }
        #expect(store.length() == 1_000_000)
        let short = MemoryByteStore()
        let other = AheadByteStore(short, length: 0, growth)
        for number in 1...10 {
            let content = FileAction.content(100, seed: 1)
            try other.write(content, 0..<100, at: BackingOffset(Int64(100 * number - 100)))
            try other.synchronize(attributes: false)
        }
        #expect(short.length() == 1000)
    }

    @Test func whenItIsOverAllFilesHaveTheirLength() throws {
        for number in 1...5 { try step(4000, number) }
        #expect(store.length() > 20000)
        try growth.end()
        #expect(store.length() == 20000)
        for number in 6...30 { try step(4000, number) }
        #expect(store.length() == 120_000)
    }

    @Test func noRoomIsNoFailure() throws {
        let faulty = FaultyByteStore(store)
        let ahead = AheadByteStore(faulty, length: 0, growth)
        let content = FileAction.content(4096, seed: 1)
        for number in 0..<20 {
            try ahead.write(content, 0..<4096, at: BackingOffset(Int64(4096 * number)))
            // The first call of the sync is the write of zeros.
            if number == 3 { faulty.failCall(0, of: .changes, with: FaultyByteStore.Fault(.noSpace, written: 3, keepsPagesWhole: false)) }
            try ahead.synchronize(attributes: false)
            faulty.heal()
            #expect(store.length() == Int64(4096 * (number + 1)), "nothing is kept of it")
        }
        #expect(faulty.failureCount == 1)
        try ahead.endAhead()
        #expect(store.length() == 20 * 4096)
    }

    @Test(arguments: seeds(from: 71_000, count: 200))
    func itReadsAsAFileThatIsNotLengthened(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let plain = MemoryByteStore()
        let ahead = AheadByteStore(store, length: 0, TestVault.growth())
        for step in 0..<300 {
            let length = plain.length()
            let offset = generator.once(in: 2) ? length : Int64(generator.number(0..<Int(length) + 10_000))
            let comment: Comment = "SEED=\(seed) step \(step)"
            switch generator.number(0..<8) {
            case 0...2:
                let content = FileAction.content(generator.number(1..<9000), seed: generator.next())
                try ahead.write(content, 0..<content.count, at: BackingOffset(offset))
                plain.write(content, 0..<content.count, at: BackingOffset(offset))
            case 3:
                let size = generator.once(in: 3) ? Int64(generator.number(0..<60_000)) : length + Int64(generator.number(0..<9000))
                try ahead.setLength(size)
                try plain.setLength(size)
            case 4...5: try ahead.synchronize(attributes: false)
            case 6: #expect(try ahead.nextData(at: BackingOffset(offset)).map(\.rawValue).map { $0 >= length } != true, comment)
            default: if generator.once(in: 4) { try ahead.endAhead() }
            }
            #expect(try ahead.length() == plain.length(), comment)
            let (left, right) = (PageBuffer(count: 9000), PageBuffer(count: 9000))
            let got = try ahead.read(at: BackingOffset(offset), into: left, 0..<9000)
            #expect(got == plain.read(at: BackingOffset(offset), into: right, 0..<9000), comment)
            #expect(left.bytes(0..<got) == right.bytes(0..<got), comment)
        }
        try ahead.endAhead()
        #expect(store.image.bytes() == plain.image.bytes())
    }
}
