import Foundation
import SecureFileCore
import Testing

@Suite struct SeedExampleTests {
    @Test func theSeedsExampleRuns() throws {
        try? FileManager.default.removeItem(atPath: "/tmp/secureGroup")
        defer { try? FileManager.default.removeItem(atPath: "/tmp/secureGroup") }
        #expect(ACFileHandleExample().error is SecureFileError, "without a key it fails, and says so")
        try SecureServices.shared.unlock(.provider { [UInt8](repeating: 1, count: 32) })
        let result = ACFileHandleExample()
        #expect(result.error == nil)
        #expect(result.duplicate == result.etcGroupData && result.duplicate?.isEmpty == false)
        let stored = try Data(contentsOf: URL(fileURLWithPath: "/tmp/secureGroup"))
        #expect(stored.range(of: text("root")) == nil, "nothing of it can be read in the file")
    }

    /// README.md shows what the test runs.
    @Test func theReadmeShowsTheExample() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..").standardized
        let source = try String(contentsOf: root.appendingPathComponent("Tests/SecureFileCoreTests/Handle/SeedExample.swift"), encoding: .utf8)
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let body = source.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.hasPrefix("func") }.joined(separator: "\n")
        #expect(readme.contains(body.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
