import Synchronization

/// A write to the store that somebody else may be doing. Until ``wait()`` has returned the buffer must stay as it is.
final class PartWrite: Sendable {
    let range: Range<Int>
    let offset: BackingOffset
    private let crew: Crew
    private let job: Crew.Job
    private let outcome: Outcome

    private final class Outcome: Sendable { let error = Mutex<Errno?>(nil) }

    /// Has `range` of `buffer` written at `offset`.
    init(_ store: any ByteStore, _ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset, _ crew: Crew) {
        let outcome = Outcome()
        (self.range, self.offset, self.crew, self.outcome) = (range, offset, crew, outcome)
        job = crew.begin {
            do throws(Errno) { try store.write(buffer, range, at: offset) } catch { outcome.error.withLock { $0 = error } }
        }
    }

    /// Returns when it is done; may be called again.
    ///
    /// - Returns: what went wrong.
    func wait() -> Errno? {
        crew.finish(job)
        return outcome.error.withLock { $0 }
    }
}
