import Synchronization

/// The metadata pages of one file that are in memory, page 0 apart. Readers fill it side by side, hence a lock of its own.
final class GroupCache: Sendable {
    private let groups = Mutex<[GroupIndex: GroupState]>([:])
    /// How many were left when the last ``shrink(to:epoch:)`` did not get down to its aim.
    private let busyCount = Atomic<Int>(0)

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

    /// Drops clean pages that nobody works with, in no particular order, until half of `limit` is left; says whether one of them knew of
    /// unsynced writes. A page that somebody holds must stay: there would be two objects for it, and what one is told the other would not know.
    func shrink(to limit: Int, epoch: UInt64) -> Bool {
        groups.withLock { groups in
            guard groups.count > limit, groups.count < 64 || groups.count > busyCount.load(ordering: .relaxed) * 2 else { return false }
            var forgotten = false
            var unused: [GroupIndex] = []
            var at = groups.startIndex
            while at != groups.endIndex, groups.count - unused.count > limit / 2 {
                if isKnownUniquelyReferenced(&groups.values[at]), !groups.values[at].isDirty {
                    forgotten = forgotten || groups.values[at].remembersWrites(epoch)
                    unused.append(groups.keys[at])
                }
                groups.formIndex(after: &at)
            }
            for index in unused { groups.removeValue(forKey: index) }
            // Where many are in use, the next look is worth its time only when there are many more.
            busyCount.store(groups.count > limit / 2 ? groups.count : 0, ordering: .relaxed)
            return forgotten
        }
    }

    /// The pages that have changes the store does not have, in order.
    func dirty() -> [GroupState] { groups.withLock { $0.values.filter(\.isDirty).sorted { $0.index < $1.index } } }
}
