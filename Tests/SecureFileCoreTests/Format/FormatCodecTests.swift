import Testing

@testable import SecureFileCore

@Suite struct FormatCodecTests {
    @Test func base64ComesBackAtEveryLength() {
        var random = VaultTestRandom(seed: 3)
        for count in 0..<300 {
            let bytes = random.bytes(count)
            let text = Base64URL.encode(bytes)
            #expect(text.count == Base64URL.encodedLength(count) && Base64URL.decodedCount(text.count) == count)
            #expect(Base64URL.decode(text) == bytes)
        }
        #expect(Base64URL.encodedLength(NameLimits.shortName + NameLimits.sivOverhead) == 255)
        #expect(Base64URL.encodedLength(NameLimits.shortAttribute + NameLimits.sivOverhead) + "trusted.sfs.n.".utf8.count <= 255)
        #expect(Base64URL.encodedLength(NameLimits.shortAttribute + 1 + NameLimits.sivOverhead) + "trusted.sfs.n.".utf8.count > 255)
        #expect(Base64URL.encodedLength(32) + "sfs.long.".utf8.count == 52)
        #expect(Base64URL.encodedLength(StoredSymlink.inlineMaximum + StoredSymlink.overhead) <= 4095)
    }

    @Test(arguments: ["A", "AB", "ABD", "AA==", "A+", "A/", "A ", "AAAAA", "AAé", "\u{0}AAA"])
    func base64ThatIsNotCanonicalIsRefused(_ text: String) { #expect(Base64URL.decode(Array(text.utf8)) == nil) }

    /// Any text decodes to nothing, or to bytes that encode to it.
    @Test func base64HasOneFormOnly() {
        let seed = VaultTestRandom.seed(11)
        var random = VaultTestRandom(seed: seed)
        for _ in 0..<20000 {
            let count = random.below(9)
            let text = random.bytes(count).map { $0 % 80 + 43 }
            if let bytes = Base64URL.decode(text) { #expect(Base64URL.encode(bytes) == text, "seed \(seed)") }
        }
    }

    @Test func symlinkFormsComeBack() {
        for length in [1, 2, 30, 1000, 3038, 3039] {
            let sealed = [UInt8](repeating: 7, count: length + StoredSymlink.overhead)
            let text = StoredSymlink.inline(sealed).text
            #expect(text.count != StoredSymlink.fileFormLength)
            #expect(StoredSymlink(text: text) == .inline(sealed))
            #expect(StoredSymlink.plaintextLength(backing: Int64(text.count)) == Int64(length))
        }
        let name = Base64URL.encode([UInt8](repeating: 9, count: 16))
        for length in [3040, 4095] {
            let text = StoredSymlink.file(name: name, length: length).text
            #expect(text.count == 37 && StoredSymlink.plaintextLength(backing: 37) == nil)
            #expect(StoredSymlink(text: text) == .file(name: name, length: length))
        }
        for length in [3039, 4096, 0xfffff] { #expect(StoredSymlink(text: StoredSymlink.file(name: name, length: length).text) == nil) }
    }

    @Test func symlinkTextIsReadWithoutATrap() {
        let seed = VaultTestRandom.seed(13)
        var random = VaultTestRandom(seed: seed)
        let good = StoredSymlink.file(name: Base64URL.encode(random.bytes(16)), length: 4000).text
        for _ in 0..<20000 {
            var text = random.below(2) == 0 ? good : random.bytes(random.below(50))
            if !text.isEmpty, random.below(2) == 0 { text[random.below(text.count)] = UInt8(truncatingIfNeeded: random.next()) }
            if let stored = StoredSymlink(text: text) { #expect(stored.text == text, "seed \(seed)") }
        }
    }

    @Test func sessionRecordComesBack() {
        for count in [0, 1, 2, 1023, 1024] {
            let dead = (0..<count).map { SessionID(low: UInt64($0) + 1, high: 5) }
            let record = SessionRecord(open: SessionID(low: 3, high: 4), dead: dead)
            #expect(record.body.count == 32 + 16 * count)
            #expect(SessionRecord(body: record.body) == record)
        }
    }

    @Test func sessionRecordIsReadWithoutATrap() {
        let seed = VaultTestRandom.seed(17)
        var random = VaultTestRandom(seed: seed)
        let good = SessionRecord(open: SessionID(low: 3, high: 4), dead: (1..<5).map { SessionID(low: $0, high: 1) }).body
        for _ in 0..<20000 {
            var body = Array(good.prefix(random.below(good.count + 1))) + random.bytes(random.below(3) * random.below(20))
            for _ in 0..<random.below(3) where !body.isEmpty { body[random.below(body.count)] = UInt8(truncatingIfNeeded: random.next()) }
            if let record = SessionRecord(body: body) { #expect(record.body == body, "seed \(seed)") }
        }
    }

    @Test func reservedNamesAreToldApart() {
        func meaning(_ name: String) -> ReservedNames.Meaning { ReservedNames.meaning(of: Array(name.utf8)) }
        #expect(meaning(".") == .dots && meaning("..") == .dots && meaning("...") == .short)
        #expect(meaning("sfs.dir") == .directoryID && meaning("sfs.json") == .other && meaning("sfs.") == .other)
        #expect(meaning("sfs.tmp.abc") == .temporary && meaning("sfs.long.abc") == .long && meaning("sfs.long.abc.name") == .companion)
        #expect(meaning("sfs") == .short && meaning("Sfs.dir") == .short)
    }
}
