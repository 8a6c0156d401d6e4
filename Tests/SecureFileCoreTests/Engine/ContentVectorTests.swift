import TestSupport
import Testing

@testable import SecureFileCore

/// The content files made by another program from FORMAT.md alone, each read in every way there is.
@Suite struct ContentVectorTests {
    @Test func thereAreVectors() { #expect(Vector.all("content").count > 100, "run scripts/make_vectors.py") }

    private func context(_ vector: Vector) throws -> ContentContext {
        let keys = try vector.keys()
        if vector.fields["place"] == "standalone" {
            return ContentContext(standaloneFilesUnder: keys.contentKey, keyID: keys.keyID, cipher: .aes256GCM)
        }
        var rule = SessionRule(current: SessionID(low: 1, high: 2))
        if let state = vector.fields["session"], state != "none" {
            // Whatever session page 0 names is dead or open; besides it there is another dead one.
            rule.lenient = [SessionID(low: 3, high: 4)]
            let bytes = vector.bytes ?? []
            if bytes.count >= 128, bytes[112..<128].contains(where: { $0 != 0 }) {
                rule.lenient.insert(
                    SessionID(low: LittleEndian.load(bytes, at: 112, count: 8), high: LittleEndian.load(bytes, at: 120, count: 8)))
            }
        }
        return ContentContext(contentKey: keys.contentKey, keyID: keys.keyID, cipher: .aes256GCM, session: rule)
    }

    /// What reading in pieces of `step` bytes gives: the content, or the error.
    private func outcome(_ vector: Vector, step: Int) throws -> Result<[UInt8], SecureFileError> {
        let context = try context(vector)
        let store = MemoryByteStore(PageImage(bytes: vector.bytes ?? []))
        do {
            let file = try SecureFile.open(store, context, path: vector.name)
            var content: [UInt8] = []
            while content.count < Int(file.size.rawValue) { content += try file.bytes(at: Int64(content.count), count: step) }
            return .success(content)
        } catch {
            return .failure(error)
        }
    }

    private func code(_ expected: String) -> SecureFileError.Code {
        switch expected {
        case "badMagic": .notSecureFile
        case "unsupportedVersion": .unsupportedVersion
        case "wrongKey": .wrongKey
        case "truncated": .truncated
        default: .damaged  // "malformed" among them: an error of its own is not required
        }
    }

    @Test(arguments: Vector.all("content"))
    private func content(_ vector: Vector) throws {
        for step in [1 << 20, 4096, 1000] {
            switch try outcome(vector, step: step) {
            case .success(let content):
                #expect(vector.isOK, "it reads, though \(vector.fields["expect"] ?? "") was expected")
                #expect(String(content.count) == vector.fields["size"])
                #expect(try Hashing.sha256(content) == vector.hex("payload-sha256"))
            case .failure(let error):
                #expect(!vector.isOK, "\(error)")
                #expect(error.code == code(vector.fields["expect"] ?? ""), "\(error)")
                if let block = vector.fields["at-block"], error.code == .damaged || error.code == .truncated {
                    #expect(error.block.map { String($0.rawValue) } == block, "\(error)")
                }
                #expect(error.path == vector.name)
            }
        }
    }

    @Test(arguments: Vector.all("content"))
    private func checker(_ vector: Vector) throws {
        let store = MemoryByteStore(PageImage(bytes: vector.bytes ?? []))
        guard let file = try? SecureFile.open(store, context(vector), path: vector.name) else { return }
        var errors: [SecureFileError] = []
        file.verifyAll(progress: { _ in }, report: { errors.append($0) })
        #expect(errors.isEmpty == vector.isOK, "\(errors)")
        #expect(vector.isOK || errors.map { $0.block.map { String($0.rawValue) } }.contains(vector.fields["at-block"]), "\(errors)")
    }

    /// Settled for good, a lenient file reads the same under strict rules.
    @Test(arguments: Vector.all("content").filter { $0.isOK && $0.fields["place"] != "standalone" })
    private func settled(_ vector: Vector) throws {
        let store = MemoryByteStore(PageImage(bytes: vector.bytes ?? []))
        try SecureFile.open(store, context(vector), path: vector.name).settleForGood()
        let keys = try vector.keys()
        let rule = SessionRule(current: SessionID(low: 8, high: 9))
        let strict = ContentContext(contentKey: keys.contentKey, keyID: keys.keyID, cipher: .aes256GCM, session: rule)
        let content = try SecureFile.open(store, strict, path: vector.name).allBytes
        #expect(try Hashing.sha256(content) == vector.hex("payload-sha256"))
    }
}
