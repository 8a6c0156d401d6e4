import Foundation

/// A program that ran, or was made to end.
struct Outcome: Sendable {
    /// The exit code; 128 and the signal where one ended it.
    let status: Int32
    let timedOut: Bool
    /// Standard output and error together.
    let output: String
    let seconds: Double

    var lastLines: String { output.split(separator: "\n").suffix(40).joined(separator: "\n") }
}

/// Runs programs in a process group of their own.
enum Command {
    /// - Parameters:
    ///   - log: A file to which the output is appended.
    ///   - limit: Seconds until the whole group is made to end: asked first, then killed.
    ///   - diagnose: Called at the time limit, before anything is ended: what it returns is appended to the output.
    ///   - release: Called where even killing does not help, because the kernel waits for a mount to answer: has to end the mount.
    static func run(
        _ words: [String], environment: [String: String] = [:], log: String, limit: Double, diagnose: @escaping @Sendable () -> String = { "" },
        release: @escaping @Sendable () -> Void = {}
    ) async -> Outcome {
        // A thread of its own: waiting must not hold up the tests of other targets.
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: wait(words, environment, log, limit * MountEnvironment.patience, diagnose, release))
            }
        }
    }

    private static func wait(
        _ words: [String], _ environment: [String: String], _ log: String, _ limit: Double, _ diagnose: () -> String, _ release: () -> Void
    ) -> Outcome {
        let start = Date()
        if !FileManager.default.fileExists(atPath: log) { try? Data().write(to: URL(filePath: log)) }
        let before = (try? Data(contentsOf: URL(filePath: log)).count) ?? 0
        let pid: pid_t
        do { pid = try spawn(words, environment, output: log) } catch { return Outcome(status: 127, timedOut: false, output: "\(words[0]): \(error)", seconds: 0) }

        var status = end(of: pid, within: limit)
        let timedOut = status == nil
        if timedOut {
            let diagnosis = "\nno end within \(Int(limit)) seconds\n\(diagnose())\n"
            kill(-pid, SIGTERM)
            status = end(of: pid, within: 3)
            if status == nil {
                kill(-pid, SIGKILL)
                release()
                status = end(of: pid, within: 30)
            }
            if let file = FileHandle(forUpdatingAtPath: log), (try? file.seekToEnd()) != nil { try? file.write(contentsOf: Data(diagnosis.utf8)) }
        }
        kill(-pid, SIGKILL)  // what it left running
        let data = (try? Data(contentsOf: URL(filePath: log))) ?? Data()
        let text = String(decoding: data.dropFirst(before), as: UTF8.self)
        return Outcome(status: status ?? 137, timedOut: timedOut, output: text, seconds: Date().timeIntervalSince(start))
    }

    /// Starts a program as the leader of a group of its own, with nothing of ours but the output. (Foundation's `Process` takes as the end of a
    /// program the end of whatever inherited from it, a daemon in the background for instance.)
    private static func spawn(_ words: [String], _ environment: [String: String], output: String) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_APPEND, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap({ Int32($0) }) where descriptor > 2 {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }.map { "\($0.key)=\($0.value)" }
        var pid: pid_t = 0
        let error = unsafe withStrings(words) { words in
            unsafe withStrings(variables) { variables in unsafe posix_spawn(&pid, words[0]!, &actions, &attributes, words, variables) }
        }
        if error != 0 { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
        return pid
    }

    private static func withStrings<R>(_ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
    }

    /// The exit code once it has ended; nil where it does not in time.
    private static func end(of pid: pid_t, within limit: Double) -> Int32? {
        let deadline = Date().addingTimeInterval(limit)
        repeat {
            var status: Int32 = 0
            let ended = unsafe waitpid(pid, &status, WNOHANG)
            if ended == pid { return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f }
            if ended < 0, errno != EINTR { return 127 }
            usleep(2_000)
        } while Date() < deadline
        return nil
    }
}
