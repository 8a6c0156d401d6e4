/// How a transaction begins.
public enum TransactionKind: Sendable {
    /// It takes locks when it first reads or writes; a write may then fail because another process was faster.
    case deferred
    /// It may write from the start, one at a time; others can read until it ends.
    case immediate
    /// No other connection can read or write until it ends.
    case exclusive

    var word: String {
        switch self {
        case .deferred: "DEFERRED"
        case .immediate: "IMMEDIATE"
        case .exclusive: "EXCLUSIVE"
        }
    }
}

extension SecureDatabaseStore {
    /// Runs `body` in a transaction: all of its changes are there when this returns, or none when it throws. Other threads wait meanwhile. Inside
    /// of another transaction it is a part of that, undone by itself when it throws.
    ///
    /// - Throws: What `body` throws; `.closed`, `.backingStoreError`.
    @discardableResult
    public func transaction<R>(_ kind: TransactionKind = .immediate, _ body: (SecureDatabaseStore) throws -> R) throws -> R {
        try lock.withLock { () throws in
            let connection = try open()
            let isNested = connection.isInTransaction
            let point = "sfs_\(transactionDepth)"
            try connection.run(isNested ? "SAVEPOINT \(point)" : "BEGIN \(kind.word)")
            transactionDepth += 1
            defer { transactionDepth = max(0, transactionDepth - 1) }
            do {
                let result = try body(self)
                try connection.run(isNested ? "RELEASE \(point)" : "COMMIT")
                return result
            } catch {
                // Some failures have ended the transaction already.
                if connection.isInTransaction {
                    if isNested { try? connection.run("ROLLBACK TO \(point)") }
                    try? connection.run(isNested ? "RELEASE \(point)" : "ROLLBACK")
                }
                throw error
            }
        }
    }
}
