import SecureFileCore
import Synchronization

/// Writes out, every few seconds, what overwritten files hold back: many files with one sync. Sleeps as long as there is nothing.
final class Flusher: @unchecked Sendable {
    private let context: ContentContext
    private let folder: FileDescriptor
    private let log: MountLog
    private let point = WaitPoint()
    // Under the lock of `point`.
    private var isStopping = false
    private var isUrgent = false
    private var thread: NativeThread?
    private let lingerLimit: Int
    private let lingering = Mutex<[Node]>([])
    private let hasWork = Atomic<Bool>(false)
    private let failing = Atomic<Bool>(false)
    /// Called after each round. Set before the start.
    var onSettled: (@Sendable () -> Void)?

    private static let interval = 5_000_000_000

    /// - Parameter descriptorLimit: How many descriptors the process may have: a quarter of them may belong to files that wait for a round.
    init(_ context: ContentContext, _ folder: FileDescriptor, _ log: MountLog, descriptorLimit: Int) {
        lingerLimit = max(8, min(1024, descriptorLimit / 4))
        self.context = context
        self.folder = folder
        self.log = log
    }

    func start() throws(Errno) {
        let started = try NativeThread.start { self.work() }
        point.lock()
        thread = started
        point.unlock()
    }

    func stop() {
        point.lock()
        isStopping = true
        point.signal()
        let running = thread
        thread = nil
        point.unlock()
        running?.join()
    }

    /// Something may be held back now.
    func noteWork() {
        if hasWork.load(ordering: .relaxed) { return }
        point.lock()
        hasWork.store(true, ordering: .relaxed)
        point.signal()
        point.unlock()
    }

    /// A file without users stays open until what it holds back is written.
    func keep(_ node: Node) {
        let count = lingering.withLock { nodes in
            nodes.append(node)
            return nodes.count
        }
        noteWork()
        if count > lingerLimit / 2 { hurry() }
    }

    /// More files wait than should: the next are not to be kept.
    var isCrowded: Bool { lingering.withLock { $0.count } > lingerLimit }

    private func hurry() {
        point.lock()
        isUrgent = true
        point.signal()
        point.unlock()
    }

    func takeLingering() -> [Node] {
        lingering.withLock { nodes in
            defer { nodes = [] }
            return nodes
        }
    }

    private func work() {
        point.lock()
        defer { point.unlock() }
        while !isStopping {
            if !hasWork.load(ordering: .relaxed) {
                point.wait()
                continue
            }
            if !isUrgent { point.wait(nanoseconds: Flusher.interval) }
            if isStopping { return }
            isUrgent = false
            hasWork.store(false, ordering: .relaxed)
            point.unlock()
            let again = round()
            point.lock()
            if again { hasWork.store(true, ordering: .relaxed) }
        }
    }

    /// Returns whether there is more to do.
    private func round() -> Bool {
        let folder = folder
        do throws(SecureFileError) {
            try context.settleAll { () throws(Errno) in try folder.synchronizeFilesystem() }
            failing.store(false, ordering: .relaxed)
        } catch {
            // Kept in memory, and tried again; said once until it works again.
            if !failing.exchange(true, ordering: .relaxed) { log.write("\(error)") }
        }
        onSettled?()
        let isIdle = context.unsettledFiles.isEmpty
        return !isIdle || context.trimMemory()
    }
}
