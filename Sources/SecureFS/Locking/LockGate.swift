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
