import Glibc
import SecureFileCore
import Testing

/// Real mounts. Without /dev/fuse they are skipped, unless REQUIRE_FUSE=1.
enum MountSupport {
    static let isThere: Bool = {
        let required = unsafe getenv("REQUIRE_FUSE").map { unsafe String(cString: $0) } == "1"
        return required || (try? FileDescriptor.open(RawPath("/dev/fuse"), .pathOnly)) != nil
    }()
    static let isRoot = geteuid() == 0
}

/// A vault and a place for it; whatever is mounted there is taken away at the end.
final class MountFixture {
    let vault: TestVault
    let place: String

    init(named name: String = "vault", place placeName: String = "mnt", fill: (TestVault.Writer) throws -> Void = { _ in }) throws {
        vault = try TestVault(named: name, fill: fill)
        place = try vault.folder.folder(placeName)
    }

    deinit {
        for _ in 0..<3 where (try? Self.isMounted(place)) == true { _ = try? Sfs.run("umount", "--lazy", place) }
    }

    func mount(_ rest: String...) throws -> Sfs.Outcome {
        try Sfs.run((["mount", vault.path, place, "--passfile", vault.passfile] + rest).map { RawPath($0) })
    }

    func isMounted() throws -> Bool { try Self.isMounted(place) }

    func umount(_ rest: String...) throws -> Sfs.Outcome { try Sfs.run((["umount", place] + rest).map { RawPath($0) }) }

    /// A script in the mounted folder.
    func shell(_ script: String) throws -> Sfs.Outcome { try Sfs.shell("cd '\(place)' && { \(script)\n}") }

    static func mounts() throws -> [String] {
        let table = try FileDescriptor.open(RawPath("/proc/self/mounts"), .readOnly).readStream(limit: 1 << 20)
        return String(decoding: table, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    static func isMounted(_ place: String) throws -> Bool { try mounts().contains { $0.contains(" \(place.replacing(" ", with: "\\040")) ") } }
    var line: String? { try? Self.mounts().last { $0.contains(" \(place.replacing(" ", with: "\\040")) ") } }

    /// The process that has the vault open for writing.
    func holder() throws -> Int32? {
        let text = try Sfs.run("info", vault.path).lines.first { $0.hasPrefix("in use") } ?? ""
        return text.split(separator: " ").last.flatMap { Int32($0) }
    }
}

/// Waits as long as `condition` holds, at most ten seconds.
private func waitWhile(_ condition: () throws -> Bool) throws {
    for _ in 0..<1000 {
        if try !condition() { return }
        usleep(10000)
    }
    Issue.record("waited in vain")
}

@Suite(.serialized, .enabled(if: MountSupport.isThere, "/dev/fuse is missing")) struct MountTests {
    @Test func whatIsWrittenIsThereAfterARemount() throws {
        let fixture = try MountFixture { try $0.file("before", "made without a mount\n") }
        for round in 0..<5 {
            let mounted = try fixture.mount()
            #expect(mounted.code == 0 && mounted.text == "" && mounted.errors == "", "\(mounted)")
            #expect(fixture.line?.contains(" fuse.sfs rw,") == true, "\(fixture.line ?? "not mounted")")
            #expect(try fixture.shell("cat before && echo \(round) >> log && mkdir -p d/e && cp before d/e/copy").text == "made without a mount\n")
            // No wait between: the vault is free when umount returns.
            let unmounted = try fixture.umount()
            #expect(unmounted.code == 0 && unmounted.text == "" && unmounted.errors == "", "\(unmounted)")
            #expect(try !MountFixture.isMounted(fixture.place))
            #expect(try fixture.holder() == nil)
        }
        #expect(try fixture.vault.run("cat", "log").text == "0\n1\n2\n3\n4\n")
        #expect(try fixture.vault.run("ls", "-R").lines == ["before", "d", "log", "d/e", "d/e/copy"])
        #expect(try fixture.vault.run("check").lines.last == "clean")
        #expect(try !fixture.vault.run("check").text.contains("sessions"))
    }

    @Test func theBackgroundProcessHoldsNothingOfItsParent() throws {
        let fixture = try MountFixture()
        // A held pipe would keep the shell waiting; a held folder could not be removed.
        let script = """
            mkdir start && cd start && said=$("$SFS" mount '\(fixture.vault.path)' '\(fixture.place)' --passfile '\(fixture.vault.passfile)' 2>&1)
            echo "$? [$said]"; cd .. && rmdir start
            """
        let outcome = try Sfs.shell("cd '\(fixture.vault.folder.path)' && \(script)")
        #expect(outcome.text == "0 []\n" && outcome.errors == "", "\(outcome)")
        let holder = try #require(try fixture.holder())
        let links = try Sfs.shell("cd /proc/\(holder) && readlink cwd fd/0 fd/1 fd/2")
        #expect(links.lines == ["/", "/dev/null", "/dev/null", "/dev/null"], "\(links)")
        #expect(try fixture.umount().code == 0)
    }

    @Test func inTheForegroundItEndsCleanlyOnASignal() throws {
        let fixture = try MountFixture()
        let null = try FileDescriptor.open(RawPath("/dev/null"), .readWrite)
        let words = ["sfs", "mount", "-f", fixture.vault.path, fixture.place, "--passfile", fixture.vault.passfile]
        for number in [SIGTERM, SIGINT, SIGHUP] {
            let pid = try Sfs.spawn(Sfs.binary, words.map { RawPath($0) }, [], [null, null, null])
            try waitWhile { try !MountFixture.isMounted(fixture.place) }
            #expect(try fixture.shell("echo \(number) > signal").code == 0)
            #expect(try fixture.holder() == pid)
            kill(pid, number)
            #expect(Sfs.wait(for: pid, 60) == 0)
            #expect(try !MountFixture.isMounted(fixture.place))
            #expect(try fixture.vault.run("cat", "signal").text == "\(number)\n")
        }
        // Unmounted by others, it ends as well.
        let pid = try Sfs.spawn(Sfs.binary, words.map { RawPath($0) }, [], [null, null, null])
        try waitWhile { try !MountFixture.isMounted(fixture.place) }
        #expect(try fixture.umount().code == 0)
        #expect(Sfs.wait(for: pid, 60) == 0)
    }

    @Test func damagedFilesAreWrittenOverByRealPrograms() throws {
        let fixture = try MountFixture {
            try $0.file("letter", String(repeating: "old ", count: 2000))
            try $0.file("note", String(repeating: "old ", count: 20))
            try $0.file("log", "first\n")
            try $0.file("part", "0123456789")
        }
        for name in ["letter", "note"] { try fixture.vault.overwrite(fixture.vault.stored(name), at: 200, with: [1, 2, 3, 4, 5, 6, 7, 8]) }
        for name in ["log", "part"] { try fixture.vault.overwrite(fixture.vault.stored(name), at: 300, with: [1, 2, 3]) }
        #expect(try fixture.mount().code == 0)
        let outcome = try fixture.shell(
            """
            cat letter >/dev/null 2>&1; echo $?; cat note >/dev/null 2>&1; echo $?
            cat >../put.py <<'END'
            import os, sys
            file = os.open(sys.argv[1], os.O_WRONLY)
            try:
                os.pwrite(file, b"ab", int(sys.argv[2]))
            finally:
                os.close(file)
            END
            python3 ../put.py note 8 2>/dev/null; echo $?
            echo good >../good; cp ../good letter && cat letter; echo fine >note && cat note
            # Longer than they should be: what is appended goes where the content ends.
            echo second >>log && cat log
            python3 ../put.py part 8 2>/dev/null; echo $?; cat part; echo
            python3 ../put.py part 8 && cat part; echo
            """)
        #expect(outcome.lines == ["1", "1", "1", "good", "fine", "first", "second", "1", "0123456789", "01234567ab"], "\(outcome)")
        #expect(try fixture.umount().code == 0)
        #expect(try fixture.vault.run("cat", "part").text == "01234567ab")
        #expect(try fixture.vault.run("check").lines.last == "clean")
    }

    /// On ext4 such a file is longer than it should be while it is open.
    @Test func aMountThatIsKilledLeavesAFileThatGrewBySyncsAsLongAsItWas() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount().code == 0)
        let script = try fixture.vault.folder.file(
            "grow.py",
            """
            import os, sys
            file = os.open("log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            for step in range(40):
                os.write(file, bytes([65 + step % 26]) * 3000)
                os.fdatasync(file)
            print("synced", flush=True)
            sys.stdin.readline()
            """)
        let vault = fixture.vault
        let beside = try fixture.shell(
            """
            mkfifo ../in ../out; python3 '\(script)' <../in >../out & exec 8>../in 7<../out; read -r said <&7; echo "$said"
            '\(Sfs.binary)' check '\(vault.path)' --passfile '\(vault.passfile)' | tail -n 1
            '\(Sfs.binary)' cat '\(vault.path)' log --passfile '\(vault.passfile)' | sha256sum >../beside; sha256sum <log >../through; cmp ../beside ../through; echo $?
            stat -c %s log; kill -9 "$('\(Sfs.binary)' info '\(vault.path)' | sed -n 's/^in use.* //p')"; echo >&8; wait; echo ended
            """)
        #expect(beside.lines == ["synced", "clean", "0", "120000", "ended"], "\(beside)")
        #expect(try Sfs.run("umount", "--lazy", fixture.place).code == 0)
        #expect(try fixture.mount().code == 0)
        let again = try fixture.shell("stat -c %s log; sha256sum <log | cmp - ../through; echo $?; printf end >>log; stat -c %s log")
        #expect(again.lines == ["120000", "0", "120003"], "\(again)")
        #expect(try fixture.umount().code == 0)
        #expect(try vault.run("check").lines.last == "clean")
    }

    // MARK: Refusals

    @Test func mountPointsThatWillNotDo() throws {
        let fixture = try MountFixture()
        let vault = fixture.vault
        let file = try vault.folder.file("file", "x")
        let full = try vault.folder.folder("full")
        _ = try vault.folder.file("full/x", "x")
        let rows = [
            (fixture.place + "/none", "the mount point does not exist: make the directory first"),
            (file, "the mount point is not a directory"),
            (full, "the mount point is not empty; with -o nonempty its content is hidden while mounted"),
            (vault.path, "the mount point is inside the vault"),
            (vault.path + "/sub", "the mount point is inside the vault"),
            (vault.folder.path.description, "the vault is inside the mount point: it would hide itself"),
            ("/", "the vault is inside the mount point: it would hide itself"),
        ]
        try FileDescriptor.open(RawPath("/"), .pathOnly).makeDirectory(RawPath(vault.path + "/sub"), permissions: 0o755)
        for (place, message) in rows {
            // There is no passphrase: it is not asked for.
            let outcome = try Sfs.run("mount", vault.path, place)
            #expect(outcome.code == 7 && outcome.errors == "sfs mount: \(place): \(message)\n", "\(outcome)")
        }
        try FileDescriptor.open(vault.folder.path, .pathOnly).makeSymlink(RawPath("link"), target: RawPath(vault.path + "/sub"))
        #expect(try Sfs.run("mount", vault.path, vault.folder.path.description + "/link").code == 7)
        #expect(try Sfs.run("mount", vault.path, full, "-o", "nonempty,passfile=\(vault.passfile)").code == 0)
        #expect(try Sfs.run("umount", full).code == 0)
    }

    @Test func afterAFailureNothingIsMountedOrChanged() throws {
        let fixture = try MountFixture()
        let digest = "cd '\(fixture.vault.path)' && find . -type f | sort | xargs sha256sum && find . | sort"
        let before = try Sfs.shell(digest).text
        let wrong = try fixture.vault.folder.file("wrong", "wrong\n")
        let place = fixture.place
        let path = fixture.vault.path
        let rows: [(code: Int32, rest: [String], message: String)] = [
            (3, ["--passfile", wrong], "\(path): wrong passphrase"), (3, ["-f", "--passfile", wrong], "\(path): wrong passphrase"),
            (8, ["-o", "passfile=/none"], "/none: the passphrase file cannot be read: No such file or directory"),
            (2, ["-o", "ro,blksize=5"], "unknown mount option blksize=5"),
            (2, ["-o", "passfile=/none", "--passfile", wrong], "-o passfile and --passfile exclude each other"),
        ]
        for (code, rest, message) in rows {
            let outcome = try Sfs.run((["mount", path, place] + rest).map { RawPath($0) })
            #expect(outcome.code == code && outcome.errors.hasPrefix("sfs mount: \(message)\n"), "\(outcome)")
            #expect(try !MountFixture.isMounted(place))
        }
        #expect(try Sfs.shell(digest).text == before)
    }

    @Test func oneWriterAndAnyNumberOfReaders() throws {
        let fixture = try MountFixture { try $0.file("a", "content\n") }
        #expect(try fixture.mount().code == 0)
        let other = try fixture.vault.folder.folder("other")
        let holder = try #require(try fixture.holder())
        let refused = try Sfs.run("mount", fixture.vault.path, other)
        #expect(refused.code == 6, "\(refused)")
        #expect(refused.errors == "sfs mount: \(fixture.vault.path): the vault is in use by process \(holder) (sfs): unmount it there first\n")
        let same = try fixture.mount()
        #expect(same.code == 7 && same.errors.contains("the vault \(fixture.vault.path) is mounted there already"), "\(same)")

        #expect(try Sfs.run("mount", fixture.vault.path, other, "-o", "ro", "--passfile", fixture.vault.passfile).code == 0)
        #expect(try Sfs.shell("cat '\(other)/a'").text == "content\n")
        let written = try Sfs.shell("echo x > '\(other)/b'")
        #expect(written.code != 0 && written.errors.contains("Read-only file system"), "\(written)")
        #expect(try Sfs.run("umount", other).code == 0)
        #expect(try fixture.vault.run("cat", "a").text == "content\n")
        #expect(try fixture.vault.run("check").code == 0)
        #expect(try fixture.umount().code == 0)
    }

    @Test func optionsOfMountReachTheKernel() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount("-o", "noexec,noatime,defaults,_netdev", "-oallow_other,x-gvfs-hide").code == 0)
        let line = fixture.line ?? ""
        for option in ["noexec", "noatime", "nosuid", "nodev", "allow_other"] { #expect(line.contains(option), "\(line)") }
        #expect(try fixture.shell("cp /bin/true . && ./true").errors.contains("Permission denied"))
        #expect(try fixture.umount().code == 0)
    }

    // MARK: Unmounting

    @Test func whoKeepsAMountBusyIsNamed() throws {
        let fixture = try MountFixture { try $0.file("open me", "x") }
        #expect(try fixture.mount().code == 0)
        let null = try FileDescriptor.open(RawPath("/dev/null"), .readWrite)
        let open = try FileDescriptor.open(RawPath(fixture.place + "/open me"), .readOnly)
        let sleepers = try ["cd '\(fixture.place)' && exec sleep 60", "exec sleep 61"].map {
            try Sfs.spawn(RawPath("/bin/sh"), ["sh", "-c", $0].map { RawPath($0) }, [], [open, null, null])
        }
        try open.close()
        for pid in sleepers { try waitWhile { try !Sfs.shell("cat /proc/\(pid)/comm").text.hasPrefix("sleep") } }
        let busy = try fixture.umount()
        #expect(busy.code == 14, "\(busy)")
        #expect(busy.errors.hasPrefix("sfs umount: \(fixture.place): in use: nothing was done. Close what uses it and try again, or use --lazy\n"))
        #expect(busy.errors.contains("  process \(sleepers[0]) (sleep): its working directory\n"), "\(busy)")
        #expect(busy.errors.contains("  process \(sleepers[1]) (sleep): has open: open me\n"), "\(busy)")
        #expect(try MountFixture.isMounted(fixture.place))

        let lazy = try fixture.umount("--lazy")
        #expect(lazy.code == 0 && lazy.errors.contains("detached, but still in use: process "), "\(lazy)")
        #expect(try !MountFixture.isMounted(fixture.place))
        for pid in sleepers {
            kill(pid, SIGKILL)
            _ = Sfs.wait(for: pid, 10)
        }
        try waitWhile { try fixture.holder() != nil }
        #expect(try fixture.mount().code == 0)
        #expect(try fixture.umount().code == 0)
    }

    @Test func whatIsNotMountedIsNotUnmounted() throws {
        let folder = try TemporaryFolder()
        let nothing = try Sfs.run("umount", folder.path.description)
        #expect(nothing.code == 18 && nothing.errors == "sfs umount: \(folder.path): nothing is mounted there\n", "\(nothing)")
        let missing = try Sfs.run("umount", folder.path.description + "/none")
        #expect(missing.code == 18 && missing.errors.hasSuffix("cannot be looked at: No such file or directory\n"), "\(missing)")
        let proc = try Sfs.run("umount", "/proc")
        #expect(proc.code == 18 && proc.errors == "sfs umount: /proc: what is mounted there is no vault (proc): use umount(8)\n", "\(proc)")
    }

    @Test func aMountWhoseProcessHasDiedIsClearedByTheNext() throws {
        let fixture = try MountFixture()
        for _ in 0..<2 {
            #expect(try fixture.mount().code == 0)
            #expect(try fixture.shell("echo safe > kept && sync kept").code == 0)
            let holder = try #require(try fixture.holder())
            kill(holder, SIGKILL)
            try waitWhile { try Sfs.shell("ls '\(fixture.place)'").code == 0 }
            #expect(try fixture.holder() == nil)
        }
        let again = try fixture.mount()
        #expect(again.code == 0 && again.errors == "", "\(again)")
        #expect(try fixture.shell("cat kept").text == "safe\n")
        // And umount clears one as well.
        kill(try #require(try fixture.holder()), SIGKILL)
        try waitWhile { try Sfs.shell("ls '\(fixture.place)'").code == 0 }
        #expect(try fixture.umount().code == 0)
        #expect(try !MountFixture.isMounted(fixture.place))
        let settled = try fixture.vault.run("check", "--settle")
        #expect(settled.code == 0 && settled.text.contains("forgot 3 sessions"), "\(settled)")
    }

    @Test func aReadOnlyMountIsWaitedForToo() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount("-o", "ro").code == 0)
        let serving = "for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/cmdline | grep -qxF '\(fixture.place)' && cat $p/comm; done 2>/dev/null"
        #expect(try Sfs.shell(serving).text == "sfs\n")
        #expect(try fixture.umount().code == 0)
        #expect(try Sfs.shell(serving).text == "")
    }

    // MARK: Names

    @Test(arguments: [("with space", "mount point"), ("a,b\\c", "d,e\\f"), ("-v", "-m"), ("quo'te", "x\"y"), ("new\nline", "tab\tbed"), ("ü", "日本")])
    func pathsAreAnyText(_ vaultName: String, _ placeName: String) throws {
        let fixture = try MountFixture(named: vaultName, place: placeName) { try $0.file("a", "content") }
        let script = """
            cd "$1" && "$SFS" mount --passfile passfile -- "$2" "$3" && cat ./"$3"/a && "$SFS" umount -- "$3" && ls -A ./"$3"
            """
        let words = ["-c", script, "sh", fixture.vault.folder.path.description, vaultName, placeName]
        let outcome = try Sfs.run(program: RawPath("/bin/sh"), words.map { RawPath($0) })
        #expect(outcome.code == 0 && outcome.text == "content" && outcome.errors == "", "\(outcome)")
    }

    @Test func pathsAreAnyBytes() throws {
        let vault = try TestVault { try $0.file("a", "content") }
        let folder = try FileDescriptor.open(vault.folder.path, [.readOnly, .directory])
        let names = [RawPath([0x76, 0xff, 0x2c, 0xc3]), RawPath([0x6d, 0xfe, 0x20])]
        try folder.rename(RawPath("vault"), to: folder, names[0])
        try folder.makeDirectory(names[1], permissions: 0o755)
        let paths = names.map { vault.folder.path.appending($0) }
        let mounted = try Sfs.run([RawPath("mount"), paths[0], paths[1], RawPath("--passfile"), RawPath(vault.passfile)])
        #expect(mounted.code == 0, "\(mounted)")
        #expect(try FileDescriptor.open(paths[1].appending("a"), .readOnly).readAll(limit: 100) == Array("content".utf8))
        let twice = try Sfs.run([RawPath("mount"), paths[0], vault.folder.path, RawPath("-o"), RawPath("nonempty")])
        #expect(twice.code == 7, "\(twice)")
        #expect(try Sfs.run([RawPath("umount"), paths[1]]).code == 0)
        #expect(try Sfs.run([RawPath("mount"), paths[0], paths[1], RawPath("--passfile"), RawPath(vault.passfile)]).code == 0)
        #expect(try Sfs.run([RawPath("umount"), paths[1]]).code == 0)
    }

    @Test func symlinksLeadToTheirPlaces() throws {
        let fixture = try MountFixture { try $0.file("a", "content") }
        let folder = try FileDescriptor.open(fixture.vault.folder.path, [.readOnly, .directory])
        try folder.makeSymlink(RawPath("lv"), target: RawPath("vault"))
        try folder.makeSymlink(RawPath("lm"), target: RawPath("mnt"))
        let base = fixture.vault.folder.path.description
        #expect(try Sfs.run("mount", "\(base)/lv", "\(base)/lm/", "--passfile", fixture.vault.passfile).code == 0)
        #expect(fixture.line?.hasPrefix("\(fixture.vault.path) \(fixture.place) ") == true, "\(fixture.line ?? "")")
        #expect(try Sfs.run("umount", "\(base)/lm").code == 0)
        // Of a mount whose process has died nothing can be looked at but the link.
        #expect(try fixture.mount().code == 0)
        kill(try #require(try fixture.holder()), SIGKILL)
        try waitWhile { try Sfs.shell("ls '\(fixture.place)'").code == 0 }
        #expect(try Sfs.run("umount", "\(base)/lm").code == 0)
    }

    // MARK: mount(8)

    @Test func theFormOfMountHelpersMounts() throws {
        let fixture = try MountFixture { try $0.file("a", "content") }
        let options = "rw,nosuid,nodev,nofail,passfile=\(fixture.vault.passfile)"
        let outcome = try Sfs.run(fixture.vault.path, fixture.place, "-o", options)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try fixture.shell("cat a").text == "content")
        #expect(try fixture.umount().code == 0)
    }

    @Test(.enabled(if: MountSupport.isRoot && (try? FileDescriptor.open(RawPath("/sbin/mount.fuse3"), .pathOnly)) != nil))
    func mountOfTheSystemMounts() throws {
        let fixture = try MountFixture(named: "my vault", place: "my place") { try $0.file("a", "content") }
        let fields = [fixture.vault.path, fixture.place].map { $0.replacing(" ", with: "\\040") }
        let options = ["fuse.sfs", "passfile=\(fixture.vault.passfile),noauto,noexec", "0", "0"]
        let fstab = try fixture.vault.folder.file("fstab", (fields + options).joined(separator: " ") + "\n")
        // mount(8) gives its helpers a search path of its own: put the command there, in mounts of nobody else's.
        let script = """
            mount -t tmpfs none /usr/local/sbin && ln -s "$SFS" /usr/local/sbin/sfs &&
            mount -T '\(fstab)' '\(fixture.place)' && cat '\(fixture.place)/a' && grep -c noexec /proc/mounts >&2 && "$SFS" umount '\(fixture.place)'
            """
        let outcome = try Sfs.run(
            program: RawPath("/usr/bin/unshare"), ["-m", "sh", "-c", script].map { RawPath($0) }, environment: ["SFS=\(Sfs.binary)"])
        #expect(outcome.code == 0 && outcome.text == "content", "\(outcome)")
        #expect(try fixture.vault.run("check").lines.last == "clean")
    }

    @Test(.enabled(if: MountSupport.isRoot)) func withoutFuseItIsSaid() throws {
        let fixture = try MountFixture()
        let script = "mount -t tmpfs none /dev && \"$SFS\" mount '\(fixture.vault.path)' '\(fixture.place)'"
        let outcome = try Sfs.run(
            program: RawPath("/usr/bin/unshare"), ["-m", "sh", "-c", script].map { RawPath($0) })
        #expect(outcome.code == 15 && outcome.errors.hasPrefix("sfs mount: /dev/fuse: FUSE does not work here (No such file or directory)"), "\(outcome)")
    }
}
