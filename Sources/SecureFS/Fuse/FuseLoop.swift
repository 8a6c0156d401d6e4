import CFuse
import Glibc
import SecureFileCore
import Synchronization

/// How the loop is tuned. The defaults are measured (docs/ARCHITECTURE.md).
package struct LoopTuning: Sendable {
    /// How long the leader looks at the empty device before it sleeps. Waking a sleeper costs the caller more than a short request does.
    package var spinNanoseconds = 40_000
    package var threadLimit = 8
    /// Requests found waiting one right after the other before another thread is woken.
    package var streakLimit = 16
    /// Threads at work above which no more are woken for requests that queue up: more than there are cores only wait for each other.
    package var crowd = 2

    package init() {
        let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        // With one core the caller cannot run while we look: looking is all loss.
        if processors < 2 { spinNanoseconds = 0 }
        threadLimit = min(8, max(4, 2 * processors))
        crowd = max(2, min(processors, threadLimit))
    }
}

/// The session loop: threads that take requests from the device and run them.
///
/// One thread leads: it reads, spins for a while when there is nothing, then sleeps on the device. Short requests it runs itself, waking
/// nobody: with the caller on the other core that is the shortest way there is. Before a long request, and when requests queue up, it
/// passes the lead on. A thread that has finished goes on reading as long as requests wait, whether it leads or not.
@safe
final class FuseLoop: @unchecked Sendable {
    private let session: OpaquePointer
    private let context: FuseContext
    private let device: FuseDevice
    private let tuning: LoopTuning
    private let state: FuseLoopState
    private let watch = FuseLoopWatch()
    private let threads = Mutex<[NativeThread]>([])
    private let workers = Mutex<[FuseWorker]>([])
    private let failure = Mutex<Errno?>(nil)
    private let onEnd: @Sendable () -> Void
    private let syncs = FuseSyncs()

    /// - Parameter onEnd: Called once, by a thread of the loop, when the mount has gone or the device has failed.
    init(
        _ session: OpaquePointer, fd: Int32, _ context: FuseContext, _ tuning: LoopTuning, onEnd: @escaping @Sendable () -> Void
    ) throws(Errno) {
        unsafe self.session = unsafe session
        self.context = context
        self.tuning = tuning
        self.onEnd = onEnd
        device = try FuseDevice(fd: fd)
        state = FuseLoopState(threadLimit: tuning.threadLimit)
    }

    func start() throws(Errno) {
        _ = state.addThread()
        let first = try NativeThread.start { self.work() }
        let watcher = try NativeThread.start { self.watchLeader() }
        threads.withLock { $0 += [first, watcher] }
    }

    /// Makes all threads return once they have finished what they do.
    func stop() {
        state.stop()
        device.wake()
        watch.stop()
    }

    /// Waits until all threads have returned. The error is what the device failed with, if that ended the loop.
    func join() -> Errno? {
        while let thread = threads.withLock({ $0.popLast() }) { thread.join() }
        return failure.withLock { $0 }
    }

    private func addThread() {
        do throws(Errno) {
            let thread = try NativeThread.start { self.work() }
            threads.withLock { $0.append(thread) }
        } catch {
            // Fewer threads, then: whoever finishes first reads on.
            state.removeThread()
        }
    }

    // MARK: A thread

    private func work() {
        let worker = FuseWorker()
        workers.withLock { $0.append(worker) }
        context.setWorker(worker)
        while let ticket = state.becomeLeader() {
            lead(worker, ticket)
            // Not the leader any more: help as long as requests wait.
            while !state.isStopping, !isOneTooMany(worker.request), state.becomeLeaderIfFree().map({ lead(worker, $0) }) == nil {
                guard case .request(let count) = take(worker) else { break }
                run(worker, count)
            }
            sendReplies(worker)
        }
    }

    /// Writes take turns at their file's lock: more threads than cores would look at it instead of working. Who reads waits for a disk.
    private func isOneTooMany(_ last: RawRequest) -> Bool { last.isWrite && state.atWork > tuning.crowd }

    /// Sends what the thread holds back: it goes on to something that may take long.
    private func sendReplies(_ worker: FuseWorker) {
        if worker.replies.isEmpty { return }
        worker.replies.send(to: device)
        worker.beIdle()
    }

    private func lead(_ worker: FuseWorker, _ ticket: UInt64) {
        var spin = FuseSpin(limit: tuning.spinNanoseconds)
        var streak = 0
        var hasSynced = false
        while state.leads(ticket) {
            switch take(worker) {
            case .request(let count):
                worker.request = RawRequest(reading: worker.input, count: count)
                if hasSynced, !worker.request.isBackground { syncs.noteCrowd() }
                hasSynced = false
                streak = spin.isLooking || worker.request.isBackground ? 0 : streak + 1
                spin.found()
                let isStreak = streak >= tuning.streakLimit
                if isStreak { streak = 0 }
                if mayBeSlow(worker.request) || (isStreak && state.atWork < tuning.crowd) {
                    if state.release(ticket) { addThread() }
                    process(worker, count)
                    return
                }
                watch.begin(ticket)
                process(worker, count)
                // The caller is waking up, or nobody waits: but with the answer to a removal the kernel goes on at once.
                if !worker.request.isBackground, !worker.request.isQuick { context.fileSystem.dropForgotten() }
                watch.end(ticket)
                hasSynced = worker.request.isSync
            case .empty:
                hasSynced = false
                if spin.goesOn() { continue }
                context.fileSystem.dropForgotten()
                watch.sleep()
                device.sleep()
                watch.awake()
                spin.slept()
            case .gone:
                finish(nil)
            case .failed(let error):
                finish(error)
            }
        }
    }

    /// Whether the lead is passed on before the request.
    private func mayBeSlow(_ request: RawRequest) -> Bool { request.isSlow && !(request.isSync && syncs.keepLead) }

    /// Takes a request if there is one; the worker is busy until it has been processed.
    private func take(_ worker: FuseWorker) -> FuseDevice.Outcome {
        // With replies in hand it is busy already.
        if worker.replies.isEmpty { worker.beBusy() }
        let outcome = device.read(into: worker.input)
        if case .request(let count) = outcome {
            worker.noteInput(count)
            return outcome
        }
        worker.replies.send(to: device)
        worker.beIdle()
        return outcome
    }

    private func run(_ worker: FuseWorker, _ count: Int) {
        worker.request = RawRequest(reading: worker.input, count: count)
        process(worker, count)
    }

    private func process(_ worker: FuseWorker, _ count: Int) {
        let begin = worker.request.isSync ? monotonicNanoseconds() : 0
        worker.replies.isOpen = worker.request.isPatient
        // Others may wait for what this one has done already, and it for them.
        if !worker.replies.isOpen { worker.replies.send(to: device) }
        defer {
            if worker.request.isSync { syncs.note(nanoseconds: monotonicNanoseconds() - begin) }
            endRequest(worker)
        }
        if worker.request.isQuick, FuseRemovedTimes.answer(worker.input, context, worker.small, device) { return }
        if worker.request.opcode == FuseStatx.opcode { return FuseStatx.answer(worker.input, worker.request.unique, context, device) }
        unsafe worker.input.withPointer(0..<count) { bytes in
            var buffer = unsafe fuse_buf()
            unsafe buffer.size = count
            unsafe buffer.mem = bytes.baseAddress
            if worker.request.opcode == FUSE_INIT.rawValue { noteInit(worker, count) }
            unsafe fuse_session_process_buf(session, &buffer)
        }
    }

    private func endRequest(_ worker: FuseWorker) {
        let mayBeRemembered = context.fileSystem.mayBeRemembered
        if worker.replies.isFull || !mayBeRemembered || state.isStopping { worker.replies.send(to: device) }
        // While the key goes, or is away, no plaintext stays behind.
        if !mayBeRemembered { worker.wipe() }
        if worker.replies.isEmpty { worker.beIdle() }
    }

    /// FORMAT of fuse_init_in: major, minor, readahead, flags behind the 40-byte header.
    private func noteInit(_ worker: FuseWorker, _ count: Int) {
        guard count >= 56 else { return }
        let flags: UInt32 = worker.input.load(at: 52)
        context.privilegeFlagOffered.store(flags & UInt32(FUSE_HANDLE_KILLPRIV_V2) != 0, ordering: .relaxed)
        context.initRequest.store(worker.request.unique, ordering: .relaxed)
    }

    private func finish(_ error: Errno?) {
        failure.withLock { if $0 == nil { $0 = error } }
        if state.isStopping { return }
        stop()
        onEnd()
    }

    // MARK: From other threads

    /// Waits until every request that has been begun is answered.
    func waitForRequests() { for worker in workers.withLock({ $0 }) { worker.whileIdle {} } }

    /// Wipes the memory of all threads, each when it has answered the request in hand.
    func wipeBuffers() { for worker in workers.withLock({ $0 }) { worker.whileIdle { worker.wipe() } } }

    // MARK: The watch

    private func watchLeader() {
        while let stuck = watch.nextStuckLeader() {
            if state.release(stuck) { addThread() }
        }
    }
}

/// How long a leader looks for the next request before it sleeps.
///
/// Spinning pays where the next request comes soon. After some spins in vain it stops, and begins again once a sleep was so short that a
/// spin would have done: a slow trickle of requests costs no processor time.
struct FuseSpin {
    private let limit: Int
    private var since = 0
    private var misses = 0
    private var sleptAt = 0
    private static let missLimit = 8

    init(limit: Int) { self.limit = limit }

    var isLooking: Bool { since != 0 }

    mutating func found() {
        if since != 0 { misses = 0 }
        since = 0
    }

    /// Called when the device was empty: false when it is time to sleep.
    mutating func goesOn() -> Bool {
        let now = monotonicNanoseconds()
        if since == 0 {
            if limit == 0 || misses >= FuseSpin.missLimit {
                sleptAt = now
                return false
            }
            since = now
            return true
        }
        if now - since < limit { return true }
        misses += 1
        sleptAt = now
        return false
    }

    mutating func slept() {
        since = 0
        if misses >= FuseSpin.missLimit, limit > 0, monotonicNanoseconds() - sleptAt < 2 * limit { misses = 0 }
    }
}
