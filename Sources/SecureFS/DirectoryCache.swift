import SecureFileCore
import Synchronization

/// The directories that are open: few, whatever the size of the tree.
final class DirectoryCache: Sendable {
    private struct Cached: Sendable {
        var directory: VaultDirectory
        var used: UInt64
    }
    private struct State: Sendable {
        var open: [NodeID: Cached] = [:]
        var clock: UInt64 = 0
    }
    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int = 64) { self.limit = limit }

    subscript(_ id: NodeID) -> VaultDirectory? {
        state.withLock { state in
            state.clock += 1
            guard let place = state.open.index(forKey: id) else { return nil }
            state.open.values[place].used = state.clock
            return state.open.values[place].directory
        }
    }

    func insert(_ directory: VaultDirectory, for id: NodeID) {
        let evicted: VaultDirectory? = state.withLock { state in
            state.clock += 1
            state.open[id] = Cached(directory: directory, used: state.clock)
            guard state.open.count > limit, let oldest = state.open.min(by: { $0.value.used < $1.value.used }) else { return nil }
            return state.open.removeValue(forKey: oldest.key)?.directory
        }
        _ = evicted  // closed here, outside the lock
    }

    func remove(_ id: NodeID) {
        let removed = state.withLock { $0.open.removeValue(forKey: id)?.directory }
        _ = removed
    }
}
