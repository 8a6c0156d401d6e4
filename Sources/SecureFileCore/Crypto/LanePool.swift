import Synchronization

/// Lends out lanes, one to each thread that seals or opens at the moment.
final class LanePool: Sendable {
    private let free = Mutex<[AEADLane]>([])

    @inline(__always)
    func withLane<R, E: Error>(_ body: (AEADLane) throws(E) -> R) throws(E) -> R {
        let lane = free.withLock { $0.popLast() } ?? AEADLane()
        defer { free.withLock { $0.append(lane) } }
        return try body(lane)
    }

    /// Frees all lanes, and with them wipes the keys they hold. Only when none is lent out.
    func removeAll() {
        free.withLock { $0.removeAll() }
    }
}
