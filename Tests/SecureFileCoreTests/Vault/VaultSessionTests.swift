import Foundation
import Testing

@testable import SecureFileCore

@Suite struct VaultSessionTests {
    @Test func cleanSessionsLeaveNothing() throws {
        let fixture = try VaultFixture()
        var ids: Set<SessionID> = []
        for _ in 0..<3 {
            let vault = try fixture.open()
            #expect(!vault.foundDeadSession && !vault.sessionRule.hasDead && vault.sessionRule.current != .none)
            #expect(ids.insert(vault.sessionRule.current).inserted)
            try vault.close()
            try vault.close()
            #expect(vault.isClosed)
        }
        #expect(try fixture.folder.entries() == ["sfs.dir", "sfs.json", "sfs.lock", "sfs.session", "sfs.spare"])
    }

    /// Root may be the first who mounts it.
    @Test(.enabled(if: getuid() == 0, "only root can give files away")) func aVaultStaysItsOwners() throws {
        let fixture = try VaultFixture()
        let folder = try fixture.folder.descriptor()
        for name in try [".", "sfs.lock", "sfs.session", "sfs.spare"] + fixture.folder.entries() {
            try? folder.setOwner(of: RawPath(name), 4242, group: 4343)
        }
        try? folder.remove(RawPath("sfs.lock"))
        let vault = try fixture.open()
        _ = try vault.root.createFile(vault.root.stored("x"), permissions: 0o600)
        try vault.close()
        for name in ["sfs.lock", "sfs.session", "sfs.spare", "sfs.json"] {
            let status = try folder.status(of: RawPath(name))
            #expect(status.owner == 4242 && status.group == 4343, "\(name)")
        }
    }

    /// The spare file is made anew where it is not what it should be; nothing else is written to.
    @Test func theSpareFileIsKeptInOrder() throws {
        let fixture = try VaultFixture()
        let folder = try fixture.folder.descriptor()
        try fixture.open().close()
        let spare = RawPath("sfs.spare")
        let size = try folder.status(of: spare).size
        #expect(size == 20_480)
        for damage in ["short", "missing", "symlink", "linked"] {
            try folder.remove(spare)
            switch damage {
            case "short": try fixture.folder.write("sfs.spare", [1])
            case "symlink":
                try fixture.folder.write("elsewhere", [1, 2, 3])
                try FileManager.default.createSymbolicLink(atPath: fixture.folder.path + "/sfs.spare", withDestinationPath: "elsewhere")
            case "linked":
                try FileManager.default.linkItem(atPath: fixture.folder.path + "/elsewhere", toPath: fixture.folder.path + "/sfs.spare")
            default: break
            }
            try fixture.open().close()
            let status = try folder.status(of: spare)
            #expect(status.kind == .regular && status.linkCount == 1 && status.size == size, "\(damage)")
        }
        #expect(try fixture.folder.read("elsewhere") == [1, 2, 3])
    }

    @Test func secondWriterIsRefusedAndTold() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.open()
        do {
            _ = try fixture.open()
            Issue.record("two writers")
        } catch {
            #expect(error.code == .inUse && error.errno == .busy)
            #expect(error.message.contains("process \(ProcessInfo.processInfo.processIdentifier)"), "\(error)")
        }
        // A reader beside it takes the writer's session for one that may be between two writes.
        let reader = try fixture.open(.readOnly)
        #expect(reader.sessionRule.current == .none && reader.sessionRule.isLenient(vault.sessionRule.current))
        #expect(failureErrno { _ = try reader.root.createFile(reader.root.stored("x"), permissions: 0o600) } == .readOnly)
        try vault.close()
        #expect(try !reader.currentSessionRule().hasDead)
        try reader.close()
        try fixture.open().close()
    }

    @Test func abandonedSessionIsDead() throws {
        let fixture = try VaultFixture()
        var died: [SessionID] = []
        for _ in 0..<3 {
            let vault = try fixture.open()
            #expect(vault.foundDeadSession == !died.isEmpty)
            for id in died { #expect(vault.sessionRule.isLenient(id)) }
            died.append(vault.sessionRule.current)
            // No close: the reference goes, and the lock with it.
        }
        let vault = try fixture.open()
        #expect(vault.sessionRule.lenient == Set(died))
        try vault.forgetDeadSessions()
        try vault.close()
        #expect(try !fixture.open().sessionRule.hasDead)
    }

    /// Another process, by its own means, holds the lock; it is killed.
    @Test func killedHolderDoesNotBlock() throws {
        let fixture = try VaultFixture()
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let program = """
            import fcntl, os, sys
            f = open(sys.argv[1], "r+"); fcntl.flock(f, fcntl.LOCK_EX); f.write(str(os.getpid())); f.flush()
            print("held", flush=True); sys.stdin.read()
            """
        holder.arguments = ["python3", "-c", program, fixture.folder.path + "/sfs.lock"]
        let (output, input) = (Pipe(), Pipe())
        holder.standardOutput = output
        holder.standardInput = input
        try holder.run()
        #expect(output.fileHandleForReading.readData(ofLength: 5) == Data("held\n".utf8))
        do {
            _ = try fixture.open()
            Issue.record("opened")
        } catch {
            #expect(error.code == .inUse && error.message.contains("process \(holder.processIdentifier)"), "\(error)")
        }
        kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
        try fixture.open().close()
    }

    /// The process that has the vault open kills itself: the next opener finds a dead session, and no lock.
    @Test func killedWriterLeavesADeadSession() async throws {
        let fixture = try VaultFixture()
        try fixture.folder.write("sfs.tmp.leftover", [1])
        let path = fixture.folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let vault = try Vault.open(at: RawPath(path), .passphrase(VaultFixture.passphrase), .readWrite)
            kill(getpid(), SIGKILL)
            try vault.close()
        }
        let vault = try fixture.open()
        #expect(vault.foundDeadSession && vault.sessionRule.lenient.count == 1)
        #expect(try !fixture.folder.entries().contains("sfs.tmp.leftover"))
        try vault.close()
    }

    @Test func replacedOrDamagedRecordIsRefused() throws {
        let fixture = try VaultFixture()
        try fixture.open().close()
        let good = try fixture.folder.read("sfs.session")
        for byte in good.indices {
            var flipped = good
            flipped[byte] ^= 0x40
            try fixture.folder.write("sfs.session", flipped)
            #expect(failureCode { _ = try fixture.open() } == .damaged)
        }
        try fixture.folder.write("sfs.session", good + [0])
        #expect(failureCode { _ = try fixture.open(.readOnly) } == .damaged)
        try fixture.folder.write("sfs.session", [UInt8](repeating: 0, count: 1 << 20))
        #expect(failureCode { _ = try fixture.open() } == .damaged)
        let record = fixture.folder.path + "/sfs.session"
        try FileManager.default.removeItem(atPath: record)
        try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: false)
        #expect(failureCode { _ = try fixture.open() } == .damaged)
        try FileManager.default.removeItem(atPath: record)
        try FileManager.default.createSymbolicLink(atPath: record, withDestinationPath: "sfs.json")
        #expect(failureCode { _ = try fixture.open() } == .damaged)
        try FileManager.default.removeItem(atPath: record)
        try fixture.open().close()
    }

    @Test func tooManyDeadSessionsAreALimit() throws {
        let fixture = try VaultFixture()
        let keys = try fixture.open(.readOnly).keys
        let folder = try fixture.folder.descriptor()
        let dead = (1...1024).map { SessionID(low: $0, high: 1) }
        try VaultSession.write(SessionRecord(open: .none, dead: dead), folder, keys, path: "s")
        let vault = try fixture.open()
        #expect(vault.sessionRule.lenient.count == 1024)
        try vault.close()
        try VaultSession.write(SessionRecord(open: SessionID(low: 9, high: 9), dead: dead), folder, keys, path: "s")
        #expect(failureCode { _ = try fixture.open() } == .limitExceeded)
    }
}
