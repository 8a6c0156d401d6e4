import SecureFileCore
import TestSupport
import Testing

/// Somebody changes the backing file: an error that names file and block, or the right data where the format says that a byte is ignored;
/// never other data. All under strict rules: the session ended cleanly.
struct TamperTests {
    /// Two groups: blocks 0 (whole), 1 (100 bytes), 63, 64 and 65 (to the end); the others are holes.
    private struct Victim {
        let image: PageImage
        let content: [UInt8]
        let expected: PageBuffer

        init(inline size: Int? = nil, seed: UInt64 = 1, cipher: CipherKind = .aes256GCM) throws {
            let store = MemoryByteStore()
            let file = SecureFile.create(store, TestVault.context(session: 1, cipher: cipher), path: "victim")
            if let size {
                try file.write(size, at: 0, seed: seed)
            } else {
                try file.truncate(to: ByteCount(262_144 + 5000))
                try file.write(4196, at: 0, seed: seed)
                try file.write(4096, at: 63 * 4096, seed: seed + 1)
                try file.write(5000, at: 262_144, seed: seed + 2)
            }
            try file.synchronize()
            try file.settle()
            image = store.image
            content = try file.allBytes
            expected = PageBuffer(uninitialized: content.count)
            expected.copy(content, to: 0)
        }

        var bytes: [UInt8] { image.bytes() }
    }

    private enum Outcome: Equatable {
        case same, other
        case error(SecureFileError.Code, Int64?)
    }

    /// What reading a changed file gives, all of it and the blocks one by one.
    private func outcome(_ image: PageImage, _ victim: Victim) -> Outcome {
        let store = MemoryByteStore(image)
        do {
            let file = try SecureFile.open(store, TestVault.context(session: 2), path: "victim")
            let count = victim.content.count
            let buffer = PageBuffer(uninitialized: count + 5000)
            // Most of the holes are left out: it is a matter of time.
            for range in [0..<min(count, 12_288), min(count, 62 * 4096)..<count] where !range.isEmpty {
                let wanted = range.upperBound == count ? range.count + 5000 : range.count
                let got = try file.read(at: ByteOffset(Int64(range.lowerBound)), count: wanted, into: buffer, bufferOffset: range.lowerBound)
                if got != range.count || !buffer.equals(victim.expected, range) { return .other }
            }
            return .same
        } catch {
            return error.path == "victim" ? .error(error.code, error.block?.rawValue) : .other
        }
    }

    /// The image with the byte at `offset` changed.
    private func flipped(_ image: PageImage, _ offset: Int) -> PageImage {
        var image = image
        let byte = PageBuffer(count: 1)
        _ = image.read(at: Int64(offset), into: byte, 0..<1)
        byte[0] ^= 1 << UInt8(offset % 8)
        image.write(byte, 0..<1, at: Int64(offset))
        return image
    }

    private func isRefusal(_ outcome: Outcome, of offset: Int) -> Bool {
        guard case .error(let code, let block) = outcome else { return false }
        switch offset {
        case 0..<8: return code == .notSecureFile
        case 8, 9, 10, 11: return code == .unsupportedVersion || (code == .damaged || code == .truncated) && block == 0
        case 96..<104: return code == .wrongKey
        default: return (code == .damaged || code == .truncated) && block == 0
        }
    }

    @Test(arguments: CipherKind.allCases)
    func everyByteOfAnInlineFile(cipher: CipherKind) throws {
        let victim = try Victim(inline: 700, cipher: cipher)
        #expect(outcome(victim.image, victim) == .same)
        for offset in 0..<956 {
            let outcome = outcome(flipped(victim.image, offset), victim)
            #expect(isRefusal(outcome, of: offset), "byte \(offset): \(outcome)")
        }
    }

    @Test func everyByteOfTheFirstMetadataPage() throws {
        let victim = try Victim()
        #expect(outcome(victim.image, victim) == .same)
        for offset in 0..<4096 {
            let outcome = outcome(flipped(victim.image, offset), victim)
            #expect(isRefusal(outcome, of: offset), "byte \(offset): \(outcome)")
        }
    }

    @Test func everyByteOfTheSecondMetadataPage() throws {
        let victim = try Victim()
        for offset in 266_240..<266_240 + 4096 {
            let outcome = outcome(flipped(victim.image, offset), victim)
            #expect(outcome == .error(.damaged, 64), "byte \(offset - 266_240): \(outcome)")
        }
    }

    @Test func everyByteOfTheDataPages() throws {
        let victim = try Victim()
        // Page, block, length of the block.
        for (page, block, length) in [(4096, 0, 4096), (8192, 1, 100), (262_144, 63, 4096), (270_336, 64, 4096), (274_432, 65, 904)] {
            for offset in stride(from: 0, to: 4096, by: length < 4096 ? 1 : 7) where page + offset < victim.image.length {
                let outcome = outcome(flipped(victim.image, page + offset), victim)
                let expected: Outcome = offset < length ? .error(.damaged, Int64(block)) : .same
                #expect(outcome == expected, "byte \(offset) of block \(block): \(outcome)")
            }
        }
    }

    @Test func theBytesOfAHolesPageAreIgnored() throws {
        let victim = try Victim()
        for page in 3..<60 { #expect(outcome(flipped(victim.image, page * 4096 + 17), victim) == .same) }
    }

    @Test func theOtherBlocksStayReadable() throws {
        let victim = try Victim()
        let store = MemoryByteStore(flipped(victim.image, 8192))
        let file = try SecureFile.open(store, TestVault.context(session: 2), path: "victim")
        expectError(.damaged) { try file.bytes(at: 4000, count: 200) }
        #expect(try file.bytes(at: 0, count: 4096) == Array(victim.content[0..<4096]))
        #expect(try file.bytes(at: 8192, count: 300_000) == Array(victim.content[8192...]))
        // A block that is damaged can be written anew as a whole, not in part.
        expectError(.damaged) { try file.write(10, at: 4100, seed: 3) }
        let new = try file.write(4096, at: 4096, seed: 4)
        try file.synchronize()
        #expect(try file.bytes(at: 4096, count: 4096) == new)
    }

    @Test func cutAtEveryPageEdge() throws {
        let victim = try Victim()
        var cuts = Array(stride(from: 0, to: Int(victim.image.length), by: 4096)) + [1, 100, 255, 256, 4095, 4097, 266_241, 271_239]
        cuts.append(Int(victim.image.length) - 1)
        for cut in cuts {
            var image = victim.image
            image.setLength(Int64(cut))
            switch outcome(image, victim) {
            case .error(let code, let block):
                #expect(code == .truncated || (code == .damaged && cut < 256), "cut at \(cut): \(code.name)")
                #expect(block == ContentGeometry.size(backingLength: Int64(cut)).rawValue / 4096, "cut at \(cut)")
            case let other: #expect(cut == 0, "cut at \(cut): \(other)")
            }
        }
        // A file cut to nothing is an empty file. FORMAT section 11 says that this is not detected.
        #expect(try SecureFile.open(MemoryByteStore(), TestVault.context(session: 2), path: "victim").size == .zero)
    }

    @Test func excessIsIgnored() throws {
        for victim in [try Victim(), try Victim(inline: 700)] {
            for count in [1, 100, 4096, 300_000] {
                var image = victim.image
                image.write(FileAction.content(count, seed: 5), 0..<count, at: image.length)
                #expect(outcome(image, victim) == .same, "\(count) bytes")
                image = victim.image
                image.setLength(image.length + Int64(count))
                #expect(outcome(image, victim) == .same, "\(count) zeros")
            }
        }
    }

    private func setting(_ image: PageImage, _ bytes: [UInt8], at offset: Int) -> PageImage {
        var image = image
        let buffer = PageBuffer(count: bytes.count)
        buffer.copy(bytes, to: 0)
        image.write(buffer, 0..<bytes.count, at: Int64(offset))
        return image
    }

    @Test func thingsZeroed() throws {
        let victim = try Victim()
        let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
        #expect(outcome(setting(victim.image, zeros(60), at: 256), victim) == .error(.damaged, 0), "an entry")
        #expect(outcome(setting(victim.image, zeros(30), at: 256), victim) == .error(.damaged, 0), "a slot")
        #expect(outcome(setting(victim.image, zeros(60), at: 266_240 + 256), victim) == .error(.damaged, 64), "an entry of group 1")
        #expect(outcome(setting(victim.image, zeros(4096), at: 0), victim) == .error(.damaged, 0), "the first page")
        #expect(outcome(setting(victim.image, zeros(4096), at: 266_240), victim) == .error(.damaged, 64), "the second metadata page")
        #expect(outcome(setting(victim.image, zeros(4096), at: 4096), victim) == .error(.damaged, 0), "a block")
        #expect(outcome(setting(victim.image, zeros(100), at: 8192), victim) == .error(.damaged, 1), "a short block")
        #expect(outcome(setting(victim.image, zeros(4096), at: 270_336), victim) == .error(.damaged, 64), "a block of group 1")
        let inline = try Victim(inline: 700)
        #expect(outcome(setting(inline.image, zeros(956), at: 0), inline) == .error(.damaged, 0), "an inline file")
        #expect(outcome(setting(inline.image, zeros(700), at: 256), inline) == .error(.damaged, 0), "its content")
    }

    @Test func thingsMoved() throws {
        let (victim, other) = (try Victim(), try Victim(seed: 50))
        let (bytes, others) = (victim.bytes, other.bytes)
        func page(_ bytes: [UInt8], _ at: Int) -> [UInt8] { Array(bytes[at..<at + 4096]) }
        let swapped = setting(setting(victim.image, page(bytes, 4096), at: 262_144), page(bytes, 262_144), at: 4096)
        #expect(outcome(swapped, victim) == .error(.damaged, 0), "two blocks of a group")
        #expect(outcome(setting(victim.image, page(bytes, 4096), at: 270_336), victim) == .error(.damaged, 64), "a block into another group")
        #expect(outcome(setting(victim.image, page(others, 4096), at: 4096), victim) == .error(.damaged, 0), "a block of another file")
        #expect(outcome(setting(victim.image, page(others, 266_240), at: 266_240), victim) == .error(.damaged, 64), "a page of another file")
        #expect(outcome(setting(victim.image, page(bytes, 0), at: 266_240), victim) == .error(.damaged, 64), "the first page as the second")
        #expect(outcome(setting(victim.image, page(bytes, 266_240), at: 0), victim) == .error(.damaged, 0), "the second page as the first")
        #expect(outcome(setting(victim.image, Array(bytes[256..<316]), at: 316), victim) == .error(.damaged, 0), "an entry")
        #expect(outcome(setting(victim.image, page(others, 0), at: 0), victim) == .error(.damaged, 0), "the first page of another file")
    }

    @Test func anOldVersionPutBack() throws {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "victim")
        try file.write(262_144 + 8192, at: 0, seed: 1)
        try file.synchronize()
        let old = store.image
        for block in [0, 5, 64] as [Int64] { try file.write(4096, at: block * 4096, seed: UInt64(block + 7)) }
        try file.synchronize()
        let new = store.image
        for (page, block) in [(1, 0), (6, 5), (66, 64)] as [(Int64, Int64)] {
            for (image, from) in [(new, old), (old, new)] {
                var changed = image
                changed.setPage(page, from.pages[page])
                let left = MemoryByteStore(changed)
                let file = try SecureFile.open(left, TestVault.context(session: 2), path: "victim")
                expectError(.damaged) { try file.bytes(at: block * 4096, count: 1) }
            }
        }
        // The metadata page of one version with the data of another.
        for (page, block) in [(0, 0), (65, 64)] as [(Int64, Int64)] {
            var changed = new
            changed.setPage(page, old.pages[page])
            let file = try SecureFile.open(MemoryByteStore(changed), TestVault.context(session: 2), path: "victim")
            expectError(.damaged) { try file.bytes(at: block * 4096, count: 1) }
        }
    }

    /// Bytes at random, on all pages, several at once: no trap, no other data.
    @Test func randomDamage() throws {
        let victim = try Victim()
        for seed in seeds(from: 1, count: 1500) {
            var generator = SeededGenerator(seed: seed)
            var image = victim.image
            for _ in 0..<generator.number(1..<5) {
                let base = generator.pick([0, 256, 4096, 8192, 262_144, 266_240, 270_336])
                let piece = FileAction.content(generator.number(1..<200), seed: generator.next()).bytes(0..<1)
                image = setting(image, piece, at: min(base + generator.number(0..<4096), Int(image.length) - 200))
            }
            if generator.once(in: 5) { image.setLength(generator.number(0...image.length)) }
            let outcome = outcome(image, victim)
            #expect(outcome != .other || image.length == 0, "SEED=\(seed)")
        }
    }
}
