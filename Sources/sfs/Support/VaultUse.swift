import SecureFileCore

/// Which process has a vault open for writing: asked without taking the lock, so that nobody is disturbed.
enum VaultUse {
    /// Its process ID, as far as it can be told: the one that `sfs.lock` names, if it lives and holds a lock on that file.
    static func holder(of vault: RawPath) -> Int32? {
        guard let named = named(in: vault), isAlive(named.pid), holdsLock(named.pid, named.inode) else { return nil }
        return named.pid
    }

    private static func named(in vault: RawPath) -> (pid: Int32, inode: UInt64)? {
        guard let file = try? FileDescriptor.open(vault.appending("sfs.lock"), [.readOnly, .noFollow, .nonBlocking]),
            let status = try? file.status(), status.kind == .regular, let text = try? file.readAll(limit: 64),
            let pid = Int32(String(decoding: text.prefix { $0 != 10 }, as: UTF8.self)), pid > 0
        else { return nil }
        return (pid, status.inode)
    }

    static func isAlive(_ pid: Int32) -> Bool { System.content("/proc/\(pid)/stat", limit: 4096) != nil }

    /// By /proc/locks, whose lines are `1: FLOCK  ADVISORY  WRITE 4711 08:01:123456 0 EOF`. The device is left out: some filesystems show
    /// another one there than stat(2) does.
    private static func holdsLock(_ pid: Int32, _ inode: UInt64) -> Bool {
        guard let table = System.content("/proc/locks") else { return true }
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", Int32(words[4]) == pid else { continue }
            if words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode { return true }
        }
        return false
    }
}
