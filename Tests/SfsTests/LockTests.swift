import Glibc
import SecureFileCore
import Synchronization
import Testing

@testable import sfs

/// The key of a live mount goes and comes back.
@Suite(.serialized, .enabled(if: MountSupport.isThere)) struct LockTests {
    private static let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    private static func script(_ name: String) -> RawPath { RawPath("/\(folder)/\(name)") }

    /// Whether the kernel gives this process a keyring.
    static let hasKeyring: Bool = {
        guard let keys = try? VolumeKeys(volumeKey: SecretKey(copying: [UInt8](repeating: 41, count: 32))) else { return false }
        defer { try? VolumeKeys.removeFromKeyring(keyID: keys.keyID) }
        return (try? keys.putInKeyring(seconds: 60)) != nil
    }()

    private func unlock(_ fixture: MountFixture, _ rest: String...) throws -> Sfs.Outcome {
        try Sfs.run((["unlock", fixture.place, "--passfile", fixture.vault.passfile] + rest).map { RawPath($0) })
    }

    @Test func aLockedMountStaysAndRefusesEverything() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount().code == 0)
        let before = try fixture.shell("mkdir d; echo small >d/small; head -c 300000 /dev/zero >big; ln -s d link; setfattr -n user.a -v 1 big; cat none")
        #expect(before.code == 1, "\(before)")
        #expect(try Sfs.run("lock", fixture.place).code == 0)
        #expect(try Sfs.run("lock", fixture.place).code == 0, "a second time does nothing")
        for call in [
            "cat d/small", "cat big", "ls .", "ls d", "cat none", "echo x >new", "echo x >>big", "mkdir e", "rm big", "mv big other", "ln big other",
            "readlink -v link", "getfattr -d big", "setfattr -n user.b -v 1 big", "truncate -s 1 big", "stat big", "ls .stores", "mkfifo p",
        ] {
            let outcome = try fixture.shell(call)
            #expect(outcome.code != 0 && outcome.errors.contains("Required key not available"), "\(call): \(outcome)")
        }
        #expect(try fixture.shell("stat . && df . >/dev/null").code == 0, "the root can be looked at")
        let wrong = try Sfs.run(
            ["unlock", fixture.place, "--passfile", try fixture.vault.folder.file("wrong", "wrong\n")].map { RawPath($0) })
        #expect(wrong.code == 3, "\(wrong)")
        #expect(try fixture.shell("cat d/small").code != 0)
        #expect(try unlock(fixture, "--no-keyring").code == 0)
        let after = try fixture.shell("cat d/small; wc -c <big; readlink link; getfattr --only-values -n user.a big; ls")
        #expect(after.code == 0 && after.text == "small\n300000\nd\n1big\nd\nlink\n", "\(after)")
        // Locked, it can be unmounted, and counts as closed well.
        #expect(try Sfs.run("lock", fixture.place).code == 0)
        #expect(try fixture.umount().code == 0)
        let check = try fixture.vault.run("check")
        #expect(check.code == 0 && check.text.contains("clean"), "\(check)")
    }

    @Test func whatIsOpenGoesOn() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount().code == 0)
        let outcome = try fixture.shell(
            """
            seq 1 100000 >f; exec 3<f 4>>f 5<.
            read a <&3; echo "$a"
            mkdir deep; cd deep; echo x >here
            echo 'written before' >&4
            "$SFS" lock '\(fixture.place)' || exit 1
            if head -c 10 <&3; then echo "read while locked"; fi
            if echo no >&4; then echo 'written while locked'; fi
            "$SFS" unlock '\(fixture.place)' --no-keyring --passfile '\(fixture.vault.passfile)' || exit 1
            read a <&3; echo "$a"
            echo 'written after' >&4
            cat here; tail -n 2 ../f; pwd
            """)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.text == "1\n2\nx\nwritten before\nwritten after\n\(fixture.place)/deep\n", "\(outcome)")
        #expect(outcome.errors.contains("Required key not available"))
    }

    @Test func aVaultWithoutAMountAndOtherPlaces() throws {
        let vault = try TestVault()
        #expect(try Sfs.run("lock", vault.path).code == 0, "nothing to take away")
        #expect(try Sfs.run("lock", vault.path + "/none").code == 4)
        #expect(try Sfs.run("lock", vault.folder.path.description).code == 4)
        #expect(try Sfs.run("unlock", vault.folder.path.description, "--passfile", vault.passfile).code == 4)
        #expect(try Sfs.run("unlock", vault.path, "--timeout", "soon").code == 2)
        #expect(try Sfs.run("mount", vault.path, "/nowhere", "-o", "auto_lock=soon").code == 2)
        #expect(try Sfs.run("mount", vault.path, "/nowhere", "--auto-lock", "-1").code == 2)
    }

    @Test(.enabled(if: hasKeyring)) func oneUnlockServesMountAndPrograms() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount().code == 0)
        #expect(try Sfs.run("lock", fixture.vault.path).code == 0)
        #expect(try Sfs.run("unlock", fixture.vault.path, "--passfile", fixture.vault.passfile, "--timeout", "5").code == 0)
        #expect(try fixture.shell("echo x >f; cat f").text == "x\n")
        let services = SecureServices()
        try services.unlock(.keyring(ofVault: fixture.vault.path))
        #expect(services.state == .unlocked)
        #expect(try Sfs.run("lock", fixture.place).code == 0)
        #expect(throws: SecureFileError.self) { try SecureServices().unlock(.keyring(ofVault: fixture.vault.path)) }
        #expect(try fixture.umount().code == 0)
    }

    /// Four writers in the mount and two handles in this program, which follows the keyring.
    @Test(.enabled(if: hasKeyring)) func lockingUnderLoadLosesNothing() throws {
        let rounds = unsafe getenv("ROUNDS").flatMap { Int(unsafe String(cString: $0)) } ?? 50
        let fixture = try MountFixture()
        #expect(try fixture.mount().code == 0)
        let stop = fixture.vault.folder.path.appending("stop")
        let seed = UInt64.random(in: 0..<1_000_000)
        print("LockTests: SEED=\(seed) ROUNDS=\(rounds)")
        var writers: [(pid: pid_t, output: FileDescriptor)] = []
        for number in 0..<4 {
            let output = try FileDescriptor.open(fixture.vault.folder.path.appending("out\(number)"), [.readWrite, .create])
            let null = try FileDescriptor.open(RawPath("/dev/null"), .readOnly)
            let words = [
                RawPath("python3"), Self.script("lock_writer.py"), RawPath(fixture.place), RawPath("writer\(number)"), stop, RawPath("\(seed + UInt64(number))"),
            ]
            writers.append((try Sfs.spawn(RawPath("/usr/bin/python3"), words, [], [null, output, output]), output))
        }
        let services = SecureServices()
        try services.unlock(.vault(fixture.vault.path, .passphrase(Array(TestVault.passphrase.utf8))))
        let watch = try services.followKeyring(every: .milliseconds(5))
        let load = try HandleLoad(services, folder: fixture.vault.folder, seed: seed)
        for _ in 0..<rounds {
            usleep(.random(in: 5_000...60_000))
            let locked = try Sfs.run("lock", fixture.place)
            #expect(locked.code == 0, "\(locked)")
            usleep(.random(in: 0...40_000))
            let unlocked = try unlock(fixture)
            #expect(unlocked.code == 0, "\(unlocked)")
        }
        _ = try FileDescriptor.open(stop, [.writeOnly, .create])
        for writer in writers {
            let code = Sfs.wait(for: writer.pid, 120)
            let text = String(decoding: try writer.output.readAll(limit: 1 << 16), as: UTF8.self)
            #expect(code == 0 && text.hasPrefix("ok "), "SEED=\(seed): \(text)")
            print("LockTests: \(text)", terminator: "")
        }
        try load.finish()
        watch.cancel()
        #expect(try Sfs.run("lock", fixture.place).code == 0)
        #expect(try fixture.umount().code == 0)
        let check = try fixture.vault.run("check")
        #expect(check.code == 0, "\(check)")
    }

    @Test(.enabled(if: MountSupport.isRoot)) func aLockedMountHasNeitherKeyNorContentInMemory() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount().code == 0)
        let pid = try #require(try fixture.holder())
        // Made of two parts each, so that neither this program's nor the shell's memory matters; only the mount's is looked at.
        let markers = (0..<3).map { _ in String(UInt64.random(in: 1 << 60...(.max)), radix: 16) + String(UInt64.random(in: 1 << 60...(.max)), radix: 16) }
        let load = try fixture.shell(
            """
            printf '\(markers[0])' >small; sync small; cat small >/dev/null
            for i in $(seq 1 8000); do printf '\(markers[1])'; done >big; sync big
            for i in 0 20 40; do printf '\(markers[2])' | dd of=big bs=4096 seek=$i conv=notrunc status=none; done; sync big
            for i in 1 21 41; do printf '\(markers[2])' | dd of=big bs=4096 seek=$i conv=notrunc status=none; done
            md5sum big; cp big copy; rm copy
            """)
        #expect(load.code == 0, "\(load)")
        let vault = try fixture.vault.open(.readOnly)
        let key = try vault.keys.volumeKey.exposedBytes()
        let needles = [key, Array(key.prefix(16)), Array(key.suffix(16))] + markers.map { Array($0.utf8) }
        func places() throws -> [Int] {
            let words = [Self.script("memory_search.py"), RawPath("\(pid)")]
                + needles.map { RawPath($0.map { let text = String($0, radix: 16); return text.count == 1 ? "0" + text : text }.joined()) }
            let outcome = try Sfs.run(program: RawPath("/usr/bin/python3"), words)
            #expect(outcome.code == 0, "\(outcome)")
            return outcome.lines.compactMap { Int($0) }
        }
        let unlocked = try places()
        #expect(unlocked[0] > 0, "the search finds the key while it is there: \(unlocked)")
        #expect(unlocked[4] + unlocked[5] > 0, "and content")
        #expect(try Sfs.run("lock", fixture.place).code == 0)
        #expect(try places() == [0, 0, 0, 0, 0, 0], "volume key, its halves, markers")
        #expect(try unlock(fixture, "--no-keyring").code == 0)
        #expect(try fixture.shell("md5sum big").text == load.text)
        #expect(try fixture.umount().code == 0)
    }

    /// Where the vault's disk is full: the key stays, unless it is told to go.
    @Test(.enabled(if: MountSupport.isRoot)) func lockingOnAFullDisk() throws {
        let folder = try TemporaryFolder()
        let disk = try folder.folder("disk")
        #expect(try Sfs.shell("mount -t tmpfs -o size=3m tmpfs '\(disk)' && mkdir '\(folder.path)/mnt'").code == 0)
        defer { _ = try? Sfs.shell("umount -l '\(disk)'") }
        let passfile = try folder.file("pass", "p\n")
        #expect(try Sfs.run("init", disk + "/vault", "--passfile", passfile, "--kdf-memory", "8", "--kdf-passes", "1").code == 0)
        let place = folder.path.description + "/mnt"
        #expect(try Sfs.run("mount", disk + "/vault", place, "--passfile", passfile).code == 0)
        defer { _ = try? Sfs.run("umount", "--lazy", place) }
        // Data that the kernel took, and that the disk has no room for.
        let filled = try Sfs.shell(
            """
            cd '\(place)'; truncate -s 1m f; sync f; dd if=/dev/zero of='\(disk)/filler' bs=4096 2>/dev/null
            exec 3<>f; printf x | dd of=f bs=1 seek=500000 conv=notrunc 2>/dev/null; true
            """)
        #expect(filled.code == 0)
        let refused = try Sfs.run("lock", place)
        #expect(refused.code == 12, "\(refused)")
        #expect(try Sfs.shell("cat '\(place)/f' | wc -c").text == "1048576\n", "still unlocked")
        #expect(try Sfs.run("lock", place, "--force").code == 0)
        let again = try Sfs.run("mount", disk + "/vault", place, "--passfile", passfile)
        #expect(again.code == 7 && again.errors.contains("mounted there already"), "\(again)")
        #expect(try Sfs.shell("cat '\(place)/f'").code != 0)
    }
}

/// Two handles on files outside of the vault, each in a thread of its own, that write and read while the key comes and goes.
private final class HandleLoad: Sendable {
    private let services: SecureServices
    private let paths: [String]
    private let isStopping = Atomic<Bool>(false)
    private let failures = Mutex<[String]>([])
    private let waits = Atomic<Int>(0)
    private let steps = Atomic<Int>(0)
    private let threads = Mutex<[NativeThread]>([])

    init(_ services: SecureServices, folder: TemporaryFolder, seed: UInt64) throws {
        self.services = services
        paths = try (0..<2).map { try folder.file("handle\($0)", "") }
        for number in 0..<2 {
            let thread = try NativeThread.start(stackBytes: 1 << 22) { [self] in
                do { try run(paths[number], seed &+ UInt64(number)) } catch { failures.withLock { $0.append("handle \(number): \(error)") } }
            }
            threads.withLock { $0.append(thread) }
        }
    }

    /// Makes a call until it is not refused for want of the key; anything else is a failure.
    private func call<R>(_ body: () throws(SecureFileError) -> R) throws -> R {
        while true {
            do throws(SecureFileError) { return try body() } catch {
                if error.code != .keyNotAvailable { throw error }
                waits.add(1, ordering: .relaxed)
                usleep(1000)
            }
        }
    }

    private func run(_ path: String, _ seed: UInt64) throws {
        let handle = try call { () throws(SecureFileError) in try SecureFileHandle(opening: path, for: .updating, services: services) }
        var random = SplitMix(state: seed)
        var model: [UInt8] = []
        while !isStopping.load(ordering: .relaxed) {
            steps.add(1, ordering: .relaxed)
            let at = Int(random.next() % UInt64(min(model.count, 400_000) + 1))
            let count = Int(random.next() % 9000) + 1
            if random.next() % 3 > 0 {
                let byte = UInt8(truncatingIfNeeded: random.next())
                let data = [UInt8](repeating: byte, count: count)
                try call { () throws(SecureFileError) in try handle.write(data, at: UInt64(at)) }
                if model.count < at + count { model += [UInt8](repeating: 0, count: at + count - model.count) }
                model.replaceSubrange(at..<at + count, with: data)
            } else {
                let got = try call { () throws(SecureFileError) in try handle.read(upToCount: count, at: UInt64(at)) }
                guard got.elementsEqual(model[at..<min(model.count, at + count)]) else { throw Wrong(what: "other bytes at \(at)") }
            }
            if random.next() % 50 == 0 { try call { () throws(SecureFileError) in try handle.synchronize() } }
        }
        let all = try call { () throws(SecureFileError) in try handle.read(upToCount: model.count + 1, at: 0) }
        guard all.elementsEqual(model) else { throw Wrong(what: "another content at the end") }
        try call { () throws(SecureFileError) in try handle.close() }
        let again = try call { () throws(SecureFileError) in try SecureFiles(services).read(path) }
        guard again.elementsEqual(model) else { throw Wrong(what: "another content after the close") }
    }

    func finish() throws {
        isStopping.store(true, ordering: .relaxed)
        for thread in threads.withLock({ $0 }) { thread.join() }
        #expect(failures.withLock { $0 } == [])
        #expect(waits.load(ordering: .relaxed) > 0, "the key went while the handles were at work")
        print("LockTests: handles: \(steps.load(ordering: .relaxed)) steps, \(waits.load(ordering: .relaxed)) times refused")
    }

    private struct Wrong: Error { var what: String }
    private struct SplitMix {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }
}
