import Foundation

/// What these tests need of the machine, found out once.
enum MountEnvironment {
    static let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL.path
    static let scripts = repository + "/Tests/MountTests/Scripts"
    static let control = scripts + "/support/mount-control"

    private static let variables = ProcessInfo.processInfo.environment

    /// Where nothing may be skipped: on the integration machine.
    static let mayNotSkip = variables["REQUIRE_FUSE"] == "1"

    /// The program, built by scripts/test; the one of an earlier `scripts/build` where these tests are run alone.
    static let binary = variables["SFS_BINARY"] ?? repository + "/.build/release/sfs"

    /// What keeps these tests from running; nil where nothing does.
    static let obstacle: String? = {
        if !FileManager.default.isWritableFile(atPath: "/dev/fuse") { return "/dev/fuse is missing or may not be used" }
        if !FileManager.default.isExecutableFile(atPath: binary) { return "no program at \(binary): run scripts/test, or scripts/build" }
        return nil
    }()

    /// Says it loudly where the tests are skipped: a skip among a thousand lines of success is not seen.
    static let canRun: Bool = {
        guard let obstacle else { return true }
        if mayNotSkip { return true }
        let line = String(repeating: "*", count: 80)
        FileHandle.standardError.write(Data("\(line)\nMOUNT TESTS ARE SKIPPED: \(obstacle)\n\(line)\n".utf8))
        return false
    }()

    /// Runs only some cases: their names in MOUNT_CASES, separated by spaces.
    static let chosen: [String]? = variables["MOUNT_CASES"].map { $0.split(separator: " ").map(String.init) }

    static let isRoot = geteuid() == 0

    /// Multiplies every time limit, for slow machines.
    static let patience = variables["MOUNT_TEST_PATIENCE"].flatMap(Double.init) ?? 1
}
