import Foundation
import Testing

/// A real mount, in a process of its own, used by real programs.
@Suite(.serialized) struct MountSmokeTests {
    /// Nil where there is no FUSE: said loudly, and a failure where REQUIRE_FUSE=1 asks for one.
    private static var canMount: Bool {
        if FileManager.default.isReadableFile(atPath: "/dev/fuse") { return true }
        if ProcessInfo.processInfo.environment["REQUIRE_FUSE"] == "1" { return true }  // and then fails
        FileHandle.standardError.write(Data("SKIPPED: no /dev/fuse, no mount is tested (REQUIRE_FUSE=1 makes this a failure)\n".utf8))
        return false
    }

    @Test(.enabled(if: canMount), .timeLimit(.minutes(2))) func filesSurviveARemount() throws {
        let mount = try TemporaryMount()
        defer { mount.remove() }
        try mount.mount()
        try mount.shell("cp -r /usr/include/linux copy && diff -r /usr/include/linux copy")
        try mount.shell("printf hello > a && ln a b && ln -s a l && printf ' world' >> b && test \"$(cat l)\" = 'hello world'")
        try mount.shell("mkdir d && mv a d/ && chmod 444 d/a && touch -d '2001-02-03 04:05:06.789' b && rm -r copy/netfilter")
        try mount.shell("dd if=/dev/urandom of=big bs=1M count=8 status=none && sha256sum big > sum")
        try mount.shell("exec 3>gone; rm gone; echo x >&3; truncate -s 5 big2; mv -T d e")
        try mount.unmount()
        try mount.mount()
        try mount.shell("sha256sum -c --status sum && test \"$(cat e/a)\" = 'hello world' && test \"$(stat -c %h,%Y b)\" = 2,981173106")
        try mount.shell("test -z \"$(diff -r /usr/include/linux copy | grep -v netfilter)\" && test ! -e gone && test $(stat -c %s big2) = 5")
        try mount.unmount()
    }

    @Test(.enabled(if: canMount), .timeLimit(.minutes(2))) func aSignalLosesNothing() throws {
        let mount = try TemporaryMount()
        defer { mount.remove() }
        try mount.mount()
        try mount.shell("head -c 3000000 /dev/zero | tr '\\0' x > file; printf small > s")
        mount.terminate()
        try mount.mount()
        try mount.shell("test $(tr -d x < file | wc -c) = 0 && test $(stat -c %s file) = 3000000 && test \"$(cat s)\" = small")
        try mount.unmount()
    }

    @Test(.enabled(if: canMount), .timeLimit(.minutes(2))) func aDeadMountIsClearedByTheNext() throws {
        let mount = try TemporaryMount()
        defer { mount.remove() }
        try mount.mount()
        try mount.shell("echo kept > file && sync -f file && sync file")
        mount.kill()
        try mount.mount()
        try mount.shell("test \"$(cat file)\" = kept")
        try mount.unmount()
    }

    @Test(.enabled(if: canMount), .timeLimit(.minutes(2))) func namesOfAllBytesAndLengths() throws {
        let mount = try TemporaryMount()
        defer { mount.remove() }
        try mount.mount()
        try mount.shell(
            """
            python3 - <<'P'
            import os
            names = [b'n' * n for n in range(1, 256)] + [bytes([b]) * 200 for b in range(1, 256) if b not in (46, 47)]
            names = sorted(set(names))
            for n in names: open(n, 'wb').write(n)
            assert sorted(os.listdir(b'.')) == names
            for n in names: assert open(n, 'rb').read() == n
            try: open(b'n' * 256, 'wb'); assert False
            except OSError as e: assert e.errno == 36
            for n in names: os.unlink(n)
            assert os.listdir(b'.') == []
            P
            """)
        try mount.unmount()
    }
}

/// A vault and a mount point in a folder of their own; unmounted and removed in any case.
final class TemporaryMount {
    private let folder = NSTemporaryDirectory() + "sfs-mount-" + UUID().uuidString
    private var point: String { folder + "/mnt" }
    private var server: Process?

    struct Failure: Error, CustomStringConvertible { var description: String }

    init() throws { try FileManager.default.createDirectory(atPath: point, withIntermediateDirectories: true) }

    func mount() throws {
        let own = Bundle.main.executableURL?.deletingLastPathComponent() ?? URL(fileURLWithPath: ".build/debug")
        let process = Process()
        process.executableURL = own.appendingPathComponent("passthrough-mount")
        process.arguments = ["--vault", folder + "/vault", point]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        server = process
        // One line when it is ready, or the end of the stream.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard line.hasPrefix("ready") else { throw Failure(description: "not mounted: \(line)") }
    }

    func shell(_ script: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "set -e; cd \"$0\"; " + script, point]
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failure(description: "exit \(process.terminationStatus): \(script)") }
    }

    func unmount() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/umount")
        process.arguments = [point]
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failure(description: "umount failed") }
        server?.waitUntilExit()
        let status = server?.terminationStatus
        server = nil
        if status != 0 { throw Failure(description: "the server ended with \(String(describing: status))") }
    }

    func terminate() {
        server?.terminate()
        server?.waitUntilExit()
        server = nil
    }

    func kill() {
        if let server { Foundation.kill(server.processIdentifier, SIGKILL) }
        server?.waitUntilExit()
        server = nil
    }

    func remove() {
        kill()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "umount -l \"$0\" 2>/dev/null; true", point]
        try? process.run()
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
