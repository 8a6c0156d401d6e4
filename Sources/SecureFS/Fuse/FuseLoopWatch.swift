import SecureFileCore
import Synchronization

/// Sees to it that a leader that is stuck in a request thought to be short does not keep others waiting.
///
/// The leader writes down what it does, without a lock. A thread of its own looks every few milliseconds while there is work; when the
/// leader sleeps for long, so does the watch, and it is woken with the first request: an idle mount uses no processor time.
final class FuseLoopWatch: Sendable {
    private let point = WaitPoint()
    /// Ticket of the leader while it runs a request, 0 otherwise; and how many requests were begun.
    private let running = Atomic<UInt64>(0)
    private let begun = Atomic<UInt64>(0)
    private let leaderSleeps = Atomic<Bool>(false)
    private let watchSleeps = Atomic<Bool>(false)
    private let stopping = Atomic<Bool>(false)

    private static let interval = 2_000_000
    /// Intervals without a request after which the watch sleeps too.
    private static let patience = 25

    @inline(__always)
    func begin(_ ticket: UInt64) {
        begun.wrappingAdd(1, ordering: .relaxed)
        running.store(ticket, ordering: .releasing)
    }

    @inline(__always)
    func end(_ ticket: UInt64) {
        // Only our own entry: a leader that was relieved meanwhile has a successor, who writes here too.
        _ = running.compareExchange(expected: ticket, desired: 0, ordering: .relaxed)
    }

    func sleep() { leaderSleeps.store(true, ordering: .sequentiallyConsistent) }

    func awake() {
        leaderSleeps.store(false, ordering: .sequentiallyConsistent)
        guard watchSleeps.load(ordering: .sequentiallyConsistent) else { return }
        point.lock()
        watchSleeps.store(false, ordering: .relaxed)
        point.signal()
        point.unlock()
    }

    func stop() {
        point.lock()
        stopping.store(true, ordering: .relaxed)
        watchSleeps.store(false, ordering: .relaxed)
        point.signal()
        point.unlock()
    }

    /// Waits until a leader has been in one request for a whole interval, and names its ticket; nil when the loop ends.
    func nextStuckLeader() -> UInt64? {
        point.lock()
        defer { point.unlock() }
        var seen: UInt64 = 0
        var quiet = 0
        while !stopping.load(ordering: .relaxed) {
            point.wait(nanoseconds: FuseLoopWatch.interval)
            let ticket = running.load(ordering: .acquiring)
            let count = begun.load(ordering: .relaxed)
            if ticket != 0, count == seen { return ticket }
            quiet = count == seen && leaderSleeps.load(ordering: .relaxed) ? quiet + 1 : 0
            seen = count
            if quiet >= FuseLoopWatch.patience {
                rest()
                quiet = 0
            }
        }
        return nil
    }

    /// Sleeps until the leader wakes. The leader's flag is read again after ours is set: one of the two sees the other.
    private func rest() {
        watchSleeps.store(true, ordering: .sequentiallyConsistent)
        if !leaderSleeps.load(ordering: .sequentiallyConsistent) { watchSleeps.store(false, ordering: .relaxed) }
        while watchSleeps.load(ordering: .relaxed), !stopping.load(ordering: .relaxed) { point.wait() }
    }
}
