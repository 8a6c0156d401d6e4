import SecureFileCore
import TestSupport
import Testing

/// Sizes that change: by truncate, through every form, and what may come to light by it.
struct ResizeTests {
    private let store = MemoryByteStore()
    private let file: SecureFile

    init() throws { file = SecureFile.create(store, TestVault.context(session: 1), path: "file") }

    private func reopened() throws -> SecureFile {
        try file.synchronize()
        try file.settle()
        return try SecureFile.open(store, TestVault.context(session: 2), path: "file")
    }

    @Test func shrinkWritePastTheEndShrinkAgain() throws {
        var model = ModelFile()
        let actions: [FileAction] = [
            .write(at: 0, count: 20_000, seed: 1), .truncate(5000), .write(at: 9000, count: 100, seed: 2), .truncate(6000), .truncate(20_000),
            .synchronize, .truncate(300_000), .truncate(4097), .write(at: 300_000, count: 1, seed: 3), .truncate(4096), .truncate(300_001),
            .settle, .truncate(1), .truncate(5000),
        ]
        for action in actions {
            try action.perform(on: file)
            action.apply(to: &model)
            try expect(file, is: model)
        }
        try expect(reopened(), is: model)
    }

    @Test(arguments: edgeSizes, [false, true])
    func everySizeToEveryOther(from: Int64, synced: Bool) throws {
        for to in edgeSizes {
            let store = MemoryByteStore()
            let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
            var model = ModelFile()
            var actions: [FileAction] = [.write(at: 0, count: Int(from), seed: 1), .truncate(to), .truncate(max(from, to) + 10)]
            if synced { actions.insert(.synchronize, at: 1) }
            for action in actions {
                try action.perform(on: file)
                action.apply(to: &model)
                #expect(file.size.rawValue == model.size)
            }
            try file.settle()
            try expect(SecureFile.open(store, TestVault.context(session: 1), path: "file"), is: model)
        }
    }

    @Test func inlineToGroupedAndBackThroughNothing() throws {
        let content = try file.write(3839, at: 0, seed: 1)
        try file.synchronize()
        #expect(store.length() == 4095)
        let more = try file.write(1, at: 3839, seed: 2)
        try file.synchronize()
        #expect(store.length() == 7936)
        #expect(try file.allBytes == content + more)
        // A file that was cut keeps its form.
        try file.truncate(to: ByteCount(10))
        try file.synchronize()
        #expect(store.length() == 4106)
        try file.truncate(to: .zero)
        let last = try file.write(10, at: 0, seed: 3)
        try file.synchronize()
        #expect(store.length() == 266)
        #expect(try reopened().allBytes == last)
    }

    @Test func aTebibyteAndBack() throws {
        let content = try file.write(100, at: 0, seed: 1)
        for _ in 0..<3 {
            try file.truncate(to: ByteCount(1 << 40))
            #expect(file.size == ByteCount(1 << 40))
            try file.write(50, at: 1 << 39, seed: 2)
            try file.synchronize()
            #expect(try file.bytes(at: (1 << 39) - 10, count: 20).prefix(10).allSatisfy { $0 == 0 })
            #expect(try file.bytes(at: (1 << 40) - 5, count: 20) == [0, 0, 0, 0, 0])
            let again = try reopened()
            #expect(try again.nextData(at: ByteOffset(4096)) == ByteOffset(1 << 39))
            #expect(try again.bytes(at: 1 << 39, count: 50).contains { $0 != 0 })
            try file.truncate(to: ByteCount(100))
            #expect(try file.allBytes == content)
        }
        #expect(try reopened().allBytes == content)
        #expect(store.length() == 4196)
    }

    @Test func growthWithinSixteenGroupsMakesTheirPages() throws {
        try file.write(1, at: 0, seed: 1)
        try file.truncate(to: ByteCount(5 * 262_144))
        try file.synchronize()
        // Not sparse: a page that goes missing is damage.
        #expect(store.image.bytes()[11] == 0)
        store.image.setPage(2 * 65, nil)
        let again = try SecureFile.open(store, TestVault.context(session: 2), path: "file")
        expectError(.damaged) { try again.bytes(at: 2 * 262_144, count: 10) }
        #expect(try again.bytes(at: 3 * 262_144, count: 10) == [UInt8](repeating: 0, count: 10))
    }

    @Test func aFileThatTheStoreCannotHoldIsRefusedAtOnce() throws {
        let limited = FaultyByteStore(store)
        let file = SecureFile.create(limited, TestVault.context(session: 1), path: "file")
        let content = try file.write(100, at: 0, seed: 1)
        try file.synchronize()
        limited.failCall(0, of: .setLength, with: .init(.fileTooLarge, isPersistent: true))
        #expect(throws: SecureFileError.self) { try file.truncate(to: ByteCount(1 << 50)) }
        #expect(throws: SecureFileError.self) { try file.write(1, at: 1 << 50, seed: 2) }
        limited.heal()
        #expect(try file.allBytes == content)
        try file.synchronize()
        #expect(try file.allBytes == content)
    }

    @Test func bytesCutOffDoNotComeBackAfterADeadSession() throws {
        // The size became durable, the shorter last block did not.
        try file.write(20_000, at: 0, seed: 1)
        try file.synchronize()
        try file.truncate(to: ByteCount(5000))
        try file.flush()
        let image = store.image
        let left = MemoryByteStore(image)
        let next = try SecureFile.open(left, TestVault.context(session: 2, dead: [1]), path: "file")
        #expect(next.size == ByteCount(5000))
        try next.truncate(to: ByteCount(20_000))
        #expect(try next.bytes(at: 5000, count: 15_000).allSatisfy { $0 == 0 })
    }
}
