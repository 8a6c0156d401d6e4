import Foundation

/// One case, from an empty folder to an empty folder: makes a vault, mounts it, runs the script, unmounts, and looks at what is left.
///
/// A problem does not end it: everything is always taken down again, whatever failed and whatever hangs.
final class MountRun: @unchecked Sendable {
    private let subject: MountCase
    private let folder: String
    private(set) var problems: [String] = []

    private var vault: String { folder + "/vault" }
    private var mountPoint: String { folder + "/mount" }
    private var work: String { folder + "/work" }
    private var passfile: String { folder + "/pass" }
    private var daemonLog: String { folder + "/daemon.log" }
    private var log: String { folder + "/log" }
    /// Beside the folder, for when the folder goes.
    private var lastLog: String { folder + ".log" }

    static let passphrase = "the passphrase of a test"
    /// Directories that the daemon may keep open for later.
    static let keptDirectories = 66

    private init(_ subject: MountCase, folder: String) {
        self.subject = subject
        self.folder = folder
    }

    /// - Returns: What is wrong: nothing where all is well.
    static func problems(of subject: MountCase) async -> [String] {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        let folder = "\(base)/mount-\(subject.name).\(UInt32.random(in: 0...UInt32.max))"
        do { try makeDirectory(folder) } catch { return ["\(folder): \(error)"] }
        let run = MountRun(subject, folder: folder)
        await run.everything()
        if run.problems.isEmpty { return [] }
        return run.problems + [run.repro]
    }

    private func everything() async {
        await setUp()
        if problems.isEmpty {
            let before = Daemon.find(environment)?.descriptors
            let outcome = await Command.run(
                ["/bin/bash", subject.script], environment: environment, log: log, limit: subject.limit, diagnose: diagnose, release: killDaemons)
            if outcome.timedOut { problems.append("\(subject.name): no end within \(Int(subject.limit)) seconds:\n\(outcome.lastLines)") }
            if outcome.status != 0, !outcome.timedOut { problems.append("\(subject.name): exit \(outcome.status):\n\(outcome.lastLines)") }
            if outcome.status == 0, !outcome.timedOut { await afterwards(before) }
        }
        await takeDown()
    }

    private var environment: [String: String] {
        var all = [
            "SFS_BINARY": MountEnvironment.binary, "M": mountPoint, "V": vault, "W": work, "PASSFILE": passfile, "OPTIONS": subject.options,
            "REMOUNT": "\(MountEnvironment.control) restart", "LOG": subject.isInBackground ? "" : daemonLog,
        ]
        all["NOFILE"] = subject.descriptorLimit
        return all
    }

    // MARK: Steps

    private func setUp() async {
        if subject.isInMemory, MountEnvironment.isRoot { await expect(["/bin/mount", "-t", "tmpfs", "-o", "mode=755,size=4g", "tmpfs", folder]) }
        do {
            for directory in [mountPoint, work] { try Self.makeDirectory(directory) }
            try Data("\(Self.passphrase)\n".utf8).write(to: URL(filePath: passfile))
        } catch { problems.append("\(error)") }
        if problems.isEmpty { await sfs(["init", vault, "--kdf-memory", "64", "--kdf-passes", "1"]) }
        if problems.isEmpty { await expect([MountEnvironment.control, "start"]) }
        if problems.isEmpty, Daemon.find(environment) == nil { problems.append("mounted, but no process serves it") }
    }

    private func afterwards(_ before: [String]?) async {
        await checkDescriptors(before)
        var plain: String?
        if subject.isCompared { plain = await read(["tree-digest", "--plain", mountPoint]) }
        let server = Daemon.find(environment)
        if server != nil { await expect([MountEnvironment.control, "stop"], limit: 180) } else if isMounted { problems.append("mounted, but no process serves it") }
        if let server, !server.hasEnded(within: 1) { problems.append("process \(server.pid) goes on after the unmount") }
        if isMounted { problems.append("still mounted after the unmount") }
        let checked = await sfs(["check", vault], limit: 300)
        if let last = checked?.output.split(separator: "\n").last, last != "clean" { problems.append("sfs check: \(checked?.lastLines ?? "")") }
        if let plain { await compare(plain) }
        let said = (try? String(contentsOfFile: daemonLog, encoding: .utf8)) ?? ""
        if !said.isEmpty { problems.append("the daemon says, although nothing is wrong:\n\(said.prefix(2000))") }
    }

    private func compare(_ plain: String) async {
        guard let stored = await read([vault, "--passfile", passfile, "tree-digest"]), stored != plain else { return }
        let (mine, theirs) = (Set(plain.split(separator: "\n")), Set(stored.split(separator: "\n")))
        let differences = mine.subtracting(theirs).sorted().prefix(5).map { "  mount:  \($0)" } + theirs.subtracting(mine).sorted().prefix(5).map { "  reader: \($0)" }
        problems.append("the independent reader finds another tree:\n" + differences.joined(separator: "\n"))
    }

    /// What the reference reader prints, its lines sorted.
    private func read(_ words: [String]) async -> String? {
        let errors = problems.count
        let words = ["/usr/bin/python3", MountEnvironment.repository + "/scripts/reference_reader.py"] + words
        let outcome = await expect(words, limit: 300)
        return problems.count > errors ? nil : outcome.output.split(separator: "\n").sorted().joined(separator: "\n")
    }

    /// Files that nobody has open any more are not kept open by the daemon.
    private func checkDescriptors(_ before: [String]?) async {
        guard let before, let server = Daemon.find(environment) else { return }
        let deadline = Date().addingTimeInterval(20)
        var files: [String] = []
        var others = 0
        repeat {
            let all = server.descriptors ?? []
            files = all.filter { $0.hasPrefix(vault + "/") && !$0.hasSuffix("/sfs.lock") && !Self.isDirectory($0) }
            others = all.count - files.count
            if files.isEmpty { break }
            try? await Task.sleep(for: .milliseconds(100))
        } while Date() < deadline
        if !files.isEmpty { problems.append("\(files.count) files of the vault are still open in the daemon: \(files.prefix(3))") }
        if others > before.count + Self.keptDirectories { problems.append("\(others) descriptors are open, \(before.count) were before") }
    }

    /// Cases look at it as other users, too.
    private static func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    }

    private static func isDirectory(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType == .typeDirectory
    }

    /// Ends whatever is left, and says so.
    private func takeDown() async {
        if isMounted { _ = await Command.run([MountEnvironment.control, "stop"], environment: environment, log: log, limit: 30, release: killDaemons) }
        killDaemons()
        for place in mounts().reversed() where place != folder {
            if problems.isEmpty { problems.append("left mounted: \(place)") }
            _ = await Command.run(["/bin/umount", "-l", place], log: lastLog, limit: 30)
            _ = await Command.run(["/usr/bin/fusermount3", "-u", "-z", place], log: lastLog, limit: 30)
        }
        if mounts().contains(folder) { _ = await Command.run(["/bin/umount", "-l", folder], log: lastLog, limit: 30) }
        _ = await Command.run(["/bin/chmod", "-R", "u+rwX", folder], log: lastLog, limit: 60)
        let removed = await Command.run(["/bin/rm", "-rf", "--one-file-system", folder], log: lastLog, limit: 120)
        if removed.status != 0 { problems.append("cannot be removed: \(folder)") }
        try? FileManager.default.removeItem(atPath: lastLog)
    }

    private func killDaemons() {
        while let server = Daemon.find(environment) {
            if problems.isEmpty { problems.append("left running: process \(server.pid)") }
            kill(server.pid, SIGKILL)
            if server.hasEnded(within: 10) { continue }
            problems.append("process \(server.pid) does not end by SIGKILL: it waits in the kernel, for its own mount perhaps")
            Daemon.abortMounts(environment)
            if !server.hasEnded(within: 10) { return }
        }
    }

    // MARK: Helpers

    @discardableResult private func expect(_ words: [String], limit: Double = 120) async -> Outcome {
        let outcome = await Command.run(words, environment: environment, log: log, limit: limit, diagnose: diagnose, release: killDaemons)
        if outcome.status != 0 {
            problems.append("\(words.joined(separator: " ")): \(outcome.timedOut ? "no end" : "exit \(outcome.status)"):\n\(outcome.lastLines)")
        }
        return outcome
    }

    @discardableResult private func sfs(_ words: [String], limit: Double = 120) async -> Outcome? {
        let errors = problems.count
        let outcome = await expect([MountEnvironment.binary] + words + ["--passfile", passfile], limit: limit)
        return problems.count > errors ? nil : outcome
    }

    private func mounts() -> [String] {
        let table = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        let places = table.split(separator: "\n").compactMap { line in line.split(separator: " ").dropFirst().first.map(String.init) }
        return places.filter { $0 == folder || $0.hasPrefix(folder + "/") }
    }

    private var isMounted: Bool { mounts().contains(mountPoint) }

    /// Who waits for what, when something hangs.
    private func diagnose() -> String {
        var lines = ["processes that wait:"]
        let mine = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
        for pid in mine.sorted() {
            let words = (try? Data(contentsOf: URL(filePath: "/proc/\(pid)/cmdline"))).map { String(decoding: $0.map { $0 == 0 ? 32 : $0 }, as: UTF8.self) } ?? ""
            guard words.contains(folder) else { continue }
            for thread in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? [] {
                let place = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/wchan", encoding: .utf8)) ?? "?"
                lines.append("  \(pid) \(thread) \(place) \(words.prefix(120))")
            }
        }
        return lines.joined(separator: "\n")
    }

    private var repro: String {
        let variables = ["SEED", "STEPS", "BIG_MIB", "MANY_FILES"].compactMap { name in ProcessInfo.processInfo.environment[name].map { "\(name)=\($0) " } }
        return """
            To repeat it:
              \(variables.joined())SFS_BINARY=\(MountEnvironment.binary) scripts/mount-case --keep \(subject.isInBackground ? "" : "--foreground ")\(subject.name)
            or by hand:
              D=$(mktemp -d); mkdir $D/mount $D/work; echo '\(Self.passphrase)' >$D/pass; export SFS_BINARY=\(MountEnvironment.binary) PASSFILE=$D/pass
              export V=$D/vault M=$D/mount W=$D/work OPTIONS=\(subject.options) REMOUNT="\(MountEnvironment.control) restart"
              $SFS_BINARY init $V --passfile $D/pass --kdf-memory 64 --kdf-passes 1; \(MountEnvironment.control) start
              bash \(subject.script); $SFS_BINARY umount $M; $SFS_BINARY check $V --passfile $D/pass
            """
    }
}
