import Glibc
import SecureFileCore
import Testing

/// As a user without privileges: root is refused nothing, so these need root to become somebody else.
@Suite(.serialized, .enabled(if: MountSupport.isRoot, "only root can become another user")) struct UserTests {
    /// A script as the user nobody, `$SFS` a copy of the command that it can reach.
    func shell(_ script: String, in folder: TemporaryFolder, user: Int = 65534) throws -> Sfs.Outcome {
        let copy = folder.path.appending("sfs").description
        let prepare = "chmod 755 '\(folder.path)'; [ -x '\(copy)' ] || install -m 755 '\(Sfs.binary)' '\(copy)'"
        #expect(try Sfs.shell(prepare).code == 0)
        let words = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "sh", "-c", "SFS='\(copy)'; cd '\(folder.path)'; \(script)"]
        return try Sfs.run(program: RawPath("/usr/bin/setpriv"), words.map { RawPath($0) })
    }

    /// A vault that belongs to nobody.
    func vault() throws -> TestVault {
        let vault = try TestVault {
            try $0.file("a", "content")
            _ = try $0.directory("d")
        }
        #expect(try Sfs.shell("chown -R 65534:65534 '\(vault.path)' '\(vault.passfile)'").code == 0)
        return vault
    }

    @Test func whatMayNotBeReadIsSaid() throws {
        let vault = try vault()
        let folder = vault.folder
        let closed = try folder.folder("closed")
        unsafe chmod(closed, 0o000)
        let rows: [(script: String, code: Int32, message: String)] = [
            ("\"$SFS\" info closed/v", 11, "sfs info: closed/v: the vault's folder cannot be opened: Permission denied\n"),
            ("\"$SFS\" init closed/v </dev/null", 11, "sfs init: closed/v: no vault can be made there: Permission denied\n"),
            (
                "chmod 0 passfile; \"$SFS\" ls vault --passfile passfile; x=$?; chmod 600 passfile; exit $x", 8,
                "sfs ls: passfile: the passphrase file cannot be read: Permission denied\n"
            ),
            (
                "chmod 0 vault/sfs.json; \"$SFS\" ls vault --passfile passfile; x=$?; chmod 600 vault/sfs.json; exit $x", 11,
                "sfs ls: vault: the vault's configuration cannot be read: Permission denied\n"
            ),
        ]
        for (script, code, message) in rows {
            let outcome = try shell(script, in: folder)
            #expect(outcome.code == code && outcome.errors == message, "\(outcome)")
        }
        #expect(try shell("\"$SFS\" init new --kdf-memory 8 </dev/null", in: folder).code == 8)
    }

    @Test func anUnreadableFileIsNoDamage() throws {
        let vault = try vault()
        unsafe chmod(try vault.stored("a"), 0o000)
        let outcome = try shell("\"$SFS\" check vault --passfile passfile", in: vault.folder)
        #expect(outcome.code == 11, "\(outcome)")
        #expect(outcome.lines[0].hasPrefix("unreadable: a [") && outcome.lines[0].hasSuffix("the file cannot be opened: Permission denied"))
        #expect(outcome.lines.last == "found: 1 unreadable")
        let cat = try shell("\"$SFS\" cat vault a --passfile passfile", in: vault.folder)
        #expect(cat.code == 11 && cat.errors == "sfs cat: a: cannot be opened: Permission denied\n", "\(cat)")
    }

    @Test func anUnreadableDirectoryIsLeftOut() throws {
        let vault = try vault()
        unsafe chmod(try vault.stored("d"), 0o000)
        let outcome = try shell("\"$SFS\" ls -R vault --passfile passfile", in: vault.folder)
        #expect(outcome.code == 11 && outcome.lines == ["a", "d"], "\(outcome)")
        #expect(outcome.errors.hasPrefix("sfs ls: d: "), "\(outcome)")
        #expect(try shell("\"$SFS\" check vault --passfile passfile", in: vault.folder).code == 11)
    }

    /// Runs steps as nobody where everybody may open /dev/fuse, as is usual; each prints its exit code. Mounts are the script's own.
    func mountScript(_ vault: TestVault, asRoot: String = ":", _ steps: String) throws -> Sfs.Outcome {
        let folder = vault.folder.path
        unsafe chown(try vault.folder.folder("mnt"), 65534, 65534)
        let script = """
            chmod 755 '\(folder)' && install -m 755 '\(Sfs.binary)' '\(folder)/sfs' && cd '\(folder)' &&
            mknod fuse c 10 229 && chmod 666 fuse && mount --bind fuse /dev/fuse && { \(asRoot); } &&
            exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'try() { "$@"; echo "code $?"; }; sfs="\(folder)/sfs"; \(steps)'
            """
        return try Sfs.run(program: RawPath("/usr/bin/unshare"), ["-m", "sh", "-c", script].map { RawPath($0) })
    }

    @Test(.enabled(if: MountSupport.isThere)) func mountsWithoutRoot() throws {
        let vault = try vault()
        let outcome = try mountScript(
            vault,
            """
            try "$sfs" mount vault mnt --passfile passfile
            try cat mnt/a
            try sh -c "echo more > mnt/b"
            cd mnt; exec 3<a; try "$sfs" umount ../mnt; exec 3<&-; cd ..
            try "$sfs" umount mnt
            try "$sfs" mount vault mnt --passfile passfile
            try cat mnt/b
            try "$sfs" umount mnt
            try "$sfs" mount vault /usr --passfile passfile -o nonempty
            """)
        let expected = ["code 0", "contentcode 0", "code 0", "code 14", "code 0", "code 0", "more", "code 0", "code 0", "code 7"]
        #expect(outcome.lines == expected, "\(outcome)")
        #expect(outcome.errors.contains("(sh): its working directory"), "\(outcome)")
        #expect(outcome.errors.hasSuffix("sfs mount: /usr: the mount point is not yours to write to; FUSE mounts only there\n"), "\(outcome)")
        #expect(try vault.run("check").lines.last == "clean")
    }

    @Test(.enabled(if: MountSupport.isThere)) func anotherUsersMountIsNotUnmounted() throws {
        let fixture = try MountFixture()
        #expect(try fixture.mount("-o", "allow_other").code == 0)
        let other = try shell("\"$SFS\" umount mnt", in: fixture.vault.folder)
        #expect(other.code == 11, "\(other)")
        #expect(other.errors.hasPrefix("sfs umount: mnt: cannot be unmounted; only who has mounted it, or root, can: "), "\(other)")
        #expect(try fixture.isMounted())
        #expect(try fixture.umount().code == 0)
    }

    @Test(.enabled(if: MountSupport.isThere)) func withoutFusermountItIsSaid() throws {
        let vault = try vault()
        let outcome = try mountScript(
            vault, asRoot: "mount --bind /dev/null /usr/bin/fusermount3", "try \"$sfs\" mount vault mnt --passfile passfile; try \"$sfs\" umount mnt")
        #expect(outcome.text == "code 15\ncode 18\n" && outcome.errors.contains("sfs mount: mnt: cannot be mounted: "), "\(outcome)")
        #expect(try vault.run("check").lines.last == "clean")
    }

    @Test func withoutTheDeviceItIsSaid() throws {
        let vault = try vault()
        let folder = vault.folder.path
        unsafe chown(try vault.folder.folder("mnt"), 65534, 65534)
        let script = """
            chmod 755 '\(folder)' && install -m 755 '\(Sfs.binary)' '\(folder)/sfs' && cd '\(folder)' &&
            touch fuse && chmod 600 fuse && mount --bind fuse /dev/fuse &&
            exec setpriv --reuid=65534 --regid=65534 --clear-groups ./sfs mount vault mnt
            """
        let outcome = try Sfs.run(program: RawPath("/usr/bin/unshare"), ["-m", "sh", "-c", script].map { RawPath($0) })
        #expect(outcome.code == 15 && outcome.errors.hasPrefix("sfs mount: /dev/fuse: FUSE does not work for this user"), "\(outcome)")
    }
}

/// Filesystems that are full, or read-only.
@Suite(.serialized, .enabled(if: MountSupport.isRoot, "only root can mount other filesystems")) struct FilesystemTests {
    /// A script with mounts of its own; `try` prints exit codes.
    func script(_ vault: TestVault, _ steps: String) throws -> Sfs.Outcome {
        let script = "try() { \"$@\"; echo \"code $?\"; }; cd '\(vault.folder.path)' && \(steps)"
        return try Sfs.run(
            program: RawPath("/usr/bin/unshare"), ["-m", "sh", "-c", script].map { RawPath($0) }, environment: ["SFS=\(Sfs.binary)"])
    }

    @Test func aFullOneIsSaidAndNothingIsLeft() throws {
        let vault = try TestVault()
        let outcome = try script(
            vault,
            """
            mkdir full && mount -t tmpfs -o size=64k none full && dd if=/dev/zero of=full/filler bs=4k 2>/dev/null
            try "$SFS" init full/v --passfile passfile --kdf-memory 8 --kdf-passes 1
            ls -A full
            rm full/filler; cp -a vault full/vault; dd if=/dev/zero of=full/filler bs=4k 2>/dev/null; sha256sum full/vault/sfs.json >before
            try "$SFS" passwd full/vault --passfile passfile --new-passcommand "echo new"
            sha256sum full/vault/sfs.json | cmp - before; ls -A full/vault | grep tmp
            try "$SFS" ls full/vault --passfile passfile
            """)
        #expect(outcome.lines == ["code 12", "filler", "code 12", "code 0"], "\(outcome)")
        #expect(outcome.errors.hasPrefix("sfs init: full/v: ") && outcome.errors.contains(": No space left on device\nsfs passwd: full/vault: "), "\(outcome)")
    }

    @Test(.enabled(if: MountSupport.isThere)) func aReadOnlyOneCanBeReadAndChecked() throws {
        let vault = try TestVault { try $0.file("a", "content\n") }
        let outcome = try script(
            vault,
            """
            mkdir mnt && mount --bind vault vault && mount -o remount,ro,bind vault
            try "$SFS" ls vault --passfile passfile
            try "$SFS" cat vault a --passfile passfile
            try "$SFS" check vault --passfile passfile | tail -n 2
            try "$SFS" check vault --settle --passfile passfile
            try "$SFS" passwd vault --passfile passfile --new-passcommand "echo new"
            try "$SFS" init vault/new --passfile passfile --kdf-memory 8 --kdf-passes 1
            try "$SFS" mount vault mnt --passfile passfile
            try "$SFS" mount vault mnt --passfile passfile -o ro
            try cat mnt/a
            try "$SFS" umount mnt
            """)
        let expected = [
            "a", "code 0", "content", "code 0", "clean", "code 0", "code 11", "code 11", "code 11", "code 11", "code 0", "content", "code 0", "code 0",
        ]
        #expect(outcome.lines == expected, "\(outcome)")
        for line in outcome.errors.split(separator: "\n") { #expect(line.hasSuffix(": Read-only file system"), "\(line)") }
    }
}
