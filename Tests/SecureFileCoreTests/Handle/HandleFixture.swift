import Foundation
import SecureFileCore
import Testing

/// A private folder and a service with a key of its own.
final class HandleFixture: Sendable {
    static let key = (0..<32).map { UInt8($0 * 7 + 1) }
    let folder: VaultFolder
    let services: SecureServices

    /// - Parameter unlocked: Whether the service has its key already.
    init(unlocked: Bool = true, inMemory: Bool = false) throws {
        folder = try VaultFolder(inMemory: inMemory)
        services = SecureServices()
        if unlocked { try unlock() }
    }

    func unlock() throws { try services.unlock(.provider { Self.key }) }

    func path(_ name: String) -> String { folder.path + "/" + name }

    /// An empty file, as the default file manager makes it.
    func emptyFile(_ name: String = "file") throws -> String {
        let path = path(name)
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw POSIXError(.EIO) }
        return path
    }

    /// A secure file with `content`.
    func file(_ name: String = "file", _ content: Data = Data()) throws -> String {
        let path = try emptyFile(name)
        let handle = try open(path, .writing)
        try handle.write(contentsOf: content)
        try handle.close()
        return path
    }

    func open(_ path: String, _ mode: SecureFileHandle.Mode = .updating) throws(SecureFileError) -> SecureFileHandle {
        try SecureFileHandle(opening: path, for: mode, services: services)
    }

    func content(_ path: String) throws -> Data { try SecureFiles(services).read(path) }
}

/// Bytes that differ from place to place.
func pattern(_ count: Int, seed: UInt64 = 1) -> Data {
    var random = VaultTestRandom(seed: seed)
    return Data((0..<(count + 7) / 8).flatMap { _ in
        let number = random.next()
        return (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }.prefix(count))
}

func text(_ string: String) -> Data { Data(string.utf8) }
