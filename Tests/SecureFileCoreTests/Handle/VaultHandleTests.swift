import Foundation
import SecureFileCore
import Testing

/// Handles on paths inside a vault.
@Suite struct VaultHandleTests {
    private func services(_ vaults: VaultFixture, _ access: Vault.Access = .readWrite) throws -> SecureServices {
        let services = SecureServices()
        try services.unlock(.vault(vaults.folder.path, .passphrase(VaultFixture.passphrase), opening: access))
        return services
    }

    @Test func pathsUnderTheFolderAreThoseOfTheVault() throws {
        let vaults = try VaultFixture()
        let services = try services(vaults)
        let vault = try #require(services.vault)
        let folder = try vault.root.makeDirectory(vault.root.stored("Documents"), permissions: 0o700, owner: nil)
        let path = vaults.folder.path + "/Documents/a letter"
        #expect(failureCode { _ = try SecureFileHandle(opening: path, for: .updating, services: services) } == .notFound)
        _ = try folder.createFile(folder.stored("a letter"), permissions: 0o600)
        let handle = try SecureFileHandle(opening: path, for: .updating, services: services)
        try handle.write(contentsOf: pattern(300_000))
        // By every way to the folder.
        let link = vaults.folder.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: vaults.folder.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        for way in [path, link + "/Documents/a letter", vaults.folder.path + "/./Documents/../Documents//a letter"] {
            #expect(try SecureFiles(services).read(way) == pattern(300_000), "\(way)")
        }
        #expect(failureCode { _ = try SecureFiles(services).read(vaults.folder.path + "/Documents") } == .regularFileOnly)
        #expect(failureCode { _ = try SecureFiles(services).read(vaults.folder.path) } == .regularFileOnly)
        #expect(failureCode { _ = try SecureFiles(services).read(vaults.folder.path + "/../x") } == .invalidArgument)
        #expect(failureCode { _ = try SecureFiles(services).read(vaults.folder.path + "/none/x") } == .notFound)
        try vault.root.makeSymlink(vault.root.stored("link"), target: Array("Documents/a letter".utf8))
        #expect(failureCode { _ = try SecureFiles(services).read(vaults.folder.path + "/link") } == .regularFileOnly)
        try handle.close()
        try services.closeVault()
        // A reader, beside nobody and beside a writer.
        let reader = try self.services(vaults, .readOnly)
        #expect(try SecureFiles(reader).read(path) == pattern(300_000))
        #expect(failureCode { _ = try SecureFileHandle(opening: path, for: .writing, services: reader) } == .readOnly)
        let writer = try self.services(vaults)
        let error = failure { _ = try SecureFileHandle(opening: path, for: .writing, services: reader) }
        #expect(error?.code == .inUse)
        #expect(failureCode { _ = try self.services(vaults) } == .inUse)
        let writing = try SecureFileHandle(opening: path, for: .writing, services: writer)
        try writing.write(contentsOf: pattern(5000, seed: 2))
        try writing.synchronize()
        #expect(try SecureFiles(reader).read(path) == pattern(5000, seed: 2) + pattern(300_000)[5000...])
        try writing.truncate(atOffset: 10)
        try writing.synchronize()
        #expect(try SecureFiles(reader).read(path).count == 10)
        try writing.close()
        try writer.closeVault()
    }

    @Test func aVaultsHandlesSurviveLockAndUnlock() throws {
        let vaults = try VaultFixture()
        let services = try services(vaults)
        let path = vaults.folder.path + "/file"
        try SecureFiles(services).write(pattern(300_000), to: path)
        let handle = try SecureFileHandle(opening: path, for: .updating, services: services)
        try handle.seek(toOffset: 1000)
        try handle.write(contentsOf: text("before"))
        try services.lock()
        #expect(services.vault?.isLocked == true)
        #expect(failureCode { _ = try handle.read(upToCount: 1) } == .keyNotAvailable)
        #expect(failureCode { _ = try SecureFiles(services).read(path) } == .keyNotAvailable)
        let root = try #require(services.vault?.root)
        #expect(failureCode { _ = try root.storedName([65]) } == .keyNotAvailable)
        #expect(failureCode { _ = try root.entries().next { $0.name.first != 46 } } == .keyNotAvailable)
        #expect(failureCode { try services.unlock(.vault(vaults.folder.path, .passphrase(Array("wrong".utf8)))) } == .wrongKey)
        try services.unlock(.vault(vaults.folder.path, .passphrase(VaultFixture.passphrase)))
        #expect(try handle.offset() == 1006)
        try handle.write(contentsOf: text(" after"))
        try handle.close()
        try services.lock()
        try services.closeVault()
        let reader = try self.services(vaults, .readOnly)
        #expect(reader.vault?.foundDeadSession == false)
        #expect(reader.vault?.sessionRule.hasDead == false, "a locked vault is closed cleanly")
        #expect(try SecureFiles(reader).read(path) == pattern(300_000)[0..<1000] + text("before after") + pattern(300_000)[1012...])
    }

    @Test func closingTheVaultEndsItsHandles() throws {
        let vaults = try VaultFixture()
        let services = try services(vaults)
        let path = vaults.folder.path + "/file"
        try SecureFiles(services).write(text("0123"), to: path)
        let handle = try SecureFileHandle(opening: path, for: .updating, services: services)
        try handle.write(contentsOf: text("ab"))
        try services.closeVault()
        #expect(failureCode { _ = try handle.readToEnd() } == .closed)
        #expect(failureCode { try handle.write(contentsOf: text("x")) } == .closed)
        try handle.close()
        #expect(try SecureFiles(self.services(vaults, .readOnly)).read(path) == text("ab23"))
    }

    @Test func aVaultsKeysGoAndComeBack() throws {
        let vaults = try VaultFixture()
        let vault = try vaults.open()
        let attribute = Array("user.a".utf8)
        let file = try vault.root.createFile(vault.root.stored("file"), permissions: 0o600)
        try vault.attributes.set(file, name: attribute, [1, 2])
        try vault.root.makeSymlink(vault.root.stored("link"), target: [65])
        let (link, folder) = (try vault.root.stored("link"), try vault.root.stored("folder"))
        try vault.lock()
        try vault.lock()
        let attributes = vault.attributes
        for (what, call) in [
            ("name", { _ = try vault.root.storedName([65]) }), ("entries", { _ = try vault.root.names() }),
            ("symlink", { _ = try vault.root.symlinkTarget(link) }), ("attribute", { _ = try attributes.get(file, name: attribute) }),
            ("set attribute", { try attributes.set(file, name: attribute, [3]) }), ("attributes", { _ = try attributes.list(file) }),
            ("make directory", { _ = try vault.root.makeDirectory(folder, permissions: 0o700, owner: nil) }),
            ("make symlink", { try vault.root.makeSymlink(folder, target: [66]) }), ("keys", { _ = try vault.keys }),
            ("plaintext name", { _ = try vault.root.plaintextName(of: link) }),
        ] as [(String, () throws -> Void)] {
            #expect(failureCode(call) == .keyNotAvailable, "\(what)")
        }
        #expect(failureCode { try vault.unlock(.passphrase(Array("wrong".utf8))) } == .wrongKey)
        let other = try VaultFixture()
        #expect(failureCode { try vault.unlock(with: try other.open(.readOnly).keys) } == .wrongKey)
        #expect(vault.isLocked)
        try vault.unlock(.recoveryKey(vaults.recovery))
        #expect(try vault.root.names() == [Array("file".utf8), Array("link".utf8)])
        #expect(try vault.root.symlinkTarget(link) == [65])
        #expect(try attributes.get(file, name: attribute) == [1, 2])
        try vault.close()
        #expect(failureCode { try vault.lock() } == .closed)
        #expect(failureCode { try vault.unlock(.recoveryKey(vaults.recovery)) } == .closed)
    }
}

extension VaultDirectoryStream {
    /// The next entry that is as `isWanted` says.
    fileprivate func next(where isWanted: (Entry) -> Bool) throws -> Entry? {
        while let entry = try next() { if isWanted(entry) { return entry } }
        return nil
    }
}
