import Foundation
import Testing

/// Real mounts, used by real programs. Each case is a script in Scripts/; `scripts/mount-case NAME` runs one alone.
///
/// One after the other: they measure, they use the whole machine, and one that hangs is to be seen as what it is.
@Suite(.serialized, .enabled(if: MountEnvironment.canRun, "no mounts can be made here"))
struct MountTests {
    /// Where nothing may be skipped, what would have been skipped fails.
    @Test func mountsCanBeMade() {
        #expect(MountEnvironment.obstacle == nil)
        #expect(!MountCase.all.isEmpty)
    }

    @Test(.serialized, arguments: MountCase.all) func program(_ subject: MountCase) async {
        for problem in await MountRun.problems(of: subject) { Issue.record("\(problem)") }
    }

    /// kill -9 of the daemon under load. KILL_ROUNDS gives another number of kills; scripts/kill-campaign has hundreds.
    @Test func nothingIsLostWhenTheDaemonIsKilled() async {
        let rounds = ProcessInfo.processInfo.environment["KILL_ROUNDS"] ?? "10"
        let log = "\(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")/kill-campaign.\(getpid()).log"
        let words = [MountEnvironment.repository + "/scripts/kill-campaign", "--rounds", rounds]
        let outcome = await Command.run(words, environment: ["SFS_BINARY": MountEnvironment.binary], log: log, limit: 60 + 30 * (Double(rounds) ?? 10))
        #expect(outcome.status == 0, "\(outcome.lastLines)")
        try? FileManager.default.removeItem(atPath: log)
    }

    // MARK: The tests of the tests

    /// What the harness has to find: each of these scripts does something that must not pass, and says in its second line by which words it is
    /// to be found out.
    @Test(.serialized, arguments: MountCase.cases(in: MountEnvironment.scripts + "/canaries")) func canaryIsFoundOut(_ canary: MountCase) async throws {
        let text = try String(contentsOfFile: canary.script, encoding: .utf8)
        let words = try #require(text.split(separator: "\n").first { $0.hasPrefix("# found: ") }).dropFirst("# found: ".count)
        let problems = await MountRun.problems(of: canary)
        #expect(problems.contains { $0.contains(words) }, "expected '\(words)' among: \(problems)")
        #expect(problems.last?.contains("scripts/mount-case") == true, "no repro")
    }
}
