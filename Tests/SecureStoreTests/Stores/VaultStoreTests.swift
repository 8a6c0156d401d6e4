import Foundation
import SecureFileCore
import Testing

@testable import SecureStore
@testable import SecureStoreCore

/// Stores in a vault.
struct VaultStoreTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func store(_ folder: StoreFolder, _ name: String) -> SecureDatabaseStore {
        SecureDatabaseStore(in: folder, name: Array(name.utf8), keyDerivation: .insecureMinimum)
    }

    @Test func passphraseAndVaultKeyBothOpen() throws {
        let vault = try fixture.vault()
        let folder = try StoreFolder(of: vault)
        let first = store(folder, "profiles.db")
        try first.open(with: "key")
        try first.executeUpdate("CREATE TABLE t(a)")
        first.close()
        let second = store(folder, "profiles.db")
        try second.openWithVaultKey()
        try second.executeUpdate("INSERT INTO t VALUES(1)")
        second.close()
        #expect(storageError { try first.open(with: "other") }?.isWrongKey == true)
        try first.open(with: "key")
        try first.changeEncryptionKey(with: "new")
        first.close()
        try second.openWithVaultKey()
        #expect(try folder.storeNames() == [Array("profiles.db".utf8)])
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder + "/vault/sfs.stores")
        #expect(names.count == 2 && !names.contains { $0.contains("profiles") }, "names are encrypted")
        try vault.close()
    }

    @Test func storeMadeByTheVaultGetsItsFirstPassphrase() throws {
        let vault = try fixture.vault()
        let folder = try StoreFolder(of: vault)
        let store = store(folder, "Settings")
        try store.openWithVaultKey()
        store.close()
        try store.open(with: "mine")
        store.close()
        #expect(storageError { try store.open(with: "other") }?.isWrongKey == true)
        try vault.close()
    }

    @Test func namesHaveALimit() throws {
        let vault = try fixture.vault()
        let folder = try StoreFolder(of: vault)
        try store(folder, String(repeating: "n", count: 160)).openWithVaultKey()
        #expect(storageError { try store(folder, String(repeating: "n", count: 161)).openWithVaultKey() } != nil)
        #expect(storageError { try store(folder, "a/b").openWithVaultKey() } != nil)
        try vault.close()
    }
}
