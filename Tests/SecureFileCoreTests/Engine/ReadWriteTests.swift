import SecureFileCore
import TestSupport
import Testing

/// What is written is read, whatever the size and the alignment, open or opened anew.
struct ReadWriteTests {
    private func reopened(_ store: MemoryByteStore, session: Int = 2, cipher: CipherKind = .aes256GCM) throws -> SecureFile {
        try SecureFile.open(store, TestVault.context(session: session, cipher: cipher), path: "file")
    }

    @Test(arguments: edgeSizes, CipherKind.allCases)
    func aFileOfEverySize(size: Int64, cipher: CipherKind) throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1, cipher: cipher), path: "file")
        let content = size > 0 ? try file.write(Int(size), at: 0, seed: 5) : []
        #expect(file.size == ByteCount(size))
        #expect(try file.allBytes == content)
        try file.flush()
        #expect(try file.allBytes == content)
        try file.synchronize()
        let length = size == 0 ? 0 : size <= 3839 ? 256 + size : 4096 * ((size + 262_143) / 262_144) + size
        #expect(store.length() == length)
        #expect(!file.hasPendingWrites)
        #expect(try reopened(store, cipher: cipher).allBytes == content)
        #expect(try SecureFile.open(store, TestVault.context(session: 1, cipher: cipher), path: "file").allBytes == content)
    }

    @Test func readsAtEveryAlignment() throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        let content = try file.write(262_144 + 9000, at: 0, seed: 6)
        try file.synchronize()
        let again = try reopened(store)
        let shifts: [Int64] = [-4097, -4096, -4095, -1, 0, 1, 4095, 4096, 4097]
        for edge: Int64 in [0, 4096, 262_144, 266_240, 271_144] {
            for shift in shifts where edge + shift >= 0 {
                for count in [1, 2, 4095, 4096, 4097, 8192, 12_289] {
                    let start = Int(edge + shift)
                    let expected = start < content.count ? Array(content[start..<min(content.count, start + count)]) : []
                    #expect(try again.bytes(at: edge + shift, count: count) == expected, "\(count) bytes at \(start)")
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func writesAtEveryAlignment(atOnce: Bool) throws {
        var options = ContentContext.Options()
        options.writesNewDataAtOnce = atOnce
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1, options: options), path: "file")
        var model = ModelFile()
        var seed: UInt64 = 100
        for edge: Int64 in [0, 4096, 262_144, 270_336] {
            for shift in [-4097, -1, 0, 1, 4095, 4096] as [Int64] where edge + shift >= 0 {
                for count in [1, 4095, 4096, 4097, 8193] {
                    seed += 1
                    let action = FileAction.write(at: edge + shift, count: count, seed: seed)
                    try action.perform(on: file)
                    action.apply(to: &model)
                    if seed % 3 == 0 { try file.synchronize() }
                    if seed % 7 == 0 { try file.settle() }
                    try expect(file, is: model)
                }
            }
        }
        try file.synchronize()
        try expect(reopened(store), is: model)
    }

    @Test func readsPastTheEndGiveNothing() throws {
        let file = SecureFile.create(MemoryByteStore(), TestVault.context(session: 1), path: "file")
        #expect(try file.bytes(at: 0, count: 10) == [])
        try file.write(5000, at: 0, seed: 1)
        #expect(try file.bytes(at: 5000, count: 10) == [])
        #expect(try file.bytes(at: 1 << 61, count: 10) == [])
        #expect(try file.bytes(at: 4990, count: 100).count == 10)
        expectError(.invalidArgument) { try file.bytes(at: -1, count: 10) }
    }

    @Test func offsetsOutOfRangeAreRefused() throws {
        let file = SecureFile.create(MemoryByteStore(), TestVault.context(session: 1), path: "file")
        for offset in [Int64(-1), ContentGeometry.sizeLimit - 1, ContentGeometry.sizeLimit, .max] {
            expectError(.limitExceeded) { try file.write(2, at: offset, seed: 1) }
        }
        expectError(.limitExceeded) { try file.truncate(to: ByteCount(-1)) }
        expectError(.limitExceeded) { try file.truncate(to: ByteCount(ContentGeometry.sizeLimit)) }
        #expect(file.size == .zero)
        #expect(!file.hasPendingWrites)
    }

    @Test func nothingWrittenIsNothingInTheStore() throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        try file.write(0, at: 100, seed: 1)
        try file.flush()
        try file.settle()
        try file.synchronize()
        #expect(store.length() == 0)
        #expect(file.size == .zero)
    }

    @Test func manySmallAppends() throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        var content: [UInt8] = []
        for step in 0..<700 {
            content += try file.write(13 + step % 31, at: Int64(content.count), seed: UInt64(step + 1))
            if step % 50 == 0 { try file.flush() }
            if step % 90 == 0 { try file.synchronize() }
        }
        #expect(try file.allBytes == content)
        try file.synchronize()
        #expect(try reopened(store).allBytes == content)
    }

    @Test func aFileCutToNothingGetsAnotherIdAndKeys() throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        try file.write(100, at: 0, seed: 1)
        try file.synchronize()
        let first = store.image.bytes()[64..<96]
        try file.truncate(to: .zero)
        #expect(store.length() == 0)
        try file.write(100, at: 0, seed: 1)
        try file.synchronize()
        #expect(store.image.bytes()[64..<96] != first)
    }

    @Test func noTwoSealsLookAlike() throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        var seen: Set<[UInt8]> = []
        for _ in 0..<5 {
            try file.write(8192, at: 0, seed: 1)
            try file.synchronize()
            let bytes = store.image.bytes()
            #expect(seen.insert(Array(bytes[16..<28])).inserted, "the nonce of the page")
            #expect(seen.insert(Array(bytes[4096..<4112])).inserted, "the ciphertext of block 0")
            #expect(seen.insert(Array(bytes[8192..<8208])).inserted, "the ciphertext of block 1")
        }
    }
}

/// Expects the whole content of `file` to be that of `model`.
func expect(_ file: SecureFile, is model: ModelFile, at location: SourceLocation = #_sourceLocation) throws {
    #expect(file.size.rawValue == model.size, sourceLocation: location)
    let buffer = PageBuffer(count: 1 << 20)
    var at: Int64 = 0
    while at < model.size {
        let got = try file.read(at: ByteOffset(at), count: buffer.count, into: buffer)
        if let wrong = model.mismatch(buffer, got: got, at: at, count: buffer.count) {
            Issue.record("\(wrong)", sourceLocation: location)
            return
        }
        at += Int64(buffer.count)
    }
}
