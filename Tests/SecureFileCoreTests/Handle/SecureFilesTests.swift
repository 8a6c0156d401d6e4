import Foundation
import SecureFileCore
import Testing

@Suite struct SecureFilesTests {
    private func permissions(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func wholeFilesAreWrittenAndRead() throws {
        let fixture = try HandleFixture()
        let (path, services) = (fixture.path("f"), fixture.services)
        for (number, count) in [0, 1, 3839, 3840, 4096, 262_144, 700_001].enumerated() {
            let data = pattern(count, seed: UInt64(number))
            try data.write(toSecureFile: path, services: services)
            #expect(try Data(contentsOfSecureFile: path, services: services) == data)
            try data.write(toSecureFile: path, options: .atomic, services: services)
            #expect(try Data(contentsOfSecureURL: URL(fileURLWithPath: path), services: services) == data)
        }
        #expect(try permissions(path) == 0o600)
        try text("by URL").write(toSecureURL: URL(fileURLWithPath: path), options: .atomic, services: services)
        #expect(try fixture.content(path) == text("by URL"))
        #expect(failureCode { try text("x").write(toSecureFile: path, options: .withoutOverwriting, services: services) } == .alreadyExists)
        #expect(failureCode { try text("x").write(toSecureFile: path, options: [.withoutOverwriting, .atomic], services: services) } == .alreadyExists)
        #expect(failureCode { _ = try Data(contentsOfSecureFile: fixture.path("none"), services: services) } == .notFound)
        #expect(failureCode { try text("x").write(toSecureFile: fixture.path("none/f"), services: services) } == .notFound)
        #expect(try fixture.content(path) == text("by URL"))
        #expect(try fixture.folder.entries() == ["f"], "no leftovers")
    }

    @Test func atomicReplacementKeepsPermissionsAndOldHandles() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", text("old"))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let reader = try fixture.open(path, .reading)
        try SecureFiles(fixture.services).write(text("new"), to: path, atomically: true)
        #expect(try permissions(path) == 0o640)
        #expect(try fixture.content(path) == text("new"))
        #expect(try reader.readToEnd() == text("old"), "as with every file that is replaced")
        let writer = try fixture.open(path, .writing)
        #expect(failureCode { try SecureFiles(fixture.services).write(text("x"), to: path, atomically: true) } == .inUse)
        try writer.close()
        // A damaged file can be replaced, a file under another key cannot.
        var bytes = try fixture.folder.read("f")
        bytes[70] ^= 1
        try fixture.folder.write("f", bytes)
        #expect(failureCode { _ = try fixture.content(path) } == .damaged)
        try SecureFiles(fixture.services).write(text("whole"), to: path, atomically: true)
        #expect(try fixture.content(path) == text("whole"))
        let other = SecureServices()
        try other.unlock(.provider { [UInt8](repeating: 9, count: 32) })
        #expect(failureCode { try SecureFiles(other).write(text("x"), to: path, atomically: true) } == .wrongKey)
    }

    @Test func theFileManagersFamily() throws {
        let fixture = try HandleFixture()
        let (manager, services) = (FileManager.default, fixture.services)
        try manager.createSecureFile(
            atPath: fixture.path("a"), contents: text("made"), attributes: [.posixPermissions: 0o644], services: services)
        #expect(try permissions(fixture.path("a")) == 0o644)
        try manager.createSecureFile(atPath: fixture.path("empty"), services: services)
        #expect(try fixture.content(fixture.path("empty")).isEmpty)
        try manager.copySecureFile(atPath: fixture.path("a"), toPath: fixture.path("b"), services: services)
        #expect(try fixture.content(fixture.path("b")) == text("made") && permissions(fixture.path("b")) == 0o644)
        try manager.copySecureFile(
            at: URL(fileURLWithPath: fixture.path("a")), to: URL(fileURLWithPath: fixture.path("c")), services: services)
        try manager.moveSecureFile(atPath: fixture.path("b"), toPath: fixture.path("d"), services: services)
        try manager.moveSecureFile(
            at: URL(fileURLWithPath: fixture.path("c")), to: URL(fileURLWithPath: fixture.path("e")), services: services)
        #expect(try fixture.folder.entries() == ["a", "d", "e", "empty"])
        #expect(try fixture.folder.read("a") != fixture.folder.read("d"), "a copy has keys of its own")
        #expect(failureCode { try manager.copySecureFile(atPath: fixture.path("a"), toPath: fixture.path("d"), services: services) } == .alreadyExists)
        #expect(failureCode { try manager.moveSecureFile(atPath: fixture.path("a"), toPath: fixture.path("d"), services: services) } == .alreadyExists)
        try fixture.folder.write("plain", Array("plaintext".utf8))
        #expect(failureCode { try manager.copySecureFile(atPath: fixture.path("plain"), toPath: fixture.path("x"), services: services) } == .notSecureFile)
        #expect(failureCode { try manager.moveSecureFile(atPath: fixture.path("plain"), toPath: fixture.path("x"), services: services) } == .notSecureFile)
        #expect(try fixture.folder.entries() == ["a", "d", "e", "empty", "plain"])
    }

    @Test func filesMoveBetweenTheVaultAndOutside() throws {
        let vaults = try VaultFixture()
        let outside = try HandleFixture(unlocked: false)
        let services = SecureServices()
        try services.unlock(.vault(vaults.folder.path, .passphrase(VaultFixture.passphrase), opening: .readWrite))
        defer { try? services.closeVault() }
        let files = SecureFiles(services)
        let long = vaults.folder.path + "/" + String(repeating: "long", count: 60)
        try files.write(pattern(300_000), to: outside.path("f"))
        try files.move(outside.path("f"), to: long)
        #expect(try files.read(long) == pattern(300_000))
        #expect(try outside.folder.entries().isEmpty)
        try files.move(long, to: vaults.folder.path + "/short")
        try files.copy(vaults.folder.path + "/short", to: outside.path("g"))
        try files.write(text("replaced"), to: vaults.folder.path + "/short", atomically: true)
        #expect(try files.read(vaults.folder.path + "/short") == text("replaced"))
        #expect(try files.read(outside.path("g")) == pattern(300_000))
        #expect(try services.vault?.root.names() == [Array("short".utf8)])
        #expect(try !vaults.folder.entries().contains { $0.hasPrefix("sfs.tmp") || $0.hasPrefix("sfs.long") })
        #expect(failureCode { try files.exportFile(outside.path("g"), to: vaults.folder.path + "/plain") } == .invalidArgument)
        #expect(failureCode { try files.encrypt(vaults.folder.path + "/short") } == .invalidArgument)
        #expect(failureCode { try files.decrypt(vaults.folder.path + "/short") } == .invalidArgument)
    }

    @Test func plaintextIsImportedAndExported() throws {
        let fixture = try HandleFixture()
        let files = SecureFiles(fixture.services)
        let data = pattern(700_000) + Data(count: 3 << 20) + pattern(100)
        try fixture.folder.write("plain", [UInt8](data))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: fixture.path("plain"))
        try files.importFile(fixture.path("plain"), to: fixture.path("secure"))
        #expect(try fixture.content(fixture.path("secure")) == data && permissions(fixture.path("secure")) == 0o640)
        #expect(failureCode { try files.importFile(fixture.path("plain"), to: fixture.path("secure")) } == .alreadyExists)
        #expect(failureCode { try files.importFile(fixture.path("secure"), to: fixture.path("x")) } == .invalidArgument)
        try fixture.folder.write("plain", Array("shorter".utf8))
        try files.importFile(fixture.path("plain"), to: fixture.path("secure"), overwriting: true)
        #expect(try fixture.content(fixture.path("secure")) == text("shorter"))
        #expect(failureCode { try files.importFile(fixture.path("plain"), to: fixture.path("plain"), overwriting: true) } == .notSecureFile)

        try files.exportFile(fixture.path("secure"), to: fixture.path("out"))
        #expect(try fixture.folder.read("out") == Array("shorter".utf8))
        #expect(failureCode { try files.exportFile(fixture.path("secure"), to: fixture.path("out")) } == .alreadyExists)
        try SecureFiles(fixture.services).write(data, to: fixture.path("secure"))
        try files.exportFile(fixture.path("secure"), to: fixture.path("out"), overwriting: true)
        #expect(try fixture.folder.read("out") == [UInt8](data))
        #expect(failureCode { try files.exportFile(fixture.path("plain"), to: fixture.path("x")) } == .notSecureFile)
        #expect(try fixture.folder.entries() == ["out", "plain", "secure"])
    }

    @Test func filesAreEncryptedAndDecryptedInPlace() throws {
        let fixture = try HandleFixture()
        let files = SecureFiles(fixture.services)
        let data = pattern(300_000)
        let path = fixture.path("f")
        try fixture.folder.write("f", [UInt8](data))
        let held = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        try files.encrypt(path)
        #expect(try held.readToEnd() == Data(count: 300_000), "the plaintext was overwritten")
        #expect(try fixture.content(path) == data)
        #expect(failureCode { try files.encrypt(path) } == .invalidArgument)
        let writer = try fixture.open(path, .writing)
        #expect(failureCode { try files.decrypt(path) } == .inUse)
        try writer.close()
        try FileManager.default.linkItem(atPath: path, toPath: fixture.path("other name"))
        #expect(failureCode { try files.decrypt(path) } == .invalidArgument)
        try FileManager.default.removeItem(atPath: fixture.path("other name"))
        var bytes = try fixture.folder.read("f")
        bytes[9000] ^= 1
        try fixture.folder.write("f", bytes)
        #expect(failureCode { try files.decrypt(path) } == .damaged)
        #expect(try fixture.folder.read("f") == bytes, "what cannot be verified replaces nothing")
        bytes[9000] ^= 1
        try fixture.folder.write("f", bytes)
        try files.decrypt(path)
        #expect(try fixture.folder.read("f") == [UInt8](data))
        try FileManager.default.linkItem(atPath: path, toPath: fixture.path("other name"))
        #expect(failureCode { try files.encrypt(path) } == .invalidArgument)
        #expect(try fixture.folder.entries() == ["f", "other name"])
    }
}
