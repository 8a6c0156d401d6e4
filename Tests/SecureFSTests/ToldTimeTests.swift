import Foundation
import Testing

@testable import SecureFS
@testable import SecureFileCore

/// The kernel keeps the time of a file's last change and sends it only where a write moved it: the backing file must not have another.
@Suite struct ToldTimeTests {
    private let fixture: Fixture
    private var fileSystem: VaultFileSystem { fixture.fileSystem }
    init() throws { fixture = try Fixture() }

    private func modified(_ node: NodeID) throws -> FileTime { try fileSystem.attributes(of: node).modified }

    private func write(_ text: String, _ node: NodeID) throws {
        try fileSystem.write(node, fixture.handle, Array(text.utf8).span, at: 0, WriteOrigin(isWriteBack: true))
    }

    @Test func aLateFirstWriteKeepsTheTimeOfCreation() throws {
        let entry = try fixture.create("a")
        Thread.sleep(forTimeInterval: 0.02)
        try write("late", entry.node)
        try fileSystem.flush(entry.node, fixture.handle)
        #expect(try modified(entry.node) == entry.attributes.modified)
        fixture.close(entry.node)
        #expect(try modified(entry.node) == entry.attributes.modified)
    }

    @Test func closingAndSyncingGiveTheTimeBack() throws {
        for syncs in [false, true] {
            let entry = try fixture.create("a\(syncs)")
            Thread.sleep(forTimeInterval: 0.02)
            try write("late", entry.node)
            if syncs {
                try fileSystem.synchronize(entry.node, fixture.handle, contentOnly: false)
                #expect(try modified(entry.node) == entry.attributes.modified)
            }
            fixture.close(entry.node)
            #expect(try modified(entry.node) == entry.attributes.modified)
        }
    }

    @Test func aTimeThatTheKernelSendsCounts() throws {
        let entry = try fixture.create("a")
        try write("first", entry.node)
        var change = AttributeChange()
        change.modified = .to(FileTime(seconds: 1_000_000_000, nanoseconds: 7))
        _ = try fileSystem.setAttributes(of: entry.node, nil, change)
        // What was under way when the time was set comes in behind it.
        try write("second", entry.node)
        fixture.close(entry.node)
        #expect(try modified(entry.node) == FileTime(seconds: 1_000_000_000, nanoseconds: 7))
    }
}
