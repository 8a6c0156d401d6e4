import Foundation
import SecureFileCore
import Testing

@testable import SecureStore
@testable import SecureStoreCore

struct SecureDatabaseStoreTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func valuesComeBackAfterReopening() throws {
        var store = try fixture.open()
        #expect(store.isOpen())
        try store.executeUpdate("CREATE TABLE t(a, b, c, d, e)")
        #expect(try store.executeUpdate("INSERT INTO t VALUES(?, ?, ?, ?, ?)", "text", 7, 1.5, Data([0, 1]), nil) == 1)
        #expect(try store.executeUpdate("INSERT INTO t VALUES(:a, 1, 2, 3, :e)", withParameterDictionary: ["a": "", "e": true]) == 1)
        #expect(store.lastInsertedRowID == 2)
        store.close()
        #expect(!store.isOpen())
        store = try fixture.open()
        let rows = try store.executeQuery("SELECT * FROM t WHERE b >= ? ORDER BY rowid", 1)
        #expect(rows.query.hasPrefix("SELECT") && rows.columnCount == 5 && rows.columnNames == ["a", "b", "c", "d", "e"])
        #expect(try rows.next())
        #expect(rows.string(at: 0) == "text" && rows.string(named: "A") == "text" && rows.int(at: 1) == 7 && rows.int64(named: "b") == 7)
        #expect(rows.double(at: 2) == 1.5 && rows.data(named: "d") == Data([0, 1]) && rows.bytes(at: 3) == [0, 1] && rows.isNull(at: 4))
        #expect(rows.columnIndex(forName: "none") == nil && rows.string(named: "none") == nil && rows.value(at: 99) == .null)
        #expect(try rows.next())
        #expect(rows.string(at: 0) == "" && rows.bool(at: 4) == true && rows.int(named: "b") == 1 && rows.double(named: "c") == 2)
        #expect(try !rows.next())
        rows.close()
        #expect(storageError { _ = try rows.next() } == .closed)
    }

    @Test func nothingReadableIsOnTheDisk() throws {
        let store = try fixture.open()
        try store.executeUpdate("CREATE TABLE secretplans(text)")
        try store.executeUpdate("PRAGMA cache_size = 2")
        try store.transaction { store in
            for i in 0..<3000 { try store.executeUpdate("INSERT INTO secretplans VALUES(?)", "attack at dawn \(i)") }
            #expect(fixture.names.contains("test.db-journal"))
            try expectNoPlaintext()
        }
        // A sort that does not fit into memory.
        try store.executeUpdate("PRAGMA temp_store = 1")
        let rows = try store.executeQuery("SELECT a.text FROM secretplans a, (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) ORDER BY a.text || 'x' DESC")
        #expect(try rows.next())
        try expectNoPlaintext()
        rows.close()
        try store.executeUpdate("VACUUM")
        try expectNoPlaintext()
    }

    /// Neither in the folder nor in any open file, with a name or without.
    private func expectNoPlaintext() throws {
        for path in fixture.names.map({ fixture.path($0) }) + openFiles() {
            let data = (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data()
            for word in ["attack at dawn", "secretplans", "SQLite format"] { #expect(data.range(of: Data(word.utf8)) == nil, "\(path)") }
        }
    }

    private func openFiles() -> [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.map { "/proc/self/fd/" + $0 }.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: $0))?.hasPrefix(fixture.folder) == true
        }
    }

    // MARK: Keys

    @Test func wrongKeyIsNoDamage() throws {
        try fixture.open().close()
        let store = fixture.store()
        #expect(storageError { try store.open(with: "other") }?.isWrongKey == true)
        #expect(!store.isOpen())
        #expect(storageError { try store.open(with: "") }?.isWrongKey == true)
        #expect(storageError { try store.open(with: "a\nb") }?.isWrongKey == true)
        #expect(storageError { try store.openWithVaultKey() }?.isWrongKey == true)
        try store.open(with: "key")
        #expect(storageError { try store.open(with: "other") }?.isWrongKey == true, "an open store checks too")
        #expect(store.isOpen())
    }

    @Test func keyFilesOpen() throws {
        let key = [UInt8](repeating: 7, count: 32)
        let store = fixture.store()
        try store.open(withKeyFile: key)
        store.close()
        #expect(storageError { try store.open(withKeyFile: [UInt8](repeating: 8, count: 32)) }?.isWrongKey == true)
        try store.open(withKeyFile: key)
    }

    @Test func keyChanges() throws {
        let store = try fixture.open()
        try store.executeUpdate("CREATE TABLE t(a)")
        let database = try fixture.bytes("test.db")
        try store.changeEncryptionKey(with: "new")
        #expect(try fixture.bytes("test.db") == database, "nothing is encrypted anew")
        try store.executeUpdate("INSERT INTO t VALUES(1)")
        store.close()
        #expect(storageError { try store.open(with: "key") }?.isWrongKey == true)
        try store.open(with: "new")
        #expect(storageError { try store.changeEncryptionKey(with: "") }.map { if case .encryptionKeyChangeFailed = $0 { true } else { false } } == true)
        store.close()
        #expect(storageError { try store.changeEncryptionKey(with: "x") } == .closed)
        try store.open(with: "new")
    }

    // MARK: Damage

    @Test(arguments: [0, 100, 300, 4095, 4096, 5000, 9000]) func damageIsNoWrongKey(offset: Int) throws {
        let store = try fixture.open()
        try store.executeUpdate("CREATE TABLE t(a)")
        for i in 0..<200 { try store.executeUpdate("INSERT INTO t VALUES(?)", "row \(i) with some text") }
        store.close()
        var data = try fixture.bytes("test.db")
        data[offset] ^= 1
        try fixture.write("test.db", data)
        let error = storageError {
            try store.open(with: "key")
            _ = try store.verify()
        }
        #expect(error?.isWrongKey == false)
        #expect(error?.code == 11 || offset == 0 && error?.code == 26 || offset == 100 && error?.code == 26, "\(String(describing: error))")
    }

    @Test func aCutDatabaseIsNotAnEmptyOne() throws {
        try fixture.open().close()
        try fixture.write("test.db", Data())
        let error = storageError { try fixture.store().open(with: "key") }
        #expect(error?.isOpenFailed == true && error?.code == 11)
    }

    @Test func missingKeySlotsAreNeverReplaced() throws {
        try fixture.open().close()
        let keys = try fixture.bytes("test.db.keys")
        try FileManager.default.removeItem(atPath: fixture.path("test.db.keys"))
        let error = storageError { try fixture.store().open(with: "key") }
        #expect(error?.isOpenFailed == true && error?.code == 14)
        #expect(fixture.names == ["test.db"])
        try fixture.write("test.db.keys", keys)
        #expect(try fixture.open().isOpen())
    }

    @Test func damagedKeySlotsAreNoWrongKey() throws {
        try fixture.open().close()
        var changed = try fixture.bytes("test.db.keys")
        changed[changed.count / 2] ^= 1
        for keys in [changed, Data(), Data(count: 1 << 20)] {
            try fixture.write("test.db.keys", keys)
            let error = storageError { try fixture.store().open(with: "key") }
            #expect(error?.isOpenFailed == true && error?.code == 11, "\(keys.count) bytes")
        }
    }

    @Test func plaintextIsRefused() throws {
        let plain = try SQLiteConnection(plaintextDatabaseAt: fixture.path("plain.db"), isWritable: true, creating: true)
        try plain.run("CREATE TABLE t(a)")
        plain.close()
        #expect(storageError { try fixture.store("plain.db").open(with: "key") }?.isOpenFailed == true)
    }

    // MARK: SQL

    @Test func whatWouldLeaveTheStoreIsRefused() throws {
        let store = try fixture.open()
        for sql in [
            "PRAGMA journal_mode = WAL", "ATTACH '\(fixture.path("x.db"))' AS x", "ATTACH 'file:\(fixture.path("x.db"))?vfs=unix' AS x",
            "VACUUM INTO '\(fixture.path("x.db"))'", "SELECT load_extension('x')", "PRAGMA temp_store_directory = '/tmp'",
        ] { #expect(storageError { try store.executeUpdate(sql) } != nil, "\(sql)") }
        #expect(!fixture.names.contains("x.db"))
        let error = storageError { try store.executeUpdate("PRAGMA journal_mode = WAL") }
        #expect(error?.message.contains("write-ahead log") == true)
    }

    @Test func errorsHaveSQLitesCodes() throws {
        let store = try fixture.open()
        try store.executeUpdate("CREATE TABLE t(a UNIQUE)")
        try store.executeUpdate("INSERT INTO t VALUES('sensitive')")
        let error = storageError { try store.executeUpdate("INSERT INTO t VALUES(?)", "sensitive") }
        #expect(error?.code == 2067)
        #expect(error?.message.contains("sensitive") == false)
        #expect(storageError { try store.executeUpdate("NONSENSE") }?.code == 1)
        #expect(storageError { try store.executeUpdate("INSERT INTO t VALUES(?)") }?.code == 25)
        #expect(storageError { try store.executeUpdate("SELECT 1; SELECT 2") }?.code == 21)
        #expect(storageError { _ = try store.executeQuery("") }?.code == 21)
        store.close()
        #expect(storageError { try store.executeUpdate("SELECT 1") } == .closed)
    }

    @Test func transactionsAreAllOrNothing() throws {
        struct Stop: Error {}
        let store = try fixture.open()
        let queue = SecureDatabaseQueue(databaseStore: store)
        try store.executeUpdate("CREATE TABLE t(a)")
        #expect(throws: Stop.self) {
            try queue.inTransaction { db in
                try db.executeUpdate("INSERT INTO t VALUES(1)")
                throw Stop()
            }
        }
        try queue.inExclusiveTransaction { db in
            try db.executeUpdate("INSERT INTO t VALUES(2)")
            // Inside of another: undone by itself.
            #expect(throws: Stop.self) {
                try queue.inTransaction { db in
                    try db.executeUpdate("INSERT INTO t VALUES(3)")
                    throw Stop()
                }
            }
            try queue.inDatabase { db in try db.executeUpdate("INSERT INTO t VALUES(4)") }
        }
        try queue.inDeferredTransaction { db in try db.executeUpdate("INSERT INTO t VALUES(5)") }
        let rows = try queue.databaseStore.executeQuery("SELECT group_concat(a) FROM t")
        #expect(try rows.next())
        #expect(rows.string(at: 0) == "2,4,5")
    }

    @Test func threadsTakeTurns() throws {
        let store = try fixture.open()
        let queue = SecureDatabaseQueue(databaseStore: store)
        try store.executeUpdate("CREATE TABLE t(n)")
        try store.executeUpdate("INSERT INTO t VALUES(0)")
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<5 {
                try? queue.inDatabase { db in
                    let rows = try db.executeQuery("SELECT n FROM t")
                    _ = try rows.next()
                    let n = rows.int(at: 0) ?? 0
                    rows.close()
                    try db.executeUpdate("UPDATE t SET n = ?", n + 1)
                }
            }
        }
        let rows = try store.executeQuery("SELECT n FROM t")
        #expect(try rows.next())
        #expect(rows.int(at: 0) == 40)
    }

    @Test func connectionsSeeEachOthersCommits() throws {
        let first = try fixture.open()
        let second = try fixture.open()
        try first.executeUpdate("CREATE TABLE t(a)")
        for i in 0..<20 {
            try (i % 2 == 0 ? first : second).executeUpdate("INSERT INTO t VALUES(?)", String(repeating: "x", count: i * 500))
            let rows = try (i % 2 == 0 ? second : first).executeQuery("SELECT count(*), max(length(a)) FROM t")
            #expect(try rows.next())
            #expect(rows.int(at: 0) == i + 1 && rows.int(at: 1) == i * 500)
            rows.close()
        }
        #expect(try first.verify().isEmpty)
    }

    // MARK: Life

    @Test func destroyLeavesNothing() throws {
        let store = fixture.store()
        #expect(try !store.exists())
        try store.destroy()
        try store.open(with: "key")
        #expect(try store.exists())
        try store.destroy()
        #expect(!store.isOpen() && fixture.names.isEmpty)
        #expect(try !store.exists())
        try store.open(with: "another")
        try store.executeUpdate("CREATE TABLE t(a)")
    }

    @Test func interruptedDestructionIsFinished() throws {
        try fixture.open().close()
        try fixture.write("test.db.keys", Data("SecureFS store destroyed\n".utf8))
        let store = fixture.store()
        #expect(try !store.exists())
        try store.open(with: "fresh")
        #expect(storageError { _ = try store.executeQuery("SELECT * FROM t") } != nil)
    }

    @Test func plaintextMigratesAndComesBack() throws {
        for wal in [false, true] {
            let (source, name) = (fixture.path("plain-\(wal).db"), "migrated-\(wal).db")
            let plain = try SQLiteConnection(plaintextDatabaseAt: source, isWritable: true, creating: true)
            if wal { _ = try plain.first("PRAGMA journal_mode = wal") }
            try plain.run("CREATE TABLE t(a, b)")
            try plain.run("CREATE VIRTUAL TABLE words USING fts5(text)")
            for i in 0..<500 { try plain.run("INSERT INTO t VALUES(?, ?)", [.integer(Int64(i)), .text("row \(i)")]) }
            try plain.run("INSERT INTO words VALUES('hello world')")
            plain.close()
            let store = fixture.store(name)
            try store.migrate(fromPlaintextDatabaseAt: source, with: "key", removingPlaintext: wal)
            #expect(store.isOpen() && FileManager.default.fileExists(atPath: source) != wal)
            try store.executeUpdate("INSERT INTO t VALUES(500, 'after')")
            store.close()
            try store.open(with: "key")
            let rows = try store.executeQuery("SELECT (SELECT count(*) FROM t), (SELECT text FROM words WHERE words MATCH 'world')")
            #expect(try rows.next())
            #expect(rows.int(at: 0) == 501 && rows.string(at: 1) == "hello world")
            rows.close()
            #expect(storageError { try fixture.store(name).migrate(fromPlaintextDatabaseAt: fixture.path("none"), with: "key") } != nil)
            try store.export(toPlaintextDatabaseAt: fixture.path("out-\(wal).db"))
            #expect(storageError { try store.export(toPlaintextDatabaseAt: fixture.path("out-\(wal).db")) }?.code == 14)
            let out = try SQLiteConnection(plaintextDatabaseAt: fixture.path("out-\(wal).db"), isWritable: false)
            #expect(try out.first("SELECT count(*) FROM t") == [.integer(501)])
        }
    }

    @Test func failedMigrationLeavesNothing() throws {
        try fixture.write("bad.db", Data(repeating: 7, count: 8192))
        #expect(storageError { try fixture.store().migrate(fromPlaintextDatabaseAt: fixture.path("bad.db"), with: "key") } != nil)
        #expect(fixture.names == ["bad.db"])
    }
}
