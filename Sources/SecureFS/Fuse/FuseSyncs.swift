import Synchronization

/// Whether the leader keeps the lead while it syncs. To wake another thread, and to have it look for requests that do not come, takes a good part of
/// the time of a sync, and of the cores that the disk's own work needs; so where nobody else asks meanwhile, nobody is woken.
final class FuseSyncs: Sendable {
    private static let quick = 1_000_000
    private static let patience = 64
    /// The last one took less than ``quick`` nanoseconds: longer, nobody should wait for an answer.
    private let areQuick = Atomic<Bool>(false)
    /// So many of the next ones are not to be waited for, because others had to.
    private let crowded = Atomic<Int>(0)
    var keepLead: Bool {
        guard areQuick.load(ordering: .relaxed) else { return false }
        if crowded.load(ordering: .relaxed) <= 0 { return true }
        crowded.subtract(1, ordering: .relaxed)
        return false
    }

    /// A sync is done.
    func note(nanoseconds: Int) { areQuick.store(nanoseconds < Self.quick, ordering: .relaxed) }

    /// A leader that kept the lead found a request waiting when its sync was done.
    func noteCrowd() { crowded.store(Self.patience, ordering: .relaxed) }
}
