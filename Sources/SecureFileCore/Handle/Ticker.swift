/// Calls a function again and again on a thread of its own, until that says so or it is stopped. Not a task: a program may keep all threads of
/// the concurrency runtime busy, and a key has to go nevertheless.
package final class Ticker: Sendable {
    private let point = WaitPoint()
    private let state: State

    /// Protected by the lock of ``point``.
    private final class State: @unchecked Sendable { var isStopped = false }

    /// - Parameters:
    ///   - interval: Between the calls; the first one comes after it.
    ///   - body: Returns whether it is to be called again.
    /// - Throws: the system's error where there are too many threads.
    package init(every interval: Duration, _ body: @escaping @Sendable () -> Bool) throws(Errno) {
        let (point, state) = (point, State())
        self.state = state
        let parts = interval.components
        let nanoseconds = Int(parts.seconds) * 1_000_000_000 + Int(parts.attoseconds / 1_000_000_000)
        try NativeThread.start {
            repeat {
                if Self.wait(point, state, nanoseconds) { return }
            } while body()
        }.detach()
    }

    /// Whether it was stopped while waiting.
    private static func wait(_ point: WaitPoint, _ state: State, _ nanoseconds: Int) -> Bool {
        let end = monotonicNanoseconds() + nanoseconds
        point.lock()
        defer { point.unlock() }
        while !state.isStopped {
            let left = end - monotonicNanoseconds()
            if left <= 0 { return false }
            point.wait(nanoseconds: left)
        }
        return true
    }

    /// No call is begun any more. May be called from the function itself.
    package func stop() {
        point.lock()
        state.isStopped = true
        point.signal()
        point.unlock()
    }
}
