import Foundation
import SecureFileCore
import SecureStoreCore
import Synchronization

@testable import SecureStore

/// A folder of its own for one test.
final class StoreFixture {
    let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "/sfs-store-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String = "test.db") -> String { folder + "/" + name }

    func store(_ name: String = "test.db") -> SecureDatabaseStore {
        SecureDatabaseStore(fullDatabasePath: path(name), keyDerivation: .insecureMinimum)
    }

    func open(_ name: String = "test.db", _ key: String = "key") throws -> SecureDatabaseStore {
        let store = store(name)
        try store.open(with: key)
        return store
    }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }
    func write(_ name: String, _ data: Data) throws { try data.write(to: URL(fileURLWithPath: path(name))) }
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? [] }

    /// A vault in the folder, open for writing.
    func vault() throws -> Vault {
        let path = RawPath(folder + "/vault")
        let passphrase = Array("vault passphrase".utf8)
        _ = try Vault.create(at: path, Vault.Creation(passphrase: passphrase, argon2: .insecureMinimum))
        return try Vault.open(at: path, .passphrase(passphrase), .readWrite)
    }
}

/// The error that `body` throws.
func storageError(_ body: () throws -> Void) -> SecureStorageError? {
    do {
        try body()
        return nil
    } catch { return error as? SecureStorageError }
}

extension SecureStorageError {
    /// SQLite's code, where there is one.
    var code: Int? {
        switch self {
        case .openFailed(let code, _), .encryptionKeyChangeFailed(let code, _), .backingStoreError(let code, _): code
        case .closed, .authenticationFailed, .typeConversionFailed: nil
        }
    }
    var isWrongKey: Bool { if case .authenticationFailed = self { true } else { false } }
    var isOpenFailed: Bool { if case .openFailed = self { true } else { false } }
}
