import SecureFileCore

enum Check: Command {
    static let name = "check"
    static let operands = ["VAULT"]
    static let options: [Option] = Option.ofKeys + [.settle, .json]
    static let summary = "Check a vault: configuration, names, and every block of every file."
    static let details = """
        Every problem is a line with the user's path and, in brackets, the path in the vault's folder. Nothing is changed without
        --settle. It may be done while the vault is mounted. Exit code 9 where data is damaged.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let path = arguments.operands[0]
        let settles = arguments.has(.settle)
        _ = try explaining(.vault, path) { () throws(SecureFileError) in try Vault.readConfiguration(at: path) }
        if settles, let holder = VaultUse.holder(of: path) { throw .inUse(path, holder) }
        let secret = try Secrets(arguments).credential(for: path)
        let log = VaultChecker.Log()
        let vault = try explaining(.vault, path) { () throws(SecureFileError) in
            try secret.use { (credential) throws(SecureFileError) in
                try Vault.open(at: path, credential, settles ? .readWrite : .readOnly, log: log.add)
            }
        }
        _ = SystemLimits.raiseDescriptors
        let report = CheckReport(isJSON: arguments.has(.json), vault)
        let listener = VaultChecker.Listener(progress: report.progress, report: report.add)
        let checker = VaultChecker(vault, log: log, settles: settles, hasWriter: { VaultUse.holder(of: path) != nil }, listener)
        let totals = Result { () throws(SecureFileError) in try checker.run() }
        let closed = Result { () throws(SecureFileError) in try vault.close() }
        try report.finish(try explaining(.vault, path) { () throws(SecureFileError) in try totals.get() })
        try explaining(.vault, path) { () throws(SecureFileError) in try closed.get() }
        return report.exitCode
    }
}

/// What a check prints.
private final class CheckReport {
    private let output = Output()
    private let line = ProgressLine()
    private let isJSON: Bool
    /// Bytes to go through, where progress is shown.
    private let total: Int64?
    private var done: Int64 = 0
    private var counts: [VaultFinding.Severity: Int] = [:]
    private var firstUnreadable: ExitCode?
    /// Standard output could not be written: thrown at the end, because the check cannot throw it.
    private var failure: Failure?

    init(isJSON: Bool, _ vault: Vault) {
        self.isJSON = isJSON
        line.update { "looking how much there is to check" }
        total = line.isShown ? vault.measure() : nil
        line.makeDue()
    }

    func progress(_ bytes: Int64) {
        done += bytes
        guard let total else { return }
        line.update { "checking: \(Size(done)) of \(Size(max(total, done))), \(total > 0 ? min(99, done * 100 / total) : 0) %" }
    }

    func add(_ finding: VaultFinding) {
        counts[finding.severity, default: 0] += 1
        if finding.severity == .unreadable {
            firstUnreadable = firstUnreadable ?? finding.cause.map { ExitCode($0, about: .entry) } ?? .failure
        }
        line.clear()
        do throws(Failure) {
            try output.line(isJSON ? json(finding).encoded : text(finding))
            try output.flush()
        } catch { failure = failure ?? error }
    }

    private func text(_ finding: VaultFinding) -> String {
        var text = "\(finding.severity.rawValue): "
        if let path = finding.path { text += Escaped(path.isEmpty ? [UInt8(ascii: "/")] : path).description + " " }
        text += "[\(finding.storedPath.isEmpty ? "." : Escaped(finding.storedPath.bytes).description)]: \(finding.message)"
        if let block = finding.block { text += " (block \(block))" }
        if let cause = finding.cause { text += ": \(cause)" }
        return text + (finding.isRepaired ? "; repaired" : "")
    }

    private func json(_ finding: VaultFinding) -> JSON {
        var members: [(String, JSON)] = [("severity", .string(finding.severity.rawValue)), ("kind", .string(finding.kind.rawValue))]
        members += finding.path.map { JSON.bytes("path", $0) } ?? [("path", .null)]
        members += JSON.bytes("storedPath", finding.storedPath.bytes)
        members += [
            ("block", .number(finding.block?.rawValue)), ("message", .string(finding.message)),
            ("error", .text(finding.cause?.description)), ("repaired", .bool(finding.isRepaired)),
        ]
        return .object(members)
    }

    func finish(_ totals: VaultChecker.Totals) throws(Failure) {
        line.clear()
        if let failure { throw failure }
        let numbers: [(String, Int)] = VaultFinding.Severity.allCases.map { ($0.rawValue, counts[$0] ?? 0) }
        if isJSON {
            let members: [(String, JSON)] = [
                ("directories", .number(totals.directories)), ("files", .number(totals.files)), ("symlinks", .number(totals.symlinks)),
                ("attributes", .number(totals.attributes)), ("bytes", .integer(totals.bytes)), ("settled", .number(totals.settled)),
                ("sessionsForgotten", .number(totals.sessionsForgotten)), ("sessionsRemembered", .number(totals.sessionsRemembered)),
            ]
            try output.line(JSON.object([("summary", .object(members + numbers.map { ($0.0, .number($0.1)) }))]).encoded)
        } else {
            let looked = "\(totals.directories) directories, \(totals.files) files, \(totals.symlinks) symlinks"
            try output.line("checked \(looked), \(totals.attributes) attributes, \(totals.bytes) bytes")
            if totals.settled > 0 { try output.line("settled \(totals.settled) files") }
            if totals.sessionsForgotten > 0 { try output.line("forgot \(totals.sessionsForgotten) sessions that ended without a close") }
            if totals.sessionsRemembered > 0 {
                try output.line(
                    "\(totals.sessionsRemembered) sessions ended without a close: `sfs check --settle` ends their lenient reading")
            }
            let found = numbers.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
            try output.line(found.isEmpty ? "clean" : "found: \(found)")
        }
        try output.flush()
    }

    var exitCode: ExitCode { counts[.damage] ?? 0 > 0 ? .damagedData : firstUnreadable ?? .success }
}

extension Failure {
    static func inUse(_ path: RawPath, _ holder: Int32) -> Failure {
        Failure(
            .vaultInUse, "the vault is in use by process \(holder) (\(Escaped(Processes.command(holder)))): unmount it there first",
            path: path)
    }
}
