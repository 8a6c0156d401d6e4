import Foundation
import Testing

@testable import SecureFS
@testable import SecureFileCore

/// Files that grow by synced steps while they are open, and are lengthened ahead.
@Suite struct GrowthAheadTests {
    private let fixture: Fixture
    private var fileSystem: VaultFileSystem { fixture.fileSystem }
    private let text = String(repeating: "0123456789abcdef", count: 256)
    init() throws { fixture = try Fixture(growth: GrowthAhead()) }

    private func append(to node: NodeID, steps: Range<Int>) throws {
        for step in steps {
            try fixture.write(text, to: node, at: Int64(step * text.utf8.count))
            try fileSystem.synchronize(node, fixture.handle, contentOnly: true)
        }
    }

    @Test func programsSeeNothingOfItAndItGoesWithTheLastUser() throws {
        let node = try fixture.create("log").node
        try append(to: node, steps: 0..<10)
        #expect(try fixture.backingLength("log") > 4096 * 11)
        #expect(try fileSystem.attributes(of: node).size == 40960)
        #expect(try fixture.lookup("log")?.attributes.size == 40960)
        #expect(try fixture.read(node, at: 40000, count: 8192).utf8.count == 960)
        #expect(try fixture.cut(node, to: 50000) == 50000)
        #expect(try fixture.read(node, at: 40960, count: 16384).utf8.allSatisfy { $0 == 0 })
        let before = try fileSystem.attributes(of: node)
        fixture.close(node)
        #expect(try fixture.backingLength("log") == 50000 + 4096)
        #expect(try fileSystem.attributes(of: node).size == 50000)
        #expect(try fileSystem.attributes(of: node).modified == before.modified)
        try fixture.open(node)
        try append(to: node, steps: 12..<40)
        #expect(try fixture.backingLength("log") > 4096 * 41)
        fixture.close(node)
        #expect(try fixture.backingLength("log") == 4096 * 41)
        #expect(fixture.logged.isEmpty)
    }

    @Test func aMountThatEndsWithOpenFilesLeavesThemTheirLength() throws {
        let node = try fixture.create("log").node
        try append(to: node, steps: 0..<10)
        #expect(try fixture.backingLength("log") > 4096 * 11)
        let backing = try fixture.backing("log")
        try fileSystem.finish()
        #expect(try FileManager.default.attributesOfItem(atPath: backing)[.size] as? UInt64 == 4096 * 11)
    }
}
