import Foundation
import SecureFileCore
import SecureStoreCore
import TestSupport

/// A process that commits one transaction after another and says so is killed at a random moment. Afterwards the database must be sound, hold
/// every transaction that was acknowledged, and none in part.
enum KillRounds {
    static func run(_ folder: String, rounds: Int, seed: UInt64) throws {
        say("kill: \(rounds) rounds, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = Support.store(folder, "kill.db")
        try store.destroy()
        try store.open(with: "kill")
        try store.executeUpdate("CREATE TABLE t(n INTEGER, part INTEGER, b BLOB, PRIMARY KEY(n, part))")
        store.close()
        var hot = 0
        for round in 0..<rounds {
            let writer = try Support.spawn(["kill-writer", folder, "\(random.number(0..<1_000_000))"])
            usleep(UInt32(random.number(60_000..<400_000)))
            kill(writer.process.processIdentifier, SIGKILL)
            let text = String(decoding: try writer.output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            writer.process.waitUntilExit()
            let acknowledged = text.split(separator: "\n").last.flatMap { Int($0) } ?? 0
            if text.contains("FAILED") { throw Finding("round \(round): the writer says \(text)") }
            if FileManager.default.fileExists(atPath: folder + "/kill.db-journal") { hot += 1 }
            try store.open(with: "kill")
            guard try store.verify().isEmpty else { throw Finding("round \(round): integrity_check") }
            let result = try store.executeQuery("SELECT max(n), count(*), count(DISTINCT n), sum(length(b) != 3000) FROM t")
            _ = try result.next()
            let (last, rows, numbers) = (result.int(at: 0) ?? 0, result.int(at: 1) ?? 0, result.int(at: 2) ?? 0)
            result.close()
            guard last >= acknowledged else { throw Finding("round \(round): \(acknowledged) was acknowledged, \(last) is there") }
            guard numbers == last, rows == 5 * last else { throw Finding("round \(round): a transaction is there in part: \(rows) of \(5 * last)") }
            store.close()
        }
        say("kill: all there; \(hot) hot journals")
    }

    /// Goes on from where the last writer was.
    static func write(_ folder: String, seed: UInt64) throws {
        let store = Support.store(folder, "kill.db")
        try store.open(with: "kill")
        if seed % 3 == 0 { try store.executeUpdate("PRAGMA cache_size = 2") }
        let rows = try store.executeQuery("SELECT max(n) FROM t")
        _ = try rows.next()
        var n = rows.int(at: 0) ?? 0
        rows.close()
        while true {
            n += 1
            try store.transaction { store in
                for part in 0..<5 { try store.executeUpdate("INSERT INTO t VALUES(?, ?, randomblob(3000))", n, part) }
                try store.executeUpdate("UPDATE t SET b = randomblob(3000) WHERE n % 50 = ?", n % 50)
            }
            say(n)
        }
    }
}
