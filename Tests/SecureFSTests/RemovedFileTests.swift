import CFuse
import Foundation
import Testing

@testable import SecureFS
@testable import SecureFileCore

/// What the kernel asks after it has removed a file, and lets go of then.
@Suite struct RemovedFileTests {
    private let fixture: Fixture
    private var fileSystem: VaultFileSystem { fixture.fileSystem }
    private let now = FileTime(seconds: 2_000_000_000, nanoseconds: 5)
    init() throws { fixture = try Fixture() }

    private func remove(_ name: String) throws { try fileSystem.remove(Array(name.utf8), in: .root) }

    @Test func itsTimesAreConfirmedOnce() throws {
        let node = try fixture.make("a", "hello")
        let before = try fileSystem.attributes(of: node)
        try remove("a")
        let told = try #require(fileSystem.attributesOfRemoved(node, modified: before.modified, changed: now))
        #expect(told.size == 5 && told.linkCount == 0 && told.inode == before.inode && told.mode == before.mode)
        #expect(told.modified == before.modified && told.changed == now)
        #expect(fileSystem.attributesOfRemoved(node, modified: before.modified, changed: now) == nil)
    }

    @Test func aTimeThatSomebodySetIsNotConfirmed() throws {
        let node = try fixture.make("a", "hello")
        try remove("a")
        #expect(fileSystem.attributesOfRemoved(node, modified: now, changed: now) == nil)
        var change = AttributeChange()
        (change.modified, change.changed) = (.to(now), now)
        #expect(try fileSystem.setAttributes(of: node, nil, change).modified == now)
        #expect(try fileSystem.attributes(of: node).modified == now)
    }

    @Test func afterAChangeNothingIsConfirmed() throws {
        let node = try fixture.make("a", "hello")
        let modified = try fileSystem.attributes(of: node).modified
        try remove("a")
        var change = AttributeChange()
        change.permissions = 0o600
        _ = try fileSystem.setAttributes(of: node, nil, change)
        #expect(fileSystem.attributesOfRemoved(node, modified: modified, changed: now) == nil)
    }

    @Test func whatIsOpenOrHasAnotherNameIsLookedAt() throws {
        let open = try fixture.create("open")
        try remove("open")
        #expect(fileSystem.attributesOfRemoved(open.node, modified: open.attributes.modified, changed: now) == nil)
        fixture.close(open.node)
        let linked = try fixture.make("linked", "x")
        _ = try fileSystem.link(linked, as: Array("other".utf8), in: .root)
        let modified = try fileSystem.attributes(of: linked).modified
        try remove("linked")
        #expect(fileSystem.attributesOfRemoved(linked, modified: modified, changed: now) == nil)
        #expect(try fileSystem.attributes(of: linked).linkCount == 1)
    }

    @Test func manyRemovedFilesAreNotMixedUp() throws {
        let nodes = try (0..<40).map { try fixture.make("f\($0)", String(repeating: "x", count: $0 + 1)) }
        let times = try nodes.map { try fileSystem.attributes(of: $0).modified }
        for number in nodes.indices { try remove("f\(number)") }
        let told = nodes.indices.map { fileSystem.attributesOfRemoved(nodes[$0], modified: times[$0], changed: now)?.size }
        #expect(told.last == 40)
        for (number, size) in told.enumerated() where size != nil { #expect(size == Int64(number + 1)) }
    }

    @Test func theReplyIsWhatTheKernelReads() throws {
        let time = { (seconds: Int64) in FileTime(seconds: seconds, nanoseconds: seconds + 1) }
        var status = try fileSystem.vault.root.descriptor.status()
        (status.inode, status.size, status.blocks, status.mode, status.linkCount) = (1 << 40, 1 << 41, 3, 0o100640, 4)
        (status.owner, status.group, status.deviceNumber) = (5, 6, 7)
        (status.accessed, status.modified, status.changed) = (time(10), time(20), time(30))
        let buffer = PageBuffer(count: 4096)
        FuseRemovedTimes.encode(status, unique: 99, remember: 8, into: buffer)
        let (header, out) = unsafe buffer.withPointer(0..<FuseRemovedTimes.length) {
            unsafe ($0.load(as: fuse_out_header.self), $0.loadUnaligned(fromByteOffset: 16, as: fuse_attr_out.self))
        }
        #expect(header.len == 16 + MemoryLayout<fuse_attr_out>.size && header.error == 0 && header.unique == 99)
        let attributes = out.attr
        #expect(out.attr_valid == 8 && attributes.ino == 1 << 40 && attributes.size == 1 << 41 && attributes.blocks == 3)
        #expect(attributes.atime == 10 && attributes.mtime == 20 && attributes.ctime == 30)
        #expect(attributes.atimensec == 11 && attributes.mtimensec == 21 && attributes.ctimensec == 31)
        #expect(attributes.mode == 0o100640 && attributes.nlink == 4 && attributes.uid == 5 && attributes.gid == 6 && attributes.rdev == 7)
    }

    /// Descriptors of this vault that this process has.
    private func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(fixture.folder) ?? false
        }.count
    }

    @Test func whatWasForgottenIsLetGoOfWhenNobodyWaits() throws {
        let before = try descriptors()
        let nodes = try (0..<100).map { try fixture.make("f\($0)", "x") }
        for (number, node) in nodes.enumerated() {
            try remove("f\(number)")
            fileSystem.forget(node, count: 1)
            // A few at most.
            #expect(try descriptors() <= before + 20)
        }
        fileSystem.dropForgotten()
        #expect(try descriptors() <= before + 2)
    }
}
