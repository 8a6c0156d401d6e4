import Glibc
import Synchronization

/// Threads that help whoever has work in equal parts. They are started when there is work for the first time, and stay.
///
/// The caller works as well and takes what nobody has taken: where the helpers are busy or late it does everything, and never waits for more
/// than the parts that have been begun.
package final class Crew: Sendable {
    /// One helper for each core but one, at most three.
    package static let shared = Crew(helpers: min(3, max(0, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - 1)))

    private let helpers: Int
    private let point = WaitPoint()
    private let state = State()

    /// Protected by the lock of ``point``.
    private final class State: @unchecked Sendable {
        var waiting: [Job] = []
        var started = 0
        var idle = 0
    }

    private final class Job: Sendable {
        let count: Int
        let next = Atomic<Int>(0)
        let left: Atomic<Int>
        let body: @Sendable (Int) -> Void

        init(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.count = count
            self.body = body
            left = Atomic(count)
        }

        /// Does parts as long as there are any.
        func work() {
            while true {
                let part = next.add(1, ordering: .relaxed).oldValue
                if part >= count { return }
                body(part)
                left.subtract(1, ordering: .releasing)
            }
        }
    }

    package init(helpers: Int) { self.helpers = helpers }

    /// Calls `body` once with each number below `count`, from several threads at once; returns when all calls have.
    package func forEach(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        if helpers == 0 || count < 2 { return (0..<count).forEach(body) }
        let job = Job(count, body)
        post(job)
        job.work()
        // A part that has been begun is at most some tens of microseconds from its end. Giving up the core at once would cost more where there
        // is much to do on it; a helper that has lost its own must have it after all.
        let patience = monotonicNanoseconds() + 100_000
        while job.left.load(ordering: .acquiring) > 0 {
            if monotonicNanoseconds() > patience { CurrentProcess.yieldProcessor() }
        }
        withdraw(job)
    }

    private func post(_ job: Job) {
        point.lock()
        state.waiting.append(job)
        let wanted = min(helpers, job.count - 1)
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
        point.lock()
        while true {
            guard let job = state.waiting.first(where: { $0.next.load(ordering: .relaxed) < $0.count }) else {
                state.idle += 1
                point.wait()
                state.idle -= 1
                continue
            }
            point.unlock()
            job.work()
            point.lock()
        }
    }
}
