import Foundation
import Synchronization
import Testing

@testable import SecureFS
@testable import SecureFileCore

/// Taking the key from a mount, without a kernel.
@Suite struct LockingTests {
    /// Writes down what the kernel is asked to do, and does what a test wants meanwhile.
    final class Caches: KernelCaches {
        let calls = Mutex<[String]>([])
        private let onSynchronize: @Sendable (_ call: Int) -> Void
        init(onSynchronize: @escaping @Sendable (Int) -> Void = { _ in }) { self.onSynchronize = onSynchronize }

        private func note(_ call: String) { calls.withLock { $0.append(call) } }
        var list: [String] { calls.withLock { $0 } }

        func synchronize() {
            note("sync")
            onSynchronize(list.count { $0 == "sync" })
        }
        func waitForRequests() { note("wait") }
        func forgetAttributes(of nodes: [NodeID]) { note("attributes") }
        func forgetContent(of nodes: [NodeID]) { note("content") }
        func forgetEntries(ofRoot names: [[UInt8]]) { note("entries " + names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",")) }
        func wipeBuffers() { note("wipe") }
    }

    private struct Mount {
        let fixture: Fixture
        let gated: GatedFileSystem
        let locker: MountLocker
        let keys: VolumeKeys

        init(_ fixture: Fixture) throws {
            self.fixture = fixture
            let inner = StoreDirectoryFileSystem(fixture.fileSystem, showsStores: false)
            gated = GatedFileSystem(inner)
            let fixtureLog = MountLog { _ in }
            locker = MountLocker(gated.gate, inner, fixtureLog)
            keys = try VolumeKeys(volumeKey: SecretKey(copying: try fixture.fileSystem.vault.keys.volumeKey.exposedBytes()))
        }

        static func write(_ text: String, to node: NodeID, at offset: Int64, _ gated: GatedFileSystem) throws {
            try gated.write(node, HandleID(rawValue: 1), Array(text.utf8).span, at: offset, WriteOrigin())
        }
    }

    @Test func theKeyGoesOnlyWhenTheKernelHasNothingLeft() throws {
        let mount = try Mount(try Fixture())
        let node = try mount.fixture.create("file").node
        // As the kernel does: data it holds comes while it is told to write, and once more later.
        let caches = Caches { [gated = mount.gated] call in
            if call == 2 || call == 5 { try? Mount.write("data \(call)", to: node, at: Int64(call) * 10, gated) }
        }
        mount.locker.attach(caches)
        try mount.locker.lock(discardingUnwritten: false)
        #expect(mount.locker.isLocked)
        // Eight quiet rounds after the last write; the content is forgotten only in rounds in which nothing came.
        let quiet = String(repeating: "sync content ", count: 8)
        let expected = "sync wait attributes sync sync content sync content sync \(quiet)entries file wipe"
        #expect(caches.list.joined(separator: " ") == expected)
        #expect(throws: Errno.noKey) { try Mount.write("late", to: node, at: 0, mount.gated) }
        #expect(throws: Errno.noKey) { try mount.gated.lookup(Array("file".utf8), in: .root) }
        #expect(throws: SecureFileError.self) { try mount.locker.unlock(with: VolumeKeys(volumeKey: SecretKey(copying: [UInt8](repeating: 1, count: 32)))) }
        #expect(mount.locker.isLocked)
        try mount.locker.unlock(with: mount.keys)
        let buffer = PageBuffer(count: 100)
        let got = try mount.gated.read(node, mount.fixture.handle, at: 0, count: 100, into: buffer)
        let hole = { (count: Int) in String(repeating: "\0", count: count) }
        let text = hole(20) + "data 2" + hole(24) + "data 5"
        #expect(String(decoding: buffer.bytes(0..<got), as: UTF8.self) == text)
    }

    @Test func aMountThatIsNotServedIsNotLocked() throws {
        let mount = try Mount(try Fixture())
        #expect(throws: SecureFileError.self) { try mount.locker.lock(discardingUnwritten: false) }
        #expect(!mount.locker.isLocked)
        #expect(try mount.gated.lookup(Array("none".utf8), in: .root) == nil)
    }

    @Test func anIdleMountLocksItself() throws {
        let mount = try Mount(try Fixture())
        let node = try mount.fixture.create("file").node
        mount.locker.attach(Caches())
        let watch = try mount.locker.watchIdleness(.milliseconds(240))
        defer { watch.stop() }
        func waitForLock(_ seconds: Double) -> Bool {
            let end = Date().addingTimeInterval(seconds)
            while Date() < end, !mount.locker.isLocked { usleep(2_000) }
            return mount.locker.isLocked
        }
        // In use, it stays. (Attributes of directories and counts are no use of a key.)
        let end = Date().addingTimeInterval(1)
        while Date() < end {
            do throws(Errno) { _ = try mount.gated.attributes(of: node) } catch { break }
            do throws(Errno) { _ = try mount.gated.lookup(Array("file".utf8), in: .root) } catch { break }
            usleep(1_000)
        }
        // Where this thread got no processor for a quarter of a second it was idle indeed.
        if Date() >= end { #expect(!mount.locker.isLocked) }
        #expect(waitForLock(20))
        try mount.locker.unlock(with: mount.keys)
        #expect(waitForLock(20), "and again")
        watch.stop()
        try mount.locker.unlock(with: mount.keys)
        #expect(!waitForLock(1), "stopped")
    }
}
