import FoundationEssentials
import Testing
import TestSupport

@testable import SecureFileCore

/// Large work that is shared among several threads.
struct HelperTests {
    private static let crews = [TestVault.patientCrew, TestVault.crew, .shared]
    private static let size = 5 << 18

    private func context(_ crew: Crew) -> ContentContext {
        var options = ContentContext.Options()
        options.crew = crew
        return TestVault.context(session: 1, options: options)
    }

    private static let pool = BufferPool()

    private func pattern(_ seed: UInt64) -> Data { FileAction.content(Self.size, seed: seed).data(count: Self.size, from: Self.pool) }

    private func write(_ file: SecureFile, _ content: Data) throws(SecureFileError) {
        try file.write(content.span, 0..<content.count, at: ByteOffset(0))
    }

    // Data compares itself quickly in a debug build too.
    private func content(_ file: SecureFile) throws -> Data {
        let buffer = PageBuffer(uninitialized: Self.size + 1)
        return buffer.data(count: try file.read(at: ByteOffset(0), count: buffer.count, into: buffer), from: Self.pool)
    }

    @Test(arguments: 0..<3) func newDataAndBatches(crew: Int) throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, context(Self.crews[crew]), path: "file")
        for round in 0..<3 as Range<UInt64> {
            let new = pattern(round + 1)
            try write(file, new)
            #expect(try content(file) == new)
            try file.synchronize()
            #expect(try content(file) == new)
            let again = try SecureFile.open(store, TestVault.context(session: 1), path: "file")
            #expect(try content(again) == new, "round \(round)")
        }
    }

    /// New data over nothing, over data no sync has promised, and a batch of overwrites: each write to the store fails once.
    @Test(arguments: 0..<3, ["new", "unsynced", "promised"]) func anyPartMayFail(crew: Int, past: String) throws {
        let (old, new) = (pattern(1), pattern(2))
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
                let block = at..<min(at + 4096, between.count)
                let isNew = between[block] == new[block]
                let isOld = past != "new" && between[block] == old[block]
                #expect(isNew || isOld || (past == "new" && between[block] == Data(count: block.count)), "call \(number / 3), block \(at / 4096)")
            }
            try write(file, new)
            try file.synchronize()
            #expect(try content(file) == new)
            let again = try SecureFile.open(store, TestVault.context(session: 1), path: "file")
            #expect(try content(again) == new, "call \(number / 3)")
            number += 1
        }
        #expect(number > 9, "\(number)")
    }
}
