import Foundation

/// The process that serves a mount.
struct Daemon: Sendable {
    let pid: pid_t

    /// Looked up as the scripts look it up.
    static func find(_ environment: [String: String]) -> Daemon? {
        let process = Process()
        process.executableURL = URL(filePath: MountEnvironment.control)
        process.arguments = ["pid"]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let pipe = Pipe()
        process.standardOutput = pipe
        do { try process.run() } catch { return nil }
        let said = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return pid_t(String(decoding: said, as: UTF8.self)).map(Daemon.init)
    }

    /// The kernel gives up all mounts of the run. Killing alone does not help where the daemon itself waits in the kernel for its own mount.
    static func abortMounts(_ environment: [String: String]) {
        let process = Process()
        process.executableURL = URL(filePath: MountEnvironment.control)
        process.arguments = ["abort"]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        do { try process.run() } catch { return }
        process.waitUntilExit()
    }

    /// What its descriptors refer to; nil where that may not be seen: it lets nobody but root look into it.
    var descriptors: [String]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd") else { return nil }
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)") }
    }

    func hasEnded(within seconds: Double) -> Bool {
        let deadline = Date().addingTimeInterval(seconds)
        repeat {
            guard let state = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
            if state.drop(while: { $0 != ")" }).dropFirst(2).first == "Z" { return true }
            usleep(10_000)
        } while Date() < deadline
        return false
    }
}
