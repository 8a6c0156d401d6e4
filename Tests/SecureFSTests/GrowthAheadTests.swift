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

    @Test func aMountThatOnlyReadsSeesWhatTheOtherWrites() throws {
        let node = try fixture.create("log").node
        try append(to: node, steps: 0..<10)
        let reader = try fixture.besideReader()
        for round in 1...4 {
            let entry = try #require(try reader.lookup(Array("log".utf8), in: .root))
            #expect(entry.attributes.size == Int64(round * 40960))
            #expect(try reader.attributes(of: entry.node).size == Int64(round * 40960))
            _ = try reader.open(entry.node, OpenIntent(reads: true, writes: false))
            let buffer = PageBuffer(count: 1 << 18)
            let got = try reader.read(entry.node, fixture.handle, at: 0, count: buffer.count, into: buffer)
            #expect(String(decoding: buffer.bytes(0..<got), as: UTF8.self) == String(repeating: text, count: 10 * round))
            reader.release(entry.node, fixture.handle)
            #expect(try reader.table.node(entry.node).content.withLock { $0 == nil }, "nothing is held open")
            if round == 3 {
                // Not looked up by a new open either: the size comes with the attributes.
                try append(to: node, steps: 30..<40)
                #expect(try reader.attributes(of: entry.node).size == 4 * 40960)
            } else if round < 3 {
                try append(to: node, steps: round * 10..<round * 10 + 10)
            }
        }
        #expect(fixture.logged.isEmpty, "\(fixture.logged)")
    }

    @Test func whereSpaceIsShortNoneIsLent() throws {
        let fixture = try Fixture(growth: GrowthAhead(hasRoom: { false }))
        let node = try fixture.create("log").node
        for step in 0..<10 {
            try fixture.write(text, to: node, at: Int64(step * text.utf8.count))
            try fixture.fileSystem.synchronize(node, fixture.handle, contentOnly: true)
        }
        #expect(try fixture.backingLength("log") == 4096 * 11)
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
