/// A store for use from several threads: each call has it to itself.
///
/// A call inside of a call is served at once, where SAP's queue ends the process. ``SecureDatabaseStore`` is safe by itself; what the queue adds
/// is several statements that belong together.
public final class SecureDatabaseQueue: Sendable {
    public let databaseStore: SecureDatabaseStore

    public init(databaseStore: SecureDatabaseStore) { self.databaseStore = databaseStore }

    /// Runs `block` while no other thread uses the store.
    @discardableResult
    public func inDatabase<R>(_ block: (_ db: SecureDatabaseStore) throws -> R) throws -> R {
        try databaseStore.lock.withLock { () throws in try block(databaseStore) }
    }

    /// Runs `block` in a transaction, which is rolled back when it throws.
    @discardableResult
    public func inTransaction<R>(_ kind: TransactionKind = .immediate, _ block: (_ db: SecureDatabaseStore) throws -> R) throws -> R {
        try databaseStore.transaction(kind, block)
    }

    /// Runs `block` in a transaction beside which no other connection can read or write.
    @discardableResult
    public func inExclusiveTransaction<R>(_ block: (_ db: SecureDatabaseStore) throws -> R) throws -> R {
        try databaseStore.transaction(.exclusive, block)
    }

    @discardableResult
    public func inDeferredTransaction<R>(_ block: (_ db: SecureDatabaseStore) throws -> R) throws -> R {
        try databaseStore.transaction(.deferred, block)
    }
}
