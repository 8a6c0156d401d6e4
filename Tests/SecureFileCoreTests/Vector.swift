import Foundation

@testable import SecureFileCore

/// A test vector: see Tests/VectorTests/Vectors/README.md.
struct Vector: Sendable, CustomStringConvertible {
    var name: String
    var fields: [String: String] = [:]
    /// Nil where a kind has none.
    var bytes: [UInt8]?

    var description: String { name }
    var isOK: Bool { fields["expect"] == "ok" }
    func hex(_ field: String) -> [UInt8] { fields[field].flatMap { Hexadecimal.decode($0, count: $0.utf8.count / 2) } ?? [] }
    func keys() throws -> VolumeKeys { try VolumeKeys(volumeKey: SecretKey(copying: hex("key"))) }

    init(_ file: URL) throws {
        name = file.deletingPathExtension().lastPathComponent
        let parts = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        let split = parts.firstIndex(of: "") ?? parts.endIndex
        for line in parts[..<split] {
            let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { fields[String(pair[0])] = pair[1].trimmingCharacters(in: .whitespaces) }
        }
        guard let length = fields["backing-length"].flatMap({ Int($0) }) else { return }
        var content = [UInt8](repeating: 0, count: length)
        for line in parts[split...] where !line.isEmpty {
            let pair = line.split(separator: " ")
            guard pair.count == 2 else { continue }
            let piece = Hexadecimal.decode(String(pair[1]), count: pair[1].utf8.count / 2) ?? []
            let start = Int(pair[0]) ?? 0
            content.replaceSubrange(start..<start + piece.count, with: piece)
        }
        bytes = content
    }

    static func all(_ kind: String) -> [Vector] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../VectorTests/Vectors")
            .standardized
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "vec" }.compactMap { try? Vector($0) }.filter { $0.fields["kind"] == kind }.sorted {
            $0.name < $1.name
        }
    }
}
