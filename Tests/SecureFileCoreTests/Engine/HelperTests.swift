import Testing
import TestSupport

@testable import SecureFileCore

/// Large work that is shared among several threads.
struct HelperTests {
    private static let crews = [TestVault.patientCrew, TestVault.crew, .shared]
    private static let size = 3 << 20

    private func context(_ crew: Crew) -> ContentContext {
        var options = ContentContext.Options()
        options.crew = crew
        return TestVault.context(session: 1, options: options)
    }

    private func pattern(_ count: Int, _ seed: UInt64) -> PageBuffer {
        var generator = SeededGenerator(seed: seed)
        let buffer = PageBuffer(count: count)
        for at in stride(from: 0, to: count, by: 8) { buffer.store(generator.next(), at: at) }
        return buffer
    }

    private func write(_ file: SecureFile, _ content: PageBuffer, _ offset: Int64 = 0) throws(SecureFileError) {
        try content.withSpan(0..<content.count) { (span) throws(SecureFileError) in try file.write(span, 0..<content.count, at: ByteOffset(offset)) }
    }

    private func content(_ file: SecureFile) throws -> [UInt8] {
        let buffer = PageBuffer(count: Self.size + 1)
        let got = try file.read(at: ByteOffset(0), count: buffer.count, into: buffer)
        return buffer.bytes(0..<got)
    }

    @Test(arguments: 0..<3) func newDataAndBatches(crew: Int) throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, context(Self.crews[crew]), path: "file")
        for round in 0..<3 as Range<UInt64> {
            let new = pattern(Self.size, round)
            try write(file, new)
            #expect(try content(file) == new.bytes(0..<Self.size))
            try file.synchronize()
            #expect(try content(file) == new.bytes(0..<Self.size))
            let again = try SecureFile.open(store, TestVault.context(session: 1), path: "file")
            #expect(try content(again) == new.bytes(0..<Self.size), "round \(round)")
        }
    }

    /// New data over nothing, over data no sync has promised, and a batch of overwrites: each write to the store fails once.
    @Test(arguments: 0..<3, ["new", "unsynced", "promised"]) func anyPartMayFail(crew: Int, past: String) throws {
        let (old, new) = (pattern(Self.size, 1), pattern(Self.size, 2))
        var number = 0
        while true {
            let store = FaultyByteStore(MemoryByteStore())
            let file = SecureFile.create(store, context(Self.crews[crew]), path: "file")
            if past != "new" { try write(file, old) }
            if past == "promised" { try file.synchronize() }
            let fault = [FaultyByteStore.Fault(.noSpace, written: 100), .init(.inputOutput), .init(.noSpace, isPersistent: true)][number % 3]
            store.failCall(number / 3, of: .write, with: fault)
            var failed = false
            do throws(SecureFileError) {
                try write(file, new)
                try file.synchronize()
            } catch {
                failed = true
                #expect(error.code == (fault.error == .noSpace ? .noSpace : .system))
            }
            if !failed { break }
            store.heal()
            // No block is lost or mixed.
            let between = try content(file)
            for at in stride(from: 0, to: between.count, by: 4096) {
                let block = between[at..<min(at + 4096, between.count)]
                let isNew = block.elementsEqual(new.bytes(at..<at + block.count))
                let isOld = past != "new" && block.elementsEqual(old.bytes(at..<at + block.count))
                #expect(isNew || isOld || (past == "new" && block.allSatisfy { $0 == 0 }), "call \(number / 3), block \(at / 4096)")
            }
            try write(file, new)
            try file.synchronize()
            #expect(try content(file) == new.bytes(0..<Self.size))
            let again = try SecureFile.open(store, TestVault.context(session: 1), path: "file")
            #expect(try content(again) == new.bytes(0..<Self.size), "call \(number / 3)")
            number += 1
        }
        #expect(number > 9, "\(number)")
    }
}
