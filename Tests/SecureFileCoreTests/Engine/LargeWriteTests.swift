import FoundationEssentials
import Testing
import TestSupport

@testable import SecureFileCore

/// Writes large enough for several threads, against the same writes by one, and against plain memory.
struct LargeWriteTests {
    private static let crews: [Crew?] = [nil, TestVault.patientCrew, TestVault.crew, .shared]

    /// One file that is written with a crew, and one without.
    private final class Subject {
        let store = MemoryByteStore()
        /// What the file is told is the store.
        let front: any ByteStore
        let file: SecureFile
        init(_ crew: Crew?, barrier: Int?, limit: Int, front: (MemoryByteStore) -> any ByteStore = { $0 }) {
            self.front = front(store)
            var options = ContentContext.Options()
            (options.crew, options.assumedBarrierTime, options.pendingLimitPerFile) = (crew, barrier, limit)
            file = SecureFile.create(self.front, TestVault.context(session: 1, options: options), path: "file")
        }
    }

    private static let pool = BufferPool()

    private static func content(_ file: SecureFile) throws -> Data {
        let buffer = PageBuffer(uninitialized: Int(file.size.rawValue) + 1)
        return buffer.data(count: try file.read(at: ByteOffset(0), count: buffer.count, into: buffer), from: pool)
    }

    private static func content(_ count: Int, seed: UInt64) -> Data { FileAction.content(count, seed: seed).data(count: count, from: pool) }

    private static func write(_ data: Data, to file: SecureFile, at offset: Int) throws(SecureFileError) {
        try file.write(data.span, 0..<data.count, at: ByteOffset(Int64(offset)))
    }

    private static func put(_ data: Data, in model: inout Data, at offset: Int) {
        if model.count < offset + data.count { model.append(Data(count: offset + data.count - model.count)) }
        model.replaceSubrange(offset..<offset + data.count, with: data)
    }

    /// Lengths and places around every edge, growth, overwriting and both at once, with and without syncs between.
    @Test(arguments: 0..<6 as Range<UInt64>) func sameAsByOneThread(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (barrier, limit) = (generator.pick([0, .max]), generator.pick([64 << 20, 64 << 20, 1 << 20]))
        let subjects = Self.crews.map { Subject($0, barrier: barrier, limit: limit) }
        var model = Data()
        for step in 0..<16 {
            let size = model.count
            let places = [0, size, size / 2, size / 4096 * 4096, size / 262_144 * 262_144]
            let at = max(0, min(4 << 20, generator.pick(places) + generator.pick([0, 0, 0, 4096, 1, -1, 4095])))
            let count = generator.pick([262_144, 524_288, 1 << 20, 3 << 20]) + generator.pick([0, 0, 0, -4096, 1, -1, 12_345])
            let kind = generator.number(0..<10)
            let new = Self.content(kind == 3 ? generator.pick([1, 4096, 9000]) : count, seed: generator.next() | 1)
            for subject in subjects {
                switch kind {
                case 0: try subject.file.synchronize()
                case 1: try subject.file.flush()
                case 2: try subject.file.truncate(to: ByteCount(Int64(max(0, size - count))))
                default: try Self.write(new, to: subject.file, at: at)
                }
            }
            if kind == 2 { model.removeLast(min(size, count)) }
            if kind > 2 { Self.put(new, in: &model, at: at) }
            for (number, subject) in subjects.enumerated() {
                #expect(try Self.content(subject.file) == model, "seed \(seed), step \(step), crew \(number)")
            }
        }
        for (number, subject) in subjects.enumerated() {
            try subject.file.synchronize()
            #expect(!subject.file.hasPendingWrites)
            #expect(subject.store.length() == subjects[0].store.length())
            let again = try SecureFile.open(subject.store, TestVault.context(session: 2), path: "file")
            #expect(try Self.content(again) == model, "seed \(seed), crew \(number)")
        }
    }

    /// A write over promised and unsynced blocks and past the end, at an odd place, while each call to the store fails once: every block is the old
    /// or the new one, and a second attempt succeeds.
    @Test(arguments: 1..<4, [0, Int.max]) func anyCallMayFail(crew: Int, barrier: Int) throws {
        let (promised, at) = (1_300_000, 100_123)
        let (old, new) = (Self.content(2_000_000, seed: 3), Self.content(2 << 20, seed: 5))
        var (before, after) = (old, old)
        before.append(Data(count: at + new.count - old.count))
        Self.put(new, in: &after, at: at)
        var number = 0
        while true {
            let subject = Subject(Self.crews[crew], barrier: barrier, limit: 1 << 20) { FaultyByteStore($0) }
            guard let store = subject.front as? FaultyByteStore else { return }
            try Self.write(old[..<promised], to: subject.file, at: 0)
            try subject.file.synchronize()
            try Self.write(Data(old[promised...]), to: subject.file, at: promised)
            let fault = [FaultyByteStore.Fault(.noSpace, written: 100), .init(.inputOutput, written: 200)][number % 2]
            store.failCall(number / 2, of: [.write, .synchronize, .setLength], with: fault)
            var failed = false
            do throws(SecureFileError) {
                try Self.write(new, to: subject.file, at: at)
                try subject.file.synchronize()
            } catch { failed = true }
            #expect(failed == (store.failureCount > 0), "call \(number / 2)")
            if !failed { break }
            store.heal()
            let found = try Self.content(subject.file)
            #expect(found.count >= old.count, "call \(number / 2)")
            for start in stride(from: 0, to: found.count, by: 4096) {
                let block = start..<min(start + 4096, found.count)
                #expect(found[block] == before[block] || found[block] == after[block], "call \(number / 2), block \(start / 4096)")
            }
            try Self.write(new, to: subject.file, at: at)
            try subject.file.synchronize()
            let again = try SecureFile.open(subject.store, TestVault.context(session: 1), path: "file")
            #expect(try Self.content(again) == after, "call \(number / 2)")
            number += 1
        }
        #expect(number > 8, "\(number)")
    }

    /// Where a barrier costs nothing overwrites do not pile up in memory; where it does they wait for a large batch.
    @Test(arguments: [0, Int.max]) func batchesAreAsLargeAsTheBarrierAsks(barrier: Int) throws {
        let subject = Subject(.shared, barrier: barrier, limit: 64 << 20)
        for _ in 0..<2 {
            for at in 0..<16 as Range<Int64> { try FileAction.write(at: at << 20, count: 1 << 20, seed: 7).perform(on: subject.file) }
            let held = subject.file.context.pendingByteCount
            if subject.file.isOwed { #expect(barrier == 0 ? held <= 3 << 20 : held == 16 << 20, "\(held)") }
            try subject.file.synchronize()
        }
    }
}
