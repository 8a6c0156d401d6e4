import Synchronization

/// Writes out what handles hold in memory some seconds after it came there, so that a program that lives long loses little when it dies.
final class ContentFlusher: Sendable {
    private static let interval = Duration.seconds(5)
    private let isAwake = Atomic<Bool>(false)

    /// Something may be held in memory now.
    @inline(__always)
    func noteWork(_ services: SecureServices) {
        if isAwake.load(ordering: .relaxed) { return }
        wake(services)
    }

    private func wake(_ services: SecureServices) {
        if isAwake.exchange(true, ordering: .relaxed) { return }
        Task.detached { [weak services] in
            repeat {
                try? await Task.sleep(for: Self.interval)
            } while services?.settle() == true
        }
    }

    /// From now on a note wakes it again.
    fileprivate func sleep() { isAwake.store(false, ordering: .relaxed) }
}

extension SecureServices {
    /// Returns whether there is more to do. What fails is kept in memory and tried again, and the next ``SecureFileHandle/synchronize()`` says so.
    fileprivate func settle() -> Bool {
        flusher.sleep()
        let held = held.withLock { $0 }
        guard held.state == .unlocked else { return false }
        try? held.namespace?.vault.settleContent()
        for file in held.standalone?.unsettledFiles ?? [] { try? file.settle() }
        let isRest = held.standalone?.unsettledFiles.isEmpty == false || held.namespace?.vault.content.unsettledFiles.isEmpty == false
        if isRest { flusher.noteWorkAgain() }
        return isRest
    }
}

extension ContentFlusher {
    fileprivate func noteWorkAgain() { isAwake.store(true, ordering: .relaxed) }
}
