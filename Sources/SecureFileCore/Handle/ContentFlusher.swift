import Synchronization

/// Writes out what handles hold in memory some seconds after it came there, so that a program that lives long loses little when it dies. Its
/// thread lives as long as there is something to do.
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
        let ticker = try? Ticker(every: Self.interval) { [weak services, self] in
            isAwake.store(false, ordering: .relaxed)  // a write from here on wakes another, or is seen now
            guard let services, services.settle() else { return false }
            return !isAwake.exchange(true, ordering: .relaxed)
        }
        if ticker == nil { isAwake.store(false, ordering: .relaxed) }
    }
}

extension SecureServices {
    /// Returns whether there is more to do. What fails is kept in memory and tried again, and the next ``SecureFileHandle/synchronize()`` says so.
    fileprivate func settle() -> Bool {
        let held = held.withLock { $0 }
        guard held.state == .unlocked else { return false }
        try? held.namespace?.vault.settleContent()
        for file in held.standalone?.unsettledFiles ?? [] { try? file.settle() }
        return held.standalone?.unsettledFiles.isEmpty == false || held.namespace?.vault.content.unsettledFiles.isEmpty == false
    }
}
