import Synchronization

/// The metadata pages of one file that are in memory, page 0 apart. Readers fill it side by side, hence a lock of its own.
final class GroupCache: Sendable {
    private let groups = Mutex<[GroupIndex: GroupState]>([:])

    func find(_ index: GroupIndex) -> GroupState? { groups.withLock { $0[index] } }

    /// Puts `state` in, or returns the one another thread has put in meanwhile.
    func insert(_ state: GroupState) -> GroupState {
        groups.withLock { groups in
            if let present = groups[state.index] { return present }
            groups[state.index] = state
            return state
        }
    }

    func remove(_ index: GroupIndex) { _ = groups.withLock { $0.removeValue(forKey: index) } }

    func removeAll(from first: GroupIndex = .zero) {
        groups.withLock { groups in
            if first == .zero { groups.removeAll() } else { groups = groups.filter { $0.key < first } }
        }
    }

    var count: Int { groups.withLock { $0.count } }

    /// Drops clean pages, in no particular order, until half of `limit` is left; says whether one of them knew of unsynced writes.
    func shrink(to limit: Int, epoch: UInt64) -> Bool {
        groups.withLock { groups in
            guard groups.count > limit else { return false }
            var forgotten = false
            for (index, state) in groups where !state.isDirty {
                forgotten = forgotten || state.remembersWrites(epoch)
                groups.removeValue(forKey: index)
                if groups.count <= limit / 2 { break }
            }
            return forgotten
        }
    }

    /// The pages that have changes the store does not have, in order.
    func dirty() -> [GroupState] { groups.withLock { $0.values.filter(\.isDirty).sorted { $0.index < $1.index } } }
}
