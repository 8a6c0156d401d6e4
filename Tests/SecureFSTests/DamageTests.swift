import Foundation
import Testing

@testable import SecureFS
@testable import SecureFileCore

@Suite struct DamageTests {
    private let fixture: Fixture
    private var fileSystem: VaultFileSystem { fixture.fileSystem }
    init() throws { fixture = try Fixture() }

    @Test func aDamagedFileIsEIOAndLoggedOnceByItsCiphertextName() throws {
        let node = try fixture.make("secretname", String(repeating: "x", count: 1000))
        let backing = try fixture.backing("secretname")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: backing))
        bytes[400] ^= 1
        let file = try #require(FileHandle(forWritingAtPath: backing))
        file.write(bytes)
        try file.close()
        for _ in 0..<3 { #expect(throws: Errno.inputOutput) { try fixture.open(node) } }
        let lines = fixture.logged
        #expect(lines.count == 1)
        #expect(lines.first?.contains(backing) == true)
        #expect(lines.allSatisfy { !$0.contains("secretname") })
        #expect(try fileSystem.attributes(of: node).size == 1000)
        try fileSystem.remove(Array("secretname".utf8), in: .root)
    }

    @Test func excessInTheBackingFileLeadsToANewNodeOfTheRecordedSize() throws {
        let node = try fixture.make("a", "short")
        let file = try #require(FileHandle(forWritingAtPath: try fixture.backing("a")))
        try file.seekToEnd()
        file.write(Data([1, 2, 3]))
        try file.close()
        #expect(try fixture.lookup("a")?.attributes.size == 8)
        #expect(throws: Errno.stale) { try fixture.open(node) }
        let again = try #require(try fixture.lookup("a"))
        #expect(again.node != node)
        #expect(again.attributes.size == 5)
        try fixture.open(again.node)
        #expect(try fixture.read(again.node) == "short")
        fixture.close(again.node)
        #expect(try fileSystem.attributes(of: again.node).size == 5)
    }

    @Test func damageIsToldToWhoeverOnlyWritesWithTheFirstWrite() throws {
        let node = try fixture.make("a", String(repeating: "x", count: 1000))
        try fixture.damage("a") { $0[400] ^= 1 }
        try fixture.openForWritingOnly(node)
        for _ in 0..<2 { #expect(throws: Errno.inputOutput) { try fixture.write("new", to: node) } }
        #expect(throws: Errno.inputOutput) { try fixture.read(node) }
        #expect(throws: Errno.inputOutput) { try fixture.cut(node, to: 500) }
        #expect(throws: Errno.inputOutput) { try fileSystem.flush(node, fixture.handle) }
        #expect(throws: Errno.inputOutput) { try fixture.open(node) }
        #expect(try fileSystem.attributes(of: node).size == 1000)
        fixture.close(node)
        #expect(throws: Errno.inputOutput) { try fixture.openForWritingOnly(node, appends: true) }
    }

    @Test func aDamagedFileCanBeCutToNothingAndWrittenAnew() throws {
        let node = try fixture.make("a", String(repeating: "x", count: 1000))
        try fixture.damage("a") { $0[400] ^= 1 }
        try fixture.openForWritingOnly(node)
        #expect(try fixture.cut(node, to: 0) == 0)
        try fixture.write("restored", to: node)
        try fileSystem.flush(node, fixture.handle)
        fixture.close(node)
        try fixture.open(node)
        #expect(try fixture.read(node) == "restored")
        fixture.close(node)
        // By its name, without opening it.
        try fixture.damage("a") { $0[100] ^= 1 }
        #expect(throws: Errno.inputOutput) { try fixture.open(node) }
        #expect(try fixture.cut(node, to: 0) == 0)
        #expect(try fixture.lookup("a")?.attributes.size == 0)
    }

    @Test func excessIsFoundByWhoeverOnlyWrites() throws {
        let node = try fixture.make("a", "short")
        try fixture.damage("a") { $0 += [1, 2, 3] }
        // Whoever appends would do so at the wrong place.
        #expect(throws: Errno.stale) { try fixture.openForWritingOnly(node, appends: true) }
        let other = try fixture.make("b", "short")
        try fixture.damage("b") { $0 += [1, 2, 3] }
        try fixture.openForWritingOnly(other)
        for _ in 0..<2 { #expect(throws: Errno.stale) { try fixture.write("long", to: other, at: 2) } }
        #expect(throws: Errno.stale) { try fixture.open(other) }
        fixture.close(other)
        let again = try #require(try fixture.lookup("b"))
        #expect(again.node != other)
        #expect(again.attributes.size == 5)
        try fixture.openForWritingOnly(again.node)
        try fixture.write("long", to: again.node, at: 2)
        #expect(try fixture.read(again.node) == "shlong")
        fixture.close(again.node)
    }

    @Test func foreignFilesAreNotShown() throws {
        try fixture.make("a")
        try #require(FileManager.default.createFile(atPath: fixture.folder + "/.DS_Store", contents: Data("x".utf8)))
        #expect(try fixture.names() == ["a"])
    }
}
