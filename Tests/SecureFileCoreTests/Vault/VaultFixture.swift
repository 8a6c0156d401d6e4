import Foundation
import Testing

@testable import SecureFileCore

/// Numbers of a fixed stream (SplitMix64). The seed is printed with every failure, and can be given back in `SEED`.
struct VaultTestRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// `SEED` of the environment, or `standard`.
    static func seed(_ standard: UInt64) -> UInt64 { ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? standard }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// A private folder that goes with the fixture. `TEST_DIR` of the environment says where.
final class VaultFolder: Sendable {
    let path: String
    var raw: RawPath { RawPath(path) }

    /// - Parameter inMemory: Where syncs cost nothing, if there is such a place.
    init(inMemory: Bool = false) throws {
        let memory = inMemory && FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let base = ProcessInfo.processInfo.environment["TEST_DIR"] ?? memory
        path = base + "/sfs-vault-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func descriptor(_ relative: String = ".") throws -> FileDescriptor {
        try FileDescriptor.open(RawPath(path + "/" + relative), [.readOnly, .directory])
    }

    func read(_ relative: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + relative))) }
    func write(_ relative: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + relative)) }
    func entries(_ relative: String = ".") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + relative).sorted()
    }
}

/// A vault with the cheapest passphrase there is.
struct VaultFixture {
    static let passphrase = Array("correct horse".utf8)
    let folder: VaultFolder
    let recovery: RecoveryKey

    init() throws {
        folder = try VaultFolder()
        recovery = try Vault.create(at: folder.raw, Vault.Creation(passphrase: Self.passphrase, argon2: .insecureMinimum))
    }

    func open(_ access: Vault.Access = .readWrite) throws(SecureFileError) -> Vault {
        try Vault.open(at: folder.raw, .passphrase(Self.passphrase), access)
    }
}

extension VaultDirectory {
    /// The names in it, without `.` and `..`.
    func names() throws -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        let stream = try entries()
        while let entry = try stream.next() {
            if entry.name == [46] || entry.name == [46, 46] { continue }
            #expect(names.insert(entry.name).inserted, "an entry occurs once")
        }
        return names
    }

    func stored(_ name: String) throws -> StoredName { try storedName(Array(name.utf8)) }
}

/// The code that `body` fails with; nil when it does not.
func failureCode(_ body: () throws -> Void) -> SecureFileError.Code? {
    do { try body() } catch let error as SecureFileError { return error.code } catch {
        Issue.record("another error: \(error)")
    }
    return nil
}

/// The system's error that `body` fails with.
func failureErrno(_ body: () throws -> Void) -> Errno? {
    do { try body() } catch let error as SecureFileError { return error.errno } catch let error as Errno { return error } catch {
        Issue.record("another error: \(error)")
    }
    return nil
}
