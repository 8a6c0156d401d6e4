import Synchronization

/// Which files are longer than they should be (``AheadByteStore``), and how much.
package final class GrowthAhead: Sendable {
    /// When a file is lengthened, and by how much; in bytes.
    package struct Limits: Sendable {
        /// Syncs after a small growth before that.
        package var steps = 4
        /// What counts as small.
        package var largestStep: Int64 = 64 << 10
        /// 16 times the last step, but no less and no more than this.
        package var least: Int64 = 64 << 10
        package var most: Int64 = 1 << 20
        package init() {}
    }

    let limits: Limits
    let zeros = PageBuffer(count: 64 << 10)
    private let hasRoom: @Sendable () -> Bool
    private let state = Mutex<State>(State())

    private struct State {
        var isOver = false
        var stores: [ObjectIdentifier: WeakStore] = [:]
    }

    private struct WeakStore: Sendable {
        weak let store: AheadByteStore?
    }

    /// - Parameter hasRoom: Whether the filesystem has space to spare: what is lent to some files is lost to others.
    package init(_ limits: Limits = Limits(), hasRoom: @escaping @Sendable () -> Bool = { true }) {
        self.limits = limits
        self.hasRoom = hasRoom
    }

    /// Takes note of a store about to be lengthened; false: it must not be.
    func admit(_ store: AheadByteStore) -> Bool {
        if !hasRoom() { return false }
        return state.withLock { state in
            if !state.isOver { state.stores[ObjectIdentifier(store)] = WeakStore(store: store) }
            return !state.isOver
        }
    }

    func forget(_ store: AheadByteStore) {
        let id = ObjectIdentifier(store)
        state.withLock { _ = $0.stores.removeValue(forKey: id) }
    }

    /// Gives all files the length that they should have; none is lengthened any more.
    ///
    /// - Throws: the first error; the other files are seen to all the same.
    package func end() throws(Errno) {
        let stores = state.withLock { state in
            state.isOver = true
            return state.stores.values.compactMap(\.store)
        }
        var first: Errno?
        for store in stores {
            do throws(Errno) { try store.endAhead() } catch { first = first ?? error }
        }
        if let first { throw first }
    }
}
