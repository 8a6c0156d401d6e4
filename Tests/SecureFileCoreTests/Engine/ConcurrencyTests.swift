import Dispatch
import SecureFileCore
import Synchronization
import TestSupport
import Testing

/// Several threads on one file and on one context. Blocks are written whole, each filled with one number: a reader must see no mixture.
struct ConcurrencyTests {
    private static let blocks = 80

    private static func filled(_ number: UInt64) -> PageBuffer {
        let buffer = PageBuffer(count: 4096)
        for offset in stride(from: 0, to: 4096, by: 8) { buffer.store(number, at: offset) }
        return buffer
    }

    /// Runs `body` on `count` threads of the system and waits for all.
    private func onThreads(_ count: Int, _ body: @Sendable (Int) -> Void) { DispatchQueue.concurrentPerform(iterations: count, execute: body) }

    @Test func readersSeeWholeBlocksWhileOneWrites() throws {
        var options = ContentContext.Options()
        options.pendingLimitPerFile = 20 * 4096
        options.cachedGroupsPerFile = 0
        let context = TestVault.context(session: 1, options: options)
        let file = SecureFile.create(MemoryByteStore(), context, path: "file")
        for block in 0..<Self.blocks { try write(file, Int64(block), 1) }
        try file.synchronize()
        let problems = Mutex<[String]>([])
        let isDone = Atomic<Bool>(false)
        onThreads(4) { thread in
            var generator = SeededGenerator(seed: UInt64(thread + 1))
            do {
                if thread == 0 {
                    defer { isDone.store(true, ordering: .relaxed) }
                    for round in 2..<2000 as Range<UInt64> {
                        try write(file, Int64(generator.number(0..<Self.blocks)), round)
                        if round % 50 == 0 { try file.synchronize() } else if round % 20 == 0 { try file.settle() }
                    }
                } else {
                    let buffer = PageBuffer(count: 4 * 4096)
                    while !isDone.load(ordering: .relaxed) {
                        let first = Int64(generator.number(0..<Self.blocks - 4))
                        _ = try file.read(at: ByteOffset(first * 4096), count: 4 * 4096, into: buffer)
                        for block in 0..<4 {
                            let number: UInt64 = buffer.load(at: block * 4096)
                            if number == 0 || !buffer.equals(Self.shifted(Self.filled(number), block), block * 4096..<(block + 1) * 4096) {
                                problems.withLock { $0.append("block \(first + Int64(block)) is mixed") }
                            }
                        }
                    }
                }
            } catch { problems.withLock { $0.append("thread \(thread): \(error)") } }
        }
        #expect(problems.withLock { $0 } == [])
    }

    private static func shifted(_ block: PageBuffer, _ count: Int) -> PageBuffer {
        let buffer = PageBuffer(count: 4 * 4096)
        buffer.copy(0..<4096, of: block, to: count * 4096)
        return buffer
    }

    private func write(_ file: SecureFile, _ block: Int64, _ number: UInt64) throws(SecureFileError) {
        try Self.filled(number).withSpan(0..<4096) { (span) throws(SecureFileError) in try file.write(span, 0..<4096, at: ByteOffset(block * 4096)) }
    }

    @Test func parallelAppendsAndTruncatesLeaveAFileThatReads() throws {
        let context = TestVault.context(session: 1)
        let store = MemoryByteStore()
        let file = SecureFile.create(store, context, path: "file")
        let problems = Mutex<[String]>([])
        onThreads(4) { thread in
            var generator = SeededGenerator(seed: UInt64(thread + 10))
            let buffer = PageBuffer(count: 20_000)
            do {
                for step in 0..<400 {
                    switch (thread + step) % 5 {
                    case 0, 1: try file.write(generator.number(1..<9000), at: file.size.rawValue, seed: generator.next())
                    case 2: try file.truncate(to: ByteCount(generator.number(0...300_000)))
                    case 3: _ = try file.read(at: ByteOffset(generator.number(0...300_000)), count: 20_000, into: buffer)
                    default: if generator.once(in: 2) { try file.synchronize() } else { try file.flush() }
                    }
                }
            } catch { problems.withLock { $0.append("thread \(thread): \(error)") } }
        }
        #expect(problems.withLock { $0 } == [])
        let content = try file.allBytes
        try file.synchronize()
        try file.settle()
        #expect(try SecureFile.open(store, TestVault.context(session: 2), path: "file").allBytes == content)
        #expect(context.pendingByteCount == 0)
    }

    @Test func manyFilesAreSettledWhileTheyAreWritten() throws {
        let context = TestVault.context(session: 1)
        let stores = (0..<6).map { _ in MemoryByteStore() }
        let files = try stores.map { store in
            let file = SecureFile.create(store, context, path: "file")
            try file.write(20_000, at: 0, seed: 1)
            try file.synchronize()
            return file
        }
        let problems = Mutex<[String]>([])
        onThreads(3) { thread in
            var generator = SeededGenerator(seed: UInt64(thread + 20))
            do {
                for step in 0..<120 {
                    if thread == 0 {
                        try context.settleAll { () throws(Errno) in for store in stores { store.synchronize(attributes: false) } }
                    } else {
                        let file = files[(step * 2 + thread) % files.count]
                        try file.write(generator.number(1..<6000), at: generator.number(0...15_000), seed: generator.next())
                    }
                }
            } catch { problems.withLock { $0.append("thread \(thread): \(error)") } }
        }
        #expect(problems.withLock { $0 } == [])
        try context.settleAll { () throws(Errno) in for store in stores { store.synchronize(attributes: false) } }
        #expect(context.unsettledFiles.isEmpty)
        #expect(context.pendingByteCount == 0)
        for (file, store) in zip(files, stores) {
            #expect(try SecureFile.open(store, TestVault.context(session: 2), path: "file").allBytes == file.allBytes)
        }
    }
}
