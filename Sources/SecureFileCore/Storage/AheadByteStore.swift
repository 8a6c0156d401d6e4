import Synchronization

/// A store whose file is lengthened ahead of what is written, while it grows by little and is synced each time (a log, a database's journal).
///
/// A sync of a file that has grown writes more than its data: the new length, the new extent, the journal. So such a file gets a stretch of zeros
/// behind its end, written with a sync that has all that to do anyway; the next syncs write data only. Whoever uses the store sees the length
/// without them. They are cut by ``endAhead()`` before the file is closed; after a crash they are excess behind the recorded size, which
/// readers ignore (FORMAT section 9).
///
/// Thread rules of ``ByteStore``; ``endAhead()`` may be called by anybody.
package final class AheadByteStore: ByteStore {
    private struct State {
        /// The length as the user of the store has it.
        var end: Int64
        /// The length of the file: `end`, or more. What lies between is zero.
        var reserved: Int64
        /// `end` at the last sync.
        var syncedEnd: Int64
        /// Syncs so far that came after a small growth.
        var steps = 0
        var firstPage = FirstPage.old
    }

    /// The first page has the recorded size, and is no older than the file was last cut. One from before may have recorded more than the file had
    /// left after a loss of power: the zeros would come to light.
    private enum FirstPage { case old, written, durable }

    private let inner: any ByteStore
    private let growth: GrowthAhead
    private let state: Mutex<State>

    /// - Parameter length: Of the file as it is, in bytes.
    package init(_ inner: any ByteStore, length: Int64, _ growth: GrowthAhead) {
        self.inner = inner
        self.growth = growth
        state = Mutex(State(end: length, reserved: length, syncedEnd: length))
    }

    deinit { growth.forget(self) }

    /// Cuts what lies behind the end; the time of modification stays. Does nothing where there is nothing.
    package func endAhead() throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            guard state.reserved > state.end else { return }
            let time = try inner.modificationTime()
            try inner.setLength(state.end)
            state.reserved = state.end
            if let time { try inner.restore(modified: time) }
        }
        growth.forget(self)
    }

    // MARK: What knows of the end

    package func length() throws(Errno) -> Int64 { state.withLock { $0.end } }

    package func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int {
        let left = state.withLock { $0.end } - offset.rawValue
        if left <= 0 { return 0 }
        return try inner.read(at: offset, into: buffer, range.prefix(Int(min(left, Int64(range.count)))))
    }

    package func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(Errno) {
        try writing(at: offset, range.count) { () throws(Errno) in try inner.write(buffer, range, at: offset) }
    }

    package func write(_ pages: [PageBuffer], _ count: Int, at offset: BackingOffset) throws(Errno) {
        try writing(at: offset, count) { () throws(Errno) in try inner.write(pages, count, at: offset) }
    }

    private func writing(at offset: BackingOffset, _ count: Int, _ body: () throws(Errno) -> Void) throws(Errno) {
        let end = offset.rawValue + Int64(count)
        try state.withLock { (state) throws(Errno) in
            do throws(Errno) { try body() } catch {
                // Any part of it may be there, as in a file that was not lengthened.
                if let length = try? inner.length() {
                    state.end = max(state.end, min(length, end))
                    state.reserved = max(state.reserved, length)
                }
                throw error
            }
            state.end = max(state.end, end)
            state.reserved = max(state.reserved, end)
            if offset.rawValue == 0, state.firstPage == .old { state.firstPage = .written }
        }
    }

    package func setLength(_ length: Int64) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            if length < state.end { state.firstPage = .old }
            if !(state.end...state.reserved).contains(length) {
                try inner.setLength(length)
                state.reserved = length
            }
            state.end = length
        }
    }

    package func nextData(at offset: BackingOffset) throws(Errno) -> BackingOffset? {
        let end = state.withLock { $0.end }
        guard offset.rawValue < end, let found = try inner.nextData(at: offset), found.rawValue < end else { return nil }
        return found
    }

    package func synchronize(attributes: Bool) throws(Errno) {
        let (end, firstPage) = state.withLock { state in
            lengthen(&state)
            return (state.end, state.firstPage)
        }
        try inner.synchronize(attributes: attributes)
        state.withLock { state in
            state.syncedEnd = end
            if firstPage == .written { state.firstPage = .durable }
        }
    }

    /// Writes the zeros, where the file has grown often enough by little, and has used up what it had.
    private func lengthen(_ state: inout State) {
        let grown = state.end - state.syncedEnd
        if grown <= 0 { return }
        state.steps = grown <= growth.limits.largestStep ? state.steps + 1 : 0
        // Not the inline form: what is so short is written whole.
        guard state.steps >= growth.limits.steps, state.firstPage == .durable else { return }
        guard state.end == state.reserved, state.end > 4096, growth.admit(self) else { return }
        let start = (state.end + 4095) & ~4095
        let zeros = growth.zeros
        let target = start + max(growth.limits.least, min(growth.limits.most, 16 * grown) & ~4095)
        do throws(Errno) {
            for offset in stride(from: start, to: target, by: zeros.count) {
                try inner.write(zeros, 0..<min(zeros.count, Int(target - offset)), at: BackingOffset(offset))
            }
            state.reserved = target
        } catch {
            // No room, or worse, of which the sync will tell. It was but an attempt: others may need the space. What is left of it is zero.
            state.steps = -1000
            try? inner.setLength(state.end)
            if let length = try? inner.length() { state.reserved = max(state.end, length) }
        }
    }

    // MARK: The rest

    package func prefetch(at offset: BackingOffset, count: Int64) { inner.prefetch(at: offset, count: count) }
    package func punchHole(at offset: BackingOffset, count: Int64) throws(Errno) { try inner.punchHole(at: offset, count: count) }
    package func reserve(at offset: BackingOffset, count: Int64) throws(Errno) { try inner.reserve(at: offset, count: count) }
    package func modificationTime() throws(Errno) -> FileTime? { try inner.modificationTime() }
    package func restore(modified: FileTime) throws(Errno) { try inner.restore(modified: modified) }
    package func restoreLater(modified: FileTime) throws(Errno) { try inner.restoreLater(modified: modified) }
}
