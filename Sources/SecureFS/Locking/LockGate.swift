import SecureFileCore
import Synchronization

/// What a mount lets through: everything, only what brings the kernel's caches back to the vault, or nothing that needs a key.
final class LockGate: Sendable {
    enum State: Int {
        case open
        /// The key is about to go. Data the kernel holds is still taken, nothing new is begun, and nothing may be remembered.
        case draining
        case locked
    }

    private let raw = Atomic<Int>(State.open.rawValue)
    /// Requests by programs: whether there are any is all that matters.
    let uses = Atomic<UInt>(0)
    /// Data taken from the kernel.
    let writes = Atomic<UInt>(0)

    /// Data from the kernel that could not be taken: how often, and why the last time. The kernel lets go of it then, and tells the program later.
    let refusals = Atomic<UInt>(0)
    private let lastRefusal = Atomic<Int32>(0)

    func noteRefusal(_ error: Errno) {
        lastRefusal.store(error.rawValue, ordering: .relaxed)
        refusals.add(1, ordering: .releasing)
    }

    /// Throws why, where data was refused since there were `known` refusals.
    func requireNoRefusal(since known: UInt) throws(Errno) {
        if refusals.load(ordering: .acquiring) != known { throw Errno(rawValue: lastRefusal.load(ordering: .relaxed)) }
    }

    var state: State { State(rawValue: raw.load(ordering: .acquiring)) ?? .locked }
    func set(_ state: State) { raw.store(state.rawValue, ordering: .sequentiallyConsistent) }

    /// For requests by which programs begin something.
    ///
    /// - Throws: `.noKey` unless everything is let through.
    @inline(__always)
    func enter() throws(Errno) {
        uses.add(1, ordering: .relaxed)
        if raw.load(ordering: .acquiring) != State.open.rawValue { throw .noKey }
    }

    /// For requests that finish what was begun.
    ///
    /// - Throws: `.noKey` when the key has gone.
    @inline(__always)
    func finish() throws(Errno) {
        if raw.load(ordering: .acquiring) == State.locked.rawValue { throw .noKey }
    }
}
