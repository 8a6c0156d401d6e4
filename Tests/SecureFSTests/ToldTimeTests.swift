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

    /// The time of the backing file, whatever programs are told.
    private func stored(_ name: String) throws -> FileTime {
        try FileDescriptor.open(RawPath(fixture.backing(name)), [.readOnly]).status().modified
    }

    private func tell(_ time: FileTime, _ node: NodeID, changed: FileTime? = nil) throws -> FileStatus {
        var change = AttributeChange()
        change.modified = .to(time)
        change.changed = changed
        return try fileSystem.setAttributes(of: node, nil, change)
    }

    private var recently: FileTime { FileTime(seconds: CurrentProcess.secondsSince1970 - 5, nanoseconds: 123) }

    @Test(arguments: ["fsync", "flush", "close"]) func aTimeOfTheKernelsWritesIsSetAtTheEnd(_ end: String) throws {
        let entry = try fixture.create("a")
        try write("text", entry.node)
        let time = recently
        #expect(try tell(time, entry.node).modified == time)
        #expect(try modified(entry.node) == time)
        #expect(try fixture.lookup("a")?.attributes.modified == time)
        try fileSystem.synchronize(entry.node, fixture.handle, contentOnly: true)
        #expect(try modified(entry.node) == time)
        switch end {
        case "fsync": try fileSystem.synchronize(entry.node, fixture.handle, contentOnly: false)
        case "flush": try fileSystem.flush(entry.node, fixture.handle)
        default: break
        }
        if end != "close" { #expect(try stored("a") == time) }
        fixture.close(entry.node)
        #expect(try stored("a") == time)
    }

    @Test func anOverwriteLeavesTheTimeToTheEnd() throws {
        let node = try fixture.make("a", String(repeating: "long ", count: 5000))
        try fixture.open(node)
        try fileSystem.synchronize(node, fixture.handle, contentOnly: false)
        let time = recently
        _ = try tell(time, node)
        for contentOnly in [true, false] {
            try write("over", node)
            Thread.sleep(forTimeInterval: 0.01)
            try fileSystem.synchronize(node, fixture.handle, contentOnly: contentOnly)
            #expect(try modified(node) == time)
        }
        #expect(try stored("a") == time)
        try write("again", node)
        fixture.close(node)
        #expect(try stored("a") == time)
    }

    /// A longer inline page waits for the flusher, or the end, when the file is closed.
    @Test func whatWaitsAfterTheCloseKeepsTheTime() throws {
        let node = try fixture.make("a", "hello")
        for (text, time) in [("hello world", recently), ("hello world again", FileTime(seconds: 981_173_106, nanoseconds: 7))] {
            try fixture.open(node)
            try write(text, node)
            fixture.close(node)
            #expect(fileSystem.context.unsettledFiles.count == 1)
            _ = try tell(time, node)
            try fileSystem.context.settleAll { () throws(Errno) in }
            #expect(try stored("a") == time)
        }
    }

    /// Such a time would be lost with the process, and by more than a moment.
    @Test func aTimeFarAwayIsSetAtOnce() throws {
        let entry = try fixture.create("a")
        let time = FileTime(seconds: 1_000_000_000, nanoseconds: 7)
        #expect(try tell(time, entry.node).modified == time)
        #expect(try stored("a") == time)
        fixture.close(entry.node)
    }

    /// What the kernel sends after a rename is what the backing file has.
    @Test func timesThatAreThereAreNotSet() throws {
        let node = try fixture.make("a", "text")
        let before = try fileSystem.attributes(of: node)
        Thread.sleep(forTimeInterval: 0.05)
        #expect(try tell(before.modified, node, changed: before.changed).changed == before.changed)
        #expect(try fileSystem.attributes(of: node).changed == before.changed)
        // Another time, or a change that is not there yet.
        let later = FileTime(seconds: before.changed.seconds + 1, nanoseconds: before.changed.nanoseconds)
        #expect(try tell(before.modified, node, changed: later).changed != before.changed)
        let time = recently
        #expect(try tell(time, node, changed: before.changed).modified == time)
        #expect(try stored("a") == time)
    }
}
