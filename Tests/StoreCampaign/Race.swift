import Foundation
import SecureFileCore
import SecureStoreCore
import TestSupport

/// Two processes add to one counter and to one table at the same time.
enum Race {
    static func run(_ folder: String, seconds: Int) throws {
        say("race: two processes, \(seconds) s")
        let store = Support.store(folder, "race.db")
        try store.destroy()
        try store.open(with: "race")
        try store.executeUpdate("CREATE TABLE c(n INTEGER)")
        try store.executeUpdate("INSERT INTO c VALUES(0)")
        try store.executeUpdate("CREATE TABLE t(who TEXT, n INTEGER, b BLOB)")
        let writers = try ["first", "second"].map { try Support.spawn(["race-writer", folder, $0, "\(seconds)"]) }
        var sum = 0
        var least = Int.max
        for writer in writers {
            let text = String(decoding: try writer.output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            writer.process.waitUntilExit()
            guard writer.process.terminationStatus == 0, let done = text.split(separator: "\n").last.flatMap({ Int($0) }) else {
                throw Finding("a writer failed: \(text)")
            }
            say("race: one writer did \(done)")
            sum += done
            least = min(least, done)
        }
        let rows = try store.executeQuery("SELECT (SELECT n FROM c), (SELECT count(*) FROM t)")
        _ = try rows.next()
        guard rows.int(at: 0) == sum, rows.int(at: 1) == sum else { throw Finding("\(sum) updates were made, \(rows.int(at: 0) ?? -1) are there") }
        rows.close()
        guard least * 50 > sum else { throw Finding("one writer was kept out: \(least) of \(sum) updates") }
        guard try store.verify().isEmpty else { throw Finding("integrity_check") }
        say("race: \(sum) updates, none lost")
    }

    static func write(_ folder: String, name: String, seconds: Int) throws {
        let store = Support.store(folder, "race.db")
        try store.open(with: "race")
        let end = Support.seconds() + Double(seconds)
        var done = 0
        while Support.seconds() < end {
            try store.transaction { store in
                let rows = try store.executeQuery("SELECT n FROM c")
                guard try rows.next(), let n = rows.int(at: 0) else { throw Finding("no counter") }
                rows.close()
                try store.executeUpdate("UPDATE c SET n = ?", n + 1)
                try store.executeUpdate("INSERT INTO t VALUES(?, ?, randomblob(?))", name, n, n % 7 * 900)
                if n % 11 == 0 { try store.executeUpdate("UPDATE t SET b = zeroblob(length(b)) WHERE rowid % 97 = 0") }
            }
            done += 1
        }
        say(done)
    }
}
