import Foundation
import Testing

@testable import SecureFS
@testable import SecureFileCore

@Suite struct OperationsTests {
    private let fixture: Fixture
    private var fileSystem: VaultFileSystem { fixture.fileSystem }
    init() throws { fixture = try Fixture() }

    @Test func whatIsWrittenIsRead() throws {
        let node = try fixture.make("a", "hello")
        try fixture.open(node)
        #expect(try fixture.read(node) == "hello")
        fixture.close(node)
        #expect(try fileSystem.attributes(of: node).size == 5)
    }

    @Test func aMissingNameIsNoError() throws { #expect(try fixture.lookup("none") == nil) }

    @Test func namesOf256BytesAreTooLong() throws {
        _ = try fixture.make(String(repeating: "n", count: 255), "x")
        #expect(throws: Errno.nameTooLong) { try fixture.lookup(String(repeating: "n", count: 256)) }
        #expect(try fixture.names() == [String(repeating: "n", count: 255)])
    }

    @Test func idleNodesHoldNoDescriptor() throws {
        // Only this vault's: other tests run in the same process.
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(fixture.folder) ?? false
            }.count
        }
        let before = try descriptors()
        for number in 0..<200 { try fixture.make("file\(number)", "x") }
        #expect(try descriptors() <= before + 2)
    }

    @Test func aRemovedFileLivesAsLongAsItIsOpen() throws {
        let node = try fixture.create("a").node
        try fileSystem.remove(Array("a".utf8), in: .root)
        try fixture.write("still here", to: node)
        #expect(try fixture.read(node) == "still here")
        #expect(try fileSystem.attributes(of: node).linkCount == 0)
        var change = AttributeChange()
        change.permissions = 0o600
        change.size = 5
        #expect(try fileSystem.setAttributes(of: node, nil, change).size == 5)
        fixture.close(node)
        #expect(try fileSystem.attributes(of: node).permissions == 0o600)
        fileSystem.forget(node, count: 1)
        #expect(throws: Errno.stale) { try fileSystem.attributes(of: node) }
    }

    @Test func aReusedInodeNumberIsANewFile() throws {
        let old = try fixture.create("a").node
        try fixture.write("old", to: old)
        try fileSystem.remove(Array("a".utf8), in: .root)
        for number in 0..<20 {
            let new = try fixture.make("b\(number)", "new")
            #expect(new != old)
            try fixture.open(new)
            #expect(try fixture.read(new) == "new")
            fixture.close(new)
        }
        #expect(try fixture.read(old) == "old")
        fixture.close(old)
    }

    @Test func hardLinksShareEverything() throws {
        let node = try fixture.make("a", "one")
        let linked = try fileSystem.link(node, as: Array("b".utf8), in: .root)
        #expect(linked.node == node)
        #expect(linked.attributes.linkCount == 2)
        try fixture.open(node)
        try fixture.write("longer content", to: node)
        #expect(try fixture.lookup("b")?.attributes.size == 14)
        try fileSystem.remove(Array("a".utf8), in: .root)
        #expect(try fixture.lookup("b")?.node == node)
        fixture.close(node)
        #expect(try fileSystem.attributes(of: node).linkCount == 1)
    }

    @Test func aRenamedFileIsFoundUnderItsNewName() throws {
        let node = try fixture.make("a", "content")
        let directory = try fileSystem.makeDirectory(Array("d".utf8), in: .root, mode: 0o755, Fixture.root).node
        try fileSystem.rename(Array("a".utf8), in: .root, to: Array("b".utf8), in: directory, .replace)
        try fixture.open(node)
        #expect(try fixture.read(node) == "content")
        fixture.close(node)
        #expect(try fixture.lookup("a") == nil)
        #expect(try fixture.lookup("b", in: directory)?.node == node)
    }

    @Test func filesBelowARenamedDirectoryAreFound() throws {
        let directory = try fileSystem.makeDirectory(Array("d".utf8), in: .root, mode: 0o755, Fixture.root).node
        let node = try fixture.make("f", "content", in: directory)
        try fileSystem.rename(Array("d".utf8), in: .root, to: Array("e".utf8), in: .root, .replace)
        fileSystem.directories.remove(directory)
        #expect(try fileSystem.attributes(of: node).size == 7)
    }

    @Test func exchangedNamesLeadToEachOthersFiles() throws {
        let (a, b) = (try fixture.make("a", "1"), try fixture.make("b", "22"))
        try fileSystem.rename(Array("a".utf8), in: .root, to: Array("b".utf8), in: .root, .exchange)
        #expect(try fixture.lookup("a")?.node == b)
        #expect(try fixture.lookup("b")?.node == a)
        #expect(try fileSystem.attributes(of: a).size == 1)
        #expect(try fileSystem.attributes(of: b).size == 2)
    }

    @Test func renameDoesNotReplaceWhereItMustNot() throws {
        try fixture.make("a")
        try fixture.make("b")
        #expect(throws: Errno.exists) {
            try fileSystem.rename(Array("a".utf8), in: .root, to: Array("b".utf8), in: .root, .noReplace)
        }
    }

    @Test func directoriesAreRemovedOnlyWhenEmpty() throws {
        let directory = try fileSystem.makeDirectory(Array("d".utf8), in: .root, mode: 0o755, Fixture.root).node
        try fixture.make("f", in: directory)
        #expect(throws: Errno.notEmpty) { try fileSystem.removeDirectory(Array("d".utf8), in: .root) }
        try fileSystem.remove(Array("f".utf8), in: directory)
        try fileSystem.removeDirectory(Array("d".utf8), in: .root)
        #expect(try fixture.lookup("d") == nil)
        #expect(try fixture.names(in: directory).isEmpty)
        #expect(try fileSystem.attributes(of: directory).kind == .directory)
    }

    @Test func aListingGoesOnWhereItStopped() throws {
        let all = (0..<50).map { "file\($0)" }
        for name in all { try fixture.make(name) }
        let handle = try fileSystem.openDirectory(.root)
        var seen: [String] = []
        var position = 0
        while true {
            let reply = ListingReply(limit: 7)
            try fileSystem.readDirectory(.root, handle, from: position, withAttributes: true, into: reply)
            guard let last = reply.entries.last else { break }
            seen += reply.names
            position = last.next
        }
        fileSystem.releaseDirectory(.root, handle)
        #expect(seen.sorted() == all.sorted())
    }

    @Test func anEntryThatDidNotFitIsNotCountedAsLookedUp() throws {
        let node = try fixture.make("a")
        fileSystem.forget(node, count: 1)
        let handle = try fileSystem.openDirectory(.root)
        try fileSystem.readDirectory(.root, handle, from: 0, withAttributes: true, into: ListingReply(limit: 0))
        fileSystem.releaseDirectory(.root, handle)
        #expect(fileSystem.table.count == 1)
    }

    @Test func anExplicitTimeSurvivesALateFlush() throws {
        let node = try fixture.make("a", String(repeating: "x", count: 10_000))
        try fixture.open(node)
        try fileSystem.synchronize(node, fixture.handle, contentOnly: false)
        try fixture.write("overwritten", to: node)
        var change = AttributeChange()
        let time = FileTime(seconds: 1_000_000_000, nanoseconds: 123_456_789)
        change.modified = .to(time)
        #expect(try fileSystem.setAttributes(of: node, nil, change).modified == time)
        try fileSystem.flush(node, fixture.handle)
        try fileSystem.context.settleAll { () throws(Errno) in }
        try fileSystem.synchronize(node, fixture.handle, contentOnly: false)
        fixture.close(node)
        #expect(try fileSystem.attributes(of: node).modified == time)
    }

    @Test func overwritesAreSettledAfterTheLastHandleWent() throws {
        let node = try fixture.make("a", String(repeating: "x", count: 10_000))
        try fixture.open(node)
        try fileSystem.synchronize(node, fixture.handle, contentOnly: false)
        try fixture.write("new", to: node)
        fixture.close(node)
        try fileSystem.context.settleAll { () throws(Errno) in }
        fileSystem.closeLingering()
        let known = try fileSystem.table.node(node)
        #expect(known.content.withLock { $0 == nil })
        try fixture.open(node)
        #expect(try fixture.read(node, count: 4) == "newx")
        fixture.close(node)
    }

    /// The kernel says a time, and writes what it had cached before.
    @Test func aLateWriteOfTheKernelLeavesTheTimeItHasSaid() throws {
        let node = try fixture.create("a").node
        let data = Array("x".utf8)
        var change = AttributeChange()
        for (seconds, isSynced) in [(1000, false), (2000, true)] as [(Int64, Bool)] {
            let time = FileTime(seconds: seconds, nanoseconds: 5)
            change.modified = .to(time)
            _ = try fileSystem.setAttributes(of: node, nil, change)
            try fileSystem.write(node, fixture.handle, data.span, at: seconds, WriteOrigin(isWriteBack: true))
            if isSynced {
                try fileSystem.synchronize(node, fixture.handle, contentOnly: false)
            } else {
                try fileSystem.flush(node, fixture.handle)
            }
            #expect(try fileSystem.attributes(of: node).modified == time)
        }
        // What a program writes past the kernel's cache is a modification.
        try fileSystem.write(node, fixture.handle, data.span, at: 5000, WriteOrigin())
        try fileSystem.flush(node, fixture.handle)
        #expect(try fileSystem.attributes(of: node).modified.seconds > 2000)
        fixture.close(node)
    }

    @Test func theVaultsOwnFoldersAreNoLinksOfTheRoot() throws {
        let before = try fileSystem.attributes(of: .root).linkCount
        _ = try fileSystem.makeSymlink(Array("long".utf8), in: .root, target: Array(repeating: 0x61, count: 4000), Fixture.root)
        #expect(FileManager.default.fileExists(atPath: fixture.folder + "/sfs.links"))
        #expect(try fileSystem.attributes(of: .root).linkCount == before)
        _ = try fileSystem.makeDirectory(Array("d".utf8), in: .root, mode: 0o755, Fixture.root)
        #expect(try fileSystem.attributes(of: .root).linkCount == before + (before >= 2 ? 1 : 0))
    }

    @Test func setIDBitsGoWhereTheyMust() throws {
        let node = try fixture.create("a", mode: 0o755).node
        var change = AttributeChange()
        change.permissions = 0o6755
        _ = try fileSystem.setAttributes(of: node, nil, change)
        let data = Array("x".utf8)
        try fileSystem.write(node, fixture.handle, data.span, at: 0, WriteOrigin())
        #expect(try fileSystem.attributes(of: node).permissions == 0o6755)
        try fileSystem.write(node, fixture.handle, data.span, at: 0, WriteOrigin(losesPrivileges: Fixture.stranger))
        #expect(try fileSystem.attributes(of: node).permissions == 0o755)
        fixture.close(node)
    }

    /// chmod(2) changes the mode alone: the list follows it when it is read. Removing the list leaves the mode.
    @Test func anAccessListFollowsTheMode() throws {
        let name = Array("system.posix_acl_access".utf8)
        var list: [UInt8] = [2, 0, 0, 0]
        for (tag, bits) in [(1, 6), (2, 6), (4, 0), (16, 6), (32, 0)] as [(UInt8, UInt8)] {
            list += [tag, 0, bits, 0] + (tag == 2 ? [0xE8, 3, 0, 0] : [255, 255, 255, 255])
        }
        let node = try fixture.make("a", "secret")
        #expect(throws: Errno.noData) { try fileSystem.extendedAttribute(name, of: node) }
        try fileSystem.setExtendedAttribute(name, of: node, list, .any, Fixture.root)
        #expect(try fileSystem.attributes(of: node).permissions == 0o660)
        #expect(try fileSystem.extendedAttribute(name, of: node) == list && fileSystem.extendedAttributeNames(of: node) == [name])
        var change = AttributeChange()
        change.permissions = 0o444
        _ = try fileSystem.setAttributes(of: node, nil, change)
        let shown = try fileSystem.extendedAttribute(name, of: node)
        let bits: [UInt8] = stride(from: 6, to: shown.count, by: 8).map { shown[$0] }
        #expect(bits == [4, 6, 0, 4, 4])
        try fileSystem.removeExtendedAttribute(name, of: node)
        try fileSystem.removeExtendedAttribute(name, of: node)
        #expect(try fileSystem.attributes(of: node).permissions == 0o444)
        #expect(throws: Errno.invalidArgument) { try fileSystem.setExtendedAttribute(name, of: node, [2, 0, 0], .any, Fixture.root) }
        #expect(throws: Errno.accessDenied) {
            try fileSystem.setExtendedAttribute(Array("system.posix_acl_default".utf8), of: node, list, .any, Fixture.root)
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func newFilesBelongToTheCaller() throws {
        let caller = Caller(user: 1234, group: 567, process: 1, umask: 0)
        let status = try fixture.create("a", by: caller).attributes
        #expect(status.owner == 1234 && status.group == 567)
        var change = AttributeChange()
        change.permissions = 0o2777
        change.group = 99
        let directory = try fileSystem.makeDirectory(Array("d".utf8), in: .root, mode: 0o777, Fixture.root).node
        _ = try fileSystem.setAttributes(of: directory, nil, change)
        #expect(try fixture.create("b", in: directory, by: caller).attributes.group == 99)
        let child = try fileSystem.makeDirectory(Array("e".utf8), in: directory, mode: 0o755, caller).attributes
        #expect(child.group == 99 && child.owner == 1234 && child.permissions == 0o2755)
    }

    @Test func symlinksKeepTheirTargets() throws {
        let target = Array("../some/where".utf8)
        let entry = try fileSystem.makeSymlink(Array("l".utf8), in: .root, target: target, Fixture.root)
        #expect(entry.attributes.size == Int64(target.count))
        #expect(try fileSystem.symlinkTarget(of: entry.node) == target)
    }

    @Test func attributesAreKept() throws {
        let node = try fixture.make("a")
        let name = Array("user.colour".utf8)
        #expect(throws: Errno.noData) { try fileSystem.extendedAttribute(name, of: node) }
        try fileSystem.setExtendedAttribute(name, of: node, Array("blue".utf8), .any, Fixture.root)
        #expect(try fileSystem.extendedAttribute(name, of: node) == Array("blue".utf8))
        #expect(try fileSystem.extendedAttributeNames(of: node) == [name])
        try fileSystem.removeExtendedAttribute(name, of: node)
        #expect(throws: Errno.noData) { try fileSystem.extendedAttribute(name, of: node) }
    }

    @Test func aFileWithoutANameCanBeGivenOne() throws {
        let made = try fileSystem.createUnnamed(in: .root, mode: 0o600, OpenIntent(reads: true, writes: true), Fixture.root)
        try fixture.write("unnamed", to: made.entry.node)
        #expect(try fixture.names().isEmpty)
        let named = try fileSystem.link(made.entry.node, as: Array("n".utf8), in: .root)
        #expect(named.node == made.entry.node)
        fixture.close(named.node)
        try fixture.open(named.node)
        #expect(try fixture.read(named.node) == "unnamed")
        fixture.close(named.node)
    }

    /// stress-ng's chdir keeps thousands of directories open: what is not read needs no descriptor.
    @Test func manyOpenDirectoriesNeedFewDescriptors() throws {
        let directory = try fileSystem.makeDirectory(Array("directory".utf8), in: .root, mode: 0o755, Fixture.root).node
        try fixture.make("file", in: directory)
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        var handles: [HandleID] = []
        for _ in 0..<4000 { handles.append(try fileSystem.openDirectory(directory)) }
        defer { for handle in handles { fileSystem.releaseDirectory(directory, handle) } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 2500)
        func listed(_ handle: HandleID) throws -> Set<String> {
            let reply = ListingReply(limit: 100)
            try fileSystem.readDirectory(directory, handle, from: 0, withAttributes: false, into: reply)
            return Set(reply.entries.map(\.name))
        }
        for handle in [handles[0], handles[3999]] { #expect(try listed(handle) == [".", "..", "file"]) }
        try fileSystem.synchronizeDirectory(directory, handles[3998])
        // Opened before it was removed and read after it: empty.
        try fileSystem.remove(Array("file".utf8), in: directory)
        try fileSystem.removeDirectory(Array("directory".utf8), in: .root)
        #expect(try listed(handles[3997]).isEmpty)
        try fileSystem.synchronizeDirectory(directory, handles[3997])
    }
}
