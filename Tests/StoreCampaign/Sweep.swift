import Foundation
import SecureFileCore
import SecureStoreCore
import TestSupport

/// A process that changes the key of a store, or destroys it, is killed at each of its system calls that change anything. Afterwards the old or the
/// new key opens the store with all it holds; or, of a destruction, nothing is left or it is finished by whoever comes next.
enum Sweep {
    private static let calls = [
        "openat", "write", "pwrite64", "ftruncate", "fsync", "fdatasync", "syncfs", "fchmod", "fchown", "renameat2", "unlinkat", "flock", "close",
    ]

    static func run(_ folder: String) throws {
        var (changes, old, new, destructions, whole, gone) = (0, 0, 0, 0, 0, 0)
        for call in calls {
            for number in 1... {
                try prepare(folder)
                let ended = try runKilled("sweep-change", folder, call, number)
                if opens(folder, "old") { old += 1 } else if opens(folder, "new") { new += 1 } else {
                    throw Finding("neither key opens the store, killed at \(call) \(number)")
                }
                changes += 1
                if ended { break }
            }
            for number in 1... {
                try prepare(folder)
                let ended = try runKilled("sweep-destroy", folder, call, number)
                let store = Support.store(folder, "sweep.db")
                if try store.exists() {
                    guard opens(folder, "old") else { throw Finding("half destroyed, killed at \(call) \(number)") }
                    whole += 1
                } else {
                    // Another passphrase: a new store.
                    try store.open(with: "fresh")
                    store.close()
                    gone += 1
                }
                destructions += 1
                if ended { break }
            }
        }
        say("sweep: \(changes) key changes (old key \(old), new key \(new)), \(destructions) destructions (whole \(whole), gone \(gone))")
    }

    private static func prepare(_ folder: String) throws {
        let store = Support.store(folder, "sweep.db")
        try store.destroy()
        try store.open(with: "old")
        try store.executeUpdate("CREATE TABLE t AS SELECT 'there' AS a")
        store.close()
    }

    private static func opens(_ folder: String, _ key: String) -> Bool {
        let store = Support.store(folder, "sweep.db")
        defer { store.close() }
        guard (try? store.open(with: key)) != nil, let rows = try? store.executeQuery("SELECT a FROM t") else { return false }
        return (try? rows.next()) == true && rows.string(at: 0) == "there"
    }

    /// - Returns: Whether the process came to its end.
    private static func runKilled(_ what: String, _ folder: String, _ call: String, _ number: Int) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/strace")
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        process.arguments = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(number)", own, what, folder]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }

    static func change(_ folder: String) throws {
        let store = Support.store(folder, "sweep.db")
        try store.open(with: "old")
        try store.changeEncryptionKey(with: "new")
    }

    static func destroy(_ folder: String) throws { try Support.store(folder, "sweep.db").destroy() }
}
