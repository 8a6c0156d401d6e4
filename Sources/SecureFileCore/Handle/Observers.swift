import Synchronization

/// Whoever wants to know of a service's states. Each hears of every change in the order they came about, outside of all locks, one at a time.
final class Observers: Sendable {
    private struct Held: Sendable {
        var next = 0
        var bodies: [Int: @Sendable (SecureServices.State) -> Void] = [:]
        var waiting: [SecureServices.State] = []
        var isTelling = false
    }
    private let held = Mutex(Held())

    func add(_ body: @escaping @Sendable (SecureServices.State) -> Void) -> Int {
        held.withLock { held in
            held.next += 1
            held.bodies[held.next] = body
            return held.next
        }
    }

    func remove(_ number: Int) {
        let removed = held.withLock { $0.bodies.removeValue(forKey: number) }
        _ = removed  // freed here, outside of the lock
    }

    /// Tells `state`; where another thread, or an observer further up, is telling now, that one goes on with it.
    func tell(_ state: SecureServices.State) {
        let isFirst = held.withLock { held in
            held.waiting.append(state)
            defer { held.isTelling = true }
            return !held.isTelling
        }
        guard isFirst else { return }
        while let (state, bodies) = next() { for body in bodies { body(state) } }
    }

    private func next() -> (SecureServices.State, [@Sendable (SecureServices.State) -> Void])? {
        held.withLock { held in
            guard !held.waiting.isEmpty else {
                held.isTelling = false
                return nil
            }
            return (held.waiting.removeFirst(), held.bodies.sorted { $0.key < $1.key }.map(\.value))
        }
    }
}

extension SecureServices {
    /// Ends an observation by ``SecureServices/observe(_:)`` when it is cancelled or its last reference goes.
    public final class Observation: Sendable {
        private let observers: Observers
        private let number: Int

        fileprivate init(_ observers: Observers, _ number: Int) {
            self.observers = observers
            self.number = number
        }

        deinit { cancel() }

        /// No change is told any more, but one that is being told now. A second call does nothing.
        public func cancel() { observers.remove(number) }
    }

    /// Has `body` called with each new state, by the thread that brought it about. It may call the service; what it does should be short.
    ///
    /// - Returns: To be kept as long as `body` is to be called.
    public func observe(_ body: @escaping @Sendable (State) -> Void) -> Observation { Observation(observers, observers.add(body)) }

    /// The state now, then each new one.
    public var states: AsyncStream<State> {
        AsyncStream { continuation in
            let observation = observe { continuation.yield($0) }
            continuation.yield(state)
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}
