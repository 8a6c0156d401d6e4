import Glibc
import SecureFileCore
import Synchronization

/// Who reads the device: one leader at a time, the others wait. The lock is held for a few instructions only.
///
/// Leadership is a ticket. It is passed on before a slow request starts, and taken away from a leader that is stuck in one thought to be
/// fast (``FuseLoop/watch()``): so a request that arrives always finds a reader, and no two threads ever sleep on the device.
final class FuseLoopState: @unchecked Sendable {
    private let point = WaitPoint()
    // Under the lock of `point`.
    private var hasLeader = false
    private var waiting = 0
    private var threads = 0
    private let limit: Int
    /// The ticket of the present leader; a leader whose own ticket differs has been relieved.
    private let ticket = Atomic<UInt64>(0)
    private let stopping = Atomic<Bool>(false)

    init(threadLimit: Int) { limit = threadLimit }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    func leads(_ mine: UInt64) -> Bool { ticket.load(ordering: .relaxed) == mine && !isStopping }

    /// Threads that do not wait for leadership, the leader included.
    var atWork: Int {
        point.lock()
        defer { point.unlock() }
        return threads - waiting
    }

    /// Waits for leadership; nil when the loop ends.
    func becomeLeader() -> UInt64? {
        point.lock()
        defer { point.unlock() }
        while !isStopping {
            if let mine = takeLeadership() { return mine }
            waiting += 1
            point.wait()
            waiting -= 1
        }
        return nil
    }

    /// Leadership if it is free.
    func becomeLeaderIfFree() -> UInt64? {
        point.lock()
        defer { point.unlock() }
        return isStopping ? nil : takeLeadership()
    }

    private func takeLeadership() -> UInt64? {
        if hasLeader { return nil }
        hasLeader = true
        return ticket.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Gives up the leadership `mine`, whoever calls. True when nobody waits for it and a new thread may and should be started
    /// (it is counted already); where the limit is reached, the first thread to finish its request takes over.
    func release(_ mine: UInt64) -> Bool {
        point.lock()
        defer { point.unlock() }
        guard hasLeader, ticket.load(ordering: .relaxed) == mine else { return false }
        hasLeader = false
        ticket.wrappingAdd(1, ordering: .relaxed)
        if waiting > 0 {
            point.signal()
            return false
        }
        return countThread()
    }

    private func countThread() -> Bool {
        if threads >= limit || isStopping { return false }
        threads += 1
        return true
    }

    func addThread() -> Bool {
        point.lock()
        defer { point.unlock() }
        return countThread()
    }

    /// A thread that was counted could not be started.
    func removeThread() {
        point.lock()
        threads -= 1
        point.unlock()
    }

    /// Ends the loop: whoever waits returns.
    func stop() {
        point.lock()
        stopping.store(true, ordering: .relaxed)
        point.broadcast()
        point.unlock()
    }
}
