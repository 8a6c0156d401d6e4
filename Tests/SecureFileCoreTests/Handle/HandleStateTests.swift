import Foundation
import SecureFileCore
import Testing

/// Every state of the key and every error, through the handle; and that no failure makes a key, a vault or a file.
@Suite struct HandleStateTests {
    /// What a call gives in each of the ways a handle can be asked.
    private static func calls(_ handle: SecureFileHandle) -> [(String, () throws -> Void)] {
        let buffer = PageBuffer(count: 16)
        return [
            ("read", { _ = try handle.read(upToCount: 4) }), ("read nothing", { _ = try handle.read(upToCount: 0) }),
            ("readToEnd", { _ = try handle.readToEnd() }), ("read at", { _ = try handle.read(upToCount: 4, at: 0) }),
            ("read into", { _ = try handle.read(into: buffer, at: 0) }), ("write", { try handle.write(contentsOf: text("x")) }),
            ("write nothing", { try handle.write(contentsOf: Data()) }), ("write at", { try handle.write(text("x"), at: 0) }),
            ("offset", { _ = try handle.offset() }), ("seek", { try handle.seek(toOffset: 1) }), ("seekToEnd", { try handle.seekToEnd() }),
            ("truncate", { try handle.truncate(atOffset: 1) }), ("synchronize", { try handle.synchronize() }),
        ]
    }

    @Test func withoutAKeyNothingOpensAndNothingIsMade() throws {
        let fixture = try HandleFixture(unlocked: false)
        #expect(fixture.services.state == .absent && fixture.services.keyID == nil)
        let path = try fixture.emptyFile()
        let before = try fixture.folder.entries()
        #expect(failureCode { _ = try fixture.open(path) } == .keyAbsent)
        #expect(failureCode { try SecureFiles(fixture.services).write(text("x"), to: fixture.path("new")) } == .keyAbsent)
        #expect(failureCode { try SecureFiles(fixture.services).write(text("x"), to: fixture.path("new"), atomically: true) } == .keyAbsent)
        #expect(failureCode { _ = try SecureFiles(fixture.services).read(path) } == .keyAbsent)
        #expect(failureCode { try SecureFiles(fixture.services).encrypt(path) } == .keyAbsent)
        #expect(failureCode { try fixture.services.putKeyInKeyring() } == .keyAbsent)
        try fixture.services.lock()  // nothing to take away
        #expect(fixture.services.state == .absent)
        #expect(try fixture.folder.entries() == before)
        #expect(try fixture.folder.read("file").isEmpty)
    }

    @Test func aHandleSurvivesLockAndUnlockAtItsPosition() throws {
        let fixture = try HandleFixture()
        let data = pattern(300_000)
        let path = try fixture.file("f", data)
        let handle = try fixture.open(path)
        try handle.seek(toOffset: 100)
        try handle.write(contentsOf: text("written before"))
        try fixture.services.lock()
        #expect(fixture.services.state == .locked)
        for (name, call) in Self.calls(handle) { #expect(failureCode(call) == .keyNotAvailable, "\(name)") }
        #expect(failureErrno { _ = try handle.readToEnd() } == .noKey)
        #expect(failureCode { _ = try fixture.open(path) } == .keyNotAvailable)
        #expect(failureCode { try SecureFiles(fixture.services).write(text("x"), to: fixture.path("new")) } == .keyNotAvailable)
        try fixture.services.lock()
        try fixture.unlock()
        #expect(fixture.services.state == .unlocked)
        #expect(try handle.offset() == 114)
        #expect(try handle.read(upToCount: 10) == data[114..<124])
        try handle.write(contentsOf: text("and after"))
        try handle.close()
        #expect(try fixture.content(path) == data[0..<100] + text("written before") + data[114..<124] + text("and after") + data[133...])
    }

    @Test func whatWasWrittenIsOnTheDiskBeforeTheKeyGoes() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", pattern(300_000))
        let handle = try fixture.open(path)
        try handle.write(contentsOf: pattern(5000, seed: 2))
        try fixture.services.lock()
        // Another service with the same key sees it, and a file that was closed cleanly.
        let other = try HandleFixture()
        #expect(try SecureFiles(other.services).read(path) == pattern(5000, seed: 2) + pattern(300_000)[5000...])
        try handle.close()
        try fixture.unlock()
        #expect(try fixture.content(path).count == 300_000)
    }

    @Test func anotherKeyIsRefusedAtUnlock() throws {
        let fixture = try HandleFixture()
        let handle = try fixture.open(try fixture.file("f", text("0123")))
        try fixture.services.lock()
        let other = [UInt8](repeating: 9, count: 32)
        #expect(failureCode { try fixture.services.unlock(.provider { other }) } == .wrongKey)
        #expect(failureCode { try fixture.services.unlock(.provider { [1, 2, 3] }) } == .invalidArgument)
        #expect(failureCode { try fixture.services.unlock(.provider { throw POSIXError(.EIO) }) } == .keyNotAvailable)
        #expect(failureCode { try fixture.services.unlock(.provider { throw SecureFileError(.wrongKey, "mine") }) } == .wrongKey)
        #expect(fixture.services.state == .locked)
        #expect(failureCode { _ = try handle.readToEnd() } == .keyNotAvailable)
        try fixture.unlock()
        #expect(failureCode { try fixture.services.unlock(.provider { other }) } == .wrongKey)
        #expect(fixture.services.state == .unlocked)
        #expect(try handle.readToEnd() == text("0123"))
    }

    @Test func aRetiredKeyIsGoneForGood() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", text("0123"))
        let handle = try fixture.open(path)
        try handle.write(contentsOf: text("ab"))
        #expect(try !fixture.services.retire { _ in false })
        #expect(fixture.services.state == .unlocked)
        #expect(failureCode { try fixture.services.retire(.keyAndVault) { _ in true } } == .readOnly)
        let keyID = fixture.services.keyID
        #expect(try fixture.services.retire { $0.keyID == keyID && $0.vault == nil && $0.scope == .key })
        #expect(fixture.services.state == .retired)
        for (name, call) in Self.calls(handle) { #expect(failureCode(call) == .keyRetired, "\(name)") }
        #expect(failureErrno { _ = try handle.readToEnd() } == .keyRevoked)
        #expect(failureCode { _ = try fixture.open(path) } == .keyRetired)
        #expect(failureCode { try fixture.unlock() } == .keyRetired)
        #expect(failureCode { try fixture.services.putKeyInKeyring() } == .keyRetired)
        try handle.close()
        // What was written before is whole, for whoever has the key still.
        #expect(try SecureFiles(HandleFixture().services).read(path) == text("ab23"))
    }

    @Test func everyCallOnAClosedHandleSaysSo() throws {
        let fixture = try HandleFixture()
        let handle = try fixture.open(try fixture.file("f", text("0123")))
        try handle.close()
        for (name, call) in Self.calls(handle) { #expect(failureCode(call) == .closed, "\(name)") }
        #expect(failureErrno { _ = try handle.readToEnd() } == .badDescriptor)
        try handle.close()
    }

    @Test func wrongKeyDamagedDataAndForeignFilesAreToldApart() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", pattern(300_000))
        let other = SecureServices()
        try other.unlock(.provider { [UInt8](repeating: 9, count: 32) })
        let wrong = failure { _ = try SecureFileHandle(opening: path, for: .reading, services: other) }
        #expect(wrong?.code == .wrongKey && wrong?.errno == .accessDenied && wrong?.acErrorCode == .badKeyOrCorruptData)

        var bytes = try fixture.folder.read("f")
        bytes[8192 + 17] ^= 1
        try fixture.folder.write("f", bytes)
        let handle = try fixture.open(path, .reading)
        let damaged = failure { _ = try handle.readToEnd() }
        #expect(damaged?.code == .damaged && damaged?.block?.rawValue == 1)
        #expect(damaged?.errno == .inputOutput && damaged?.acErrorCode == .badKeyOrCorruptData)
        #expect(try handle.offset() == 0, "a read that fails does not move")
        #expect(try handle.read(upToCount: 4096) == pattern(300_000)[0..<4096], "what is not damaged can be read")
        bytes[60] ^= 1
        try fixture.folder.write("f", bytes)
        #expect(failureCode { _ = try fixture.open(path) } == .damaged)
        bytes[8] = 9
        try fixture.folder.write("f", bytes)
        #expect(failureCode { _ = try fixture.open(path) } == .unsupportedVersion)
        try fixture.folder.write("f", Array(bytes[0..<200]))
        #expect(failureCode { _ = try fixture.open(path) } == .damaged)

        for content in ["plaintext with content", "x", String(repeating: "longer plaintext ", count: 1000), String(repeating: "\0", count: 5000)] {
            try fixture.folder.write("plain", Array(content.utf8))
            for mode in [SecureFileHandle.Mode.reading, .writing, .updating] {
                let refused = failure { _ = try fixture.open(fixture.path("plain"), mode) }
                #expect(refused?.code == .notSecureFile && refused?.acErrorCode == .badKeyOrCorruptData)
            }
            #expect(failureCode { try SecureFiles(fixture.services).write(text("y"), to: fixture.path("plain")) } == .notSecureFile)
            #expect(failureCode { try SecureFiles(fixture.services).write(text("y"), to: fixture.path("plain"), atomically: true) } == .notSecureFile)
            #expect(try fixture.folder.read("plain") == Array(content.utf8), "never overwritten")
        }
    }

    @Test func handlesAreForWhatTheyWereOpenedFor() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", text("0123"))
        let (reader, writer) = (try fixture.open(path, .reading), try fixture.open(path, .writing))
        for call in [{ try reader.write(contentsOf: text("x")) }, { try reader.truncate(atOffset: 0) }, { try reader.write(text("x"), at: 0) }] {
            #expect(failure(call)?.errno == .badDescriptor)
            #expect(failure(call)?.domain == SecureFileError.posixDomain)
        }
        #expect(failureErrno { _ = try writer.read(upToCount: 1) } == .badDescriptor)
        #expect(failureErrno { _ = try writer.readToEnd() } == .badDescriptor)
        #expect(failureErrno { _ = try writer.read(upToCount: 1, at: 0) } == .badDescriptor)
        #expect(try writer.seekToEnd() == 4)
        try writer.write(contentsOf: text("4"))
        #expect(try reader.readToEnd() == text("01234"), "one service: seen at once")
    }
}

/// The error that `body` fails with; nil when it does not.
func failure(_ body: () throws -> Void) -> SecureFileError? {
    do { try body() } catch let error as SecureFileError { return error } catch { Issue.record("another error: \(error)") }
    return nil
}
