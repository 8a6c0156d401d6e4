import Glibc
import Synchronization

/// Threads that help whoever has work in equal parts. They are started when there is work for the first time, and stay.
///
/// The caller works as well and takes what nobody has taken: where the helpers are busy or late it does everything, and never waits for more
/// than the parts that have been begun.
package final class Crew: Sendable {
    /// One helper for each core but one, at most three.
    package static let shared = Crew(helpers: min(3, max(0, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - 1)))

    /// Bytes for which it is worth the trouble to wake somebody.
    package let smallest: Int
    private let helpers: Int
    private let point = WaitPoint()
    private let state = State()
    /// Changes, under the lock of ``point``, when there is new work.
    private let posted = Atomic<UInt>(0)

    /// Protected by the lock of ``point``.
    private final class State: @unchecked Sendable {
        var waiting: [Job] = []
        var started = 0
        var idle = 0
    }

    /// Work in parts that has been handed out.
    package final class Job: Sendable {
        fileprivate let count: Int
        fileprivate let next = Atomic<Int>(0)
        fileprivate let left: Atomic<Int>
        private let body: @Sendable (Int) -> Void

        fileprivate init(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.count = count
            self.body = body
            left = Atomic(count)
        }

        /// Does parts as long as there are any.
        fileprivate func work() {
            while true {
                let part = next.add(1, ordering: .relaxed).oldValue
                if part >= count { return }
                body(part)
                left.subtract(1, ordering: .releasing)
            }
        }
    }

    /// How many can work at once.
    package var size: Int { helpers + 1 }

    package init(helpers: Int, smallest: Int = 1 << 19) {
        self.helpers = helpers
        self.smallest = smallest
    }

    /// Calls `body` once with each number below `count`, from several threads at once; returns when all calls have.
    package func forEach(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        if helpers == 0 || count < 2 { return (0..<count).forEach(body) }
        let job = Job(count, body)
        post(job, wanting: min(helpers, count - 1))
        finish(job)
    }

    /// Returns when all of the work is done.
    private func finish(_ job: Job) {
        job.work()
        // A part that has been begun is mostly some tens of microseconds from its end: giving up the core at once would cost more. But it may
        // wait for the disk, or its helper for a core.
        let patience = monotonicNanoseconds() + 100_000
        while job.left.load(ordering: .acquiring) > 0 {
            if monotonicNanoseconds() > patience { CurrentProcess.nap(microseconds: 20) }
        }
        withdraw(job)
    }

    private func post(_ job: Job, wanting wanted: Int) {
        point.lock()
        state.waiting.append(job)
        posted.wrappingAdd(1, ordering: .releasing)
        for _ in 0..<min(wanted, state.idle) { point.signal() }
        let missing = max(0, min(wanted - state.idle, helpers - state.started))
        state.started += missing
        point.unlock()
        for _ in 0..<missing { startHelper() }
    }

    private func startHelper() {
        do throws(Errno) { try NativeThread.start { self.help() }.detach() } catch {
            point.lock()
            state.started -= 1
            point.unlock()
        }
    }

    /// No helper takes the job any more.
    private func withdraw(_ job: Job) {
        point.lock()
        state.waiting.removeAll { $0 === job }
        point.unlock()
    }

    private func help() {
        while true {
            let seen = posted.load(ordering: .acquiring)
            point.lock()
            let job = state.waiting.first { $0.next.load(ordering: .relaxed) < $0.count }
            point.unlock()
            if let job { job.work() } else if !spin(while: seen) { sleep(while: seen) }
        }
    }

    /// Looks for new work for a while: to be woken costs both sides more than that.
    private func spin(while seen: UInt) -> Bool {
        let end = monotonicNanoseconds() + 100_000
        while posted.load(ordering: .relaxed) == seen {
            if monotonicNanoseconds() > end { return false }
        }
        return true
    }

    private func sleep(while seen: UInt) {
        point.lock()
        state.idle += 1
        while posted.load(ordering: .relaxed) == seen { point.wait() }
        state.idle -= 1
        point.unlock()
    }
}
