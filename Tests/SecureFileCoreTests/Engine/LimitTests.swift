import Synchronization
import TestSupport
import Testing

@testable import SecureFileCore

/// What a file holds in memory, and what it logs.
struct LimitTests {
    private func options(_ change: (inout ContentContext.Options) -> Void) -> ContentContext.Options {
        var options = ContentContext.Options()
        change(&options)
        return options
    }

    @Test func pendingOverwritesAreWrittenOutAtTheLimit() throws {
        let context = TestVault.context(session: 1, options: options { $0.pendingLimitPerFile = 64 * 1024 })
        let store = MemoryByteStore()
        let file = SecureFile.create(store, context, path: "file")
        var model = ModelFile()
        let first = FileAction.write(at: 0, count: 1 << 20, seed: 1)
        try first.perform(on: file)
        first.apply(to: &model)
        try file.synchronize()
        for block in 0..<256 {
            let action = FileAction.write(at: Int64(block * 37 % 256) * 4096, count: 4096, seed: UInt64(block + 2))
            try action.perform(on: file)
            action.apply(to: &model)
            #expect(context.pendingByteCount <= 64 * 1024 + 4096)
        }
        try expect(file, is: model)
        try file.settle()
        #expect(context.pendingByteCount == 0)
        try expect(SecureFile.open(store, TestVault.context(session: 1), path: "file"), is: model)
    }

    /// Where a barrier costs next to nothing there is no reason to hold much back, if what is held lies close together.
    @Test(arguments: [(0, 1, 32 * 4096), (Int.max, 1, 256 * 4096), (0, 64, 256 * 4096)])
    func overwritesGoOutEarlyWhereBarriersAreCheap(barrier: Int, stride: Int, most: Int) throws {
        let options = options { ($0.assumedBarrierTime, $0.smallestBatch) = (barrier, 32 * 4096) }
        let context = TestVault.context(session: 1, options: options)
        let store = MemoryByteStore()
        let file = SecureFile.create(store, context, path: "file")
        var model = ModelFile()
        func perform(_ action: FileAction) throws {
            try action.perform(on: file)
            action.apply(to: &model)
        }
        try perform(.write(at: 0, count: stride << 20, seed: 1))
        try file.synchronize()
        var held = 0
        for block in 0..<256 {
            try perform(.write(at: Int64(block * stride) * 4096, count: 4096, seed: UInt64(block + 2)))
            held = max(held, context.pendingByteCount)
        }
        #expect(held <= most && held >= most - 4096)
        try expect(file, is: model)
        try file.settle()
        try expect(SecureFile.open(store, TestVault.context(session: 1), path: "file"), is: model)
    }

    /// Nothing is known of the first barrier: a batch is tried early, and what its barrier took counts for all files from then on.
    @Test(arguments: [(0, 0), (5_000_000, 16)]) func theLastBarrierOfAnyFileCounts(nanoseconds: Int, held: Int) throws {
        let store = MemoryByteStore()
        let made = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        try made.write(1 << 20, at: 0, seed: 1)
        try made.synchronize()
        let context = TestVault.context(session: 1, options: options { $0.smallestBatch = 16 * 4096 })
        context.lastBarrierTime = nanoseconds
        let file = try SecureFile.open(store, context, path: "file")
        for block in 0..<16 { try file.write(4096, at: Int64(block) * 4096, seed: UInt64(block + 2)) }
        #expect(context.pendingByteCount == held * 4096)
        try file.settle()
        #expect(context.lastBarrierTime > 0)
    }

    @Test func allFilesTogetherKeepTheLimit() throws {
        let context = TestVault.context(session: 1, options: options { $0.pendingLimit = 3 << 20 })
        let files = try (0..<4).map { number in
            let file = SecureFile.create(MemoryByteStore(), context, path: "file")
            try file.write(2 << 20, at: 0, seed: UInt64(number + 1))
            try file.synchronize()
            return file
        }
        for block in 0..<512 {
            for (number, file) in files.enumerated() { try file.write(4096, at: Int64(block) * 4096, seed: UInt64(block * 4 + number + 10)) }
            #expect(context.pendingByteCount <= 4 * (1 << 20) + (1 << 20))
        }
        for file in files { try file.settle() }
        #expect(context.pendingByteCount == 0)
        #expect(context.unsettledFiles.isEmpty)
    }

    @Test(arguments: [0, 1, 3])
    func manyGroupsWithASmallCache(limit: Int) throws {
        let context = TestVault.context(session: 1, options: options { $0.cachedGroupsPerFile = limit })
        let store = MemoryByteStore()
        let file = SecureFile.create(store, context, path: "file")
        var model = ModelFile()
        for round in 0..<3 {
            for group in 0..<40 {
                let at = Int64(group * 17 % 40) * 262_144 + Int64(round) * 3000
                let action = FileAction.write(at: at, count: 5000, seed: UInt64(round * 100 + group + 1))
                try action.perform(on: file)
                action.apply(to: &model)
                if group % 13 == 12 { try file.settle() }
            }
            try expect(file, is: model)
            if round == 0 { try file.synchronize() }
        }
        try file.settle()
        try expect(SecureFile.open(store, TestVault.context(session: 1), path: "file"), is: model)
    }

    @Test func nothingIsRegisteredThatIsSettled() throws {
        let context = TestVault.context(session: 1)
        let file = SecureFile.create(MemoryByteStore(), context, path: "file")
        #expect(context.unsettledFiles.isEmpty)
        try file.write(10, at: 0, seed: 1)
        #expect(context.unsettledFiles.count == 1)
        try file.flush()
        #expect(context.unsettledFiles.isEmpty)
        try file.truncate(to: ByteCount(5))
        #expect(context.unsettledFiles.count == 1)
        try file.truncate(to: .zero)
        #expect(context.unsettledFiles.isEmpty)
    }

    @Test func aFileGoesWithItsLastUser() throws {
        let context = TestVault.context(session: 1)
        weak var gone: SecureFile?
        do {
            let file = SecureFile.create(MemoryByteStore(), context, path: "file")
            try file.write(10_000, at: 0, seed: 1)
            try file.synchronize()
            gone = file
        }
        #expect(gone == nil)
    }

    @Test func theModificationTimeIsTheCallersBusiness() throws {
        let context = TestVault.context(session: 1, options: options { $0.keepsModificationTimes = true })
        let store = MemoryByteStore()
        let file = SecureFile.create(store, context, path: "file")
        let time = FileTime(seconds: 12_345, nanoseconds: 678)
        for step in 0..<4 {
            try file.write(5000, at: Int64(step) * 300, seed: UInt64(step + 1))
            store.restore(modified: time)
            switch step {
            case 0: try file.flush()
            case 1: try file.synchronize()
            case 2: try file.settle()
            default: try context.settleAll { () throws(Errno) in store.synchronize(attributes: false) }
            }
            #expect(store.modificationTime() == time)
        }
    }

    @Test func lenienceIsLogged() throws {
        let lines = Mutex<[String]>([])
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "a/path")
        try file.write(9000, at: 0, seed: 1)
        try file.flush()
        var image = store.image
        image.setPage(2, nil)
        let context = TestVault.context(session: 2, dead: [1]) { line in lines.withLock { $0.append(line) } }
        let again = try SecureFile.open(MemoryByteStore(image), context, path: "a/path")
        #expect(try again.bytes(at: 4096, count: 4096).allSatisfy { $0 == 0 })
        let logged = lines.withLock { $0 }
        #expect(logged.contains { $0.contains("a/path") && $0.contains("block 1") }, "\(logged)")
    }
}
