import Testing

@testable import SecureFS
@testable import SecureFileCore

/// A file system that only reads, beside one that writes.
@Suite struct BesideWriterTests {
    private let fixture: Fixture
    private let reader: VaultFileSystem
    init() throws {
        fixture = try Fixture()
        reader = try fixture.besideReader()
    }

    private func lookup(_ name: String) throws -> Entry? { try reader.lookup(Array(name.utf8), in: .root) }

    private func read(_ node: NodeID) throws -> String {
        let buffer = PageBuffer(count: 4096)
        let got = try reader.read(node, fixture.handle, at: 0, count: 4096, into: buffer)
        return String(decoding: buffer.bytes(0..<got), as: UTF8.self)
    }

    private func content(_ name: String) throws -> String {
        let entry = try #require(try lookup(name))
        _ = try reader.open(entry.node, OpenIntent(reads: true, writes: false))
        defer { reader.release(entry.node, fixture.handle) }
        return try read(entry.node)
    }

    @Test(arguments: ["old", "new"])
    func aFileThatWasRenamedIsFoundByItsNewName(target: String) throws {
        try fixture.make("old", "what was there before")
        try fixture.make("temporary", "new content")
        for name in ["old", "temporary"] { #expect(try lookup(name) != nil) }
        try fixture.fileSystem.rename(Array("temporary".utf8), in: .root, to: Array(target.utf8), in: .root, .replace)
        // The old name is not asked for, as by a program that saves a file and another that lists the folder.
        #expect(try lookup(target)?.attributes.size == 11)
        #expect(try content(target) == "new content")
        #expect(try lookup("temporary") == nil)
        try fixture.fileSystem.rename(Array(target.utf8), in: .root, to: Array("temporary".utf8), in: .root, .replace)
        #expect(try content("temporary") == "new content")
    }

    @Test func aFileThatIsHeldOpenShowsItsSizeOfNow() throws {
        let node = try fixture.make("log", "one ")
        let entry = try #require(try lookup("log"))
        _ = try reader.open(entry.node, OpenIntent(reads: true, writes: false))
        defer { reader.release(entry.node, fixture.handle) }
        #expect(try read(entry.node) == "one ")
        try fixture.openForWritingOnly(node)
        for (number, word) in ["two ", "three ", "four "].enumerated() {
            let end = try fixture.fileSystem.attributes(of: node).size
            try fixture.write(word, to: node, at: end)
            try fixture.fileSystem.synchronize(node, fixture.handle, contentOnly: false)
            #expect(try reader.attributes(of: entry.node).size == end + Int64(word.utf8.count), "\(number)")
            #expect(try read(entry.node).hasSuffix(word))
        }
        _ = try fixture.cut(node, to: 3)
        try fixture.fileSystem.synchronize(node, fixture.handle, contentOnly: false)
        #expect(try lookup("log")?.attributes.size == 3)
        #expect(try content("log") == "one")
        _ = try fixture.cut(node, to: 1000)
        try fixture.fileSystem.synchronize(node, fixture.handle, contentOnly: false)
        #expect(try content("log").utf8.count == 1000)
        fixture.close(node)
    }
}
