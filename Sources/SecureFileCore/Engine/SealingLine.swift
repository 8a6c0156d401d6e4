import Synchronization

/// Whole blocks of one large write, sealed by several threads, each by whoever is free. Where they go to the store at once they are also written,
/// in their order, by one thread at a time: filesystems let no more than one into a file anyway.
///
/// Only what is lent to it is touched: the file's state follows when ``work(_:and:)`` has returned.
final class SealingLine: Sendable {
    /// Neighbouring blocks of one group.
    struct Piece: Sendable {
        let state: GroupState
        /// The first block's number in the group, and how many there are.
        let first: Int, count: Int
        /// The first block's number in the write.
        let number: Int
        /// Where the blocks go in the staging buffer.
        let target: Int
        var end: Int { target + count * ContentGeometry.blockSize }
    }

    /// Where the sealed blocks go.
    enum Output: Sendable {
        /// A buffer with a place for each, from which they are written to the store at an offset.
        case store(any ByteStore, PageBuffer, BackingOffset)
        /// A page for each.
        case pages([PageBuffer])
    }

    private struct Progress {
        /// Other work, to be done by one thread beside the rest.
        var other: (@Sendable () -> Void)?
        var nextToSeal = 0
        var nextToWrite = 0
        var isWriting = false
        /// Of each piece, when it is sealed.
        var slots: [[Slot]?]
        var cryptoFailure: CryptoFailure?
        var storeFailure: Errno?
        var hasFailed: Bool { cryptoFailure != nil || storeFailure != nil }
    }

    private enum Step {
        case other(@Sendable () -> Void)
        case seal(Int)
        case write(Range<Int>)
    }

    let pieces: [Piece]
    private let output: Output
    private let source: LentBytes
    /// Where the first block begins in the source.
    private let start: Int
    private let cipher: CipherKind
    private let lanes: LanePool
    private let progress: Mutex<Progress>

    init(_ pieces: [Piece], of source: LentBytes, from start: Int, to output: Output, _ cipher: CipherKind, _ lanes: LanePool) {
        (self.pieces, self.source, self.start, self.output, self.cipher, self.lanes) = (pieces, source, start, output, cipher, lanes)
        progress = Mutex(Progress(slots: Array(repeating: nil, count: pieces.count)))
    }

    /// Does the work, and `other`, beside each other; returns when nobody is at it any more.
    func work(_ crew: Crew, and other: (@Sendable () -> Void)? = nil) {
        progress.withLock { $0.other = other }
        crew.forEach(min(crew.size, pieces.count + (other == nil ? 0 : 1))) { [self] _ in
            lanes.withLane { lane in
                while let step = progress.withLock({ next(&$0) }) { take(step, lane) }
            }
        }
    }

    /// The slots of each piece that has been sealed.
    var slots: [[Slot]?] { progress.withLock { $0.slots } }
    var cryptoFailure: CryptoFailure? { progress.withLock { $0.cryptoFailure } }
    var storeFailure: Errno? { progress.withLock { $0.storeFailure } }

    /// Writing goes first: it is what has to be done one after the other. Nil: what is left is being done by others, who also do what follows.
    private func next(_ progress: inout Progress) -> Step? {
        if let other = progress.other {
            progress.other = nil
            return .other(other)
        }
        if progress.hasFailed { return nil }
        if case .store = output, !progress.isWriting {
            let first = progress.nextToWrite
            var end = first
            while end < pieces.count, progress.slots[end] != nil, end == first || pieces[end - 1].end == pieces[end].target { end += 1 }
            if end > first {
                (progress.isWriting, progress.nextToWrite) = (true, end)
                return .write(first..<end)
            }
        }
        if progress.nextToSeal == pieces.count { return nil }
        progress.nextToSeal += 1
        return .seal(progress.nextToSeal - 1)
    }

    private func take(_ step: Step, _ lane: AEADLane) {
        switch step {
        case .other(let body): body()
        case .seal(let number):
            do throws(CryptoFailure) {
                let slots = try source.withSpan { (span) throws(CryptoFailure) in try seal(pieces[number], span, lane) }
                progress.withLock { $0.slots[number] = slots }
            } catch { progress.withLock { $0.cryptoFailure = error } }
        case .write(let numbers):
            var failure: Errno?
            do throws(Errno) { try write(numbers) } catch { failure = error }
            progress.withLock { progress in
                progress.isWriting = false
                progress.storeFailure = failure
            }
        }
    }

    private func seal(_ piece: Piece, _ span: Span<UInt8>, _ lane: AEADLane) throws(CryptoFailure) -> [Slot] {
        var slots: [Slot] = []
        slots.reserveCapacity(piece.count)
        for i in 0..<piece.count {
            let from = start + (piece.number + i) * ContentGeometry.blockSize
            let range = from..<from + ContentGeometry.blockSize
            let index = piece.first + i
            switch output {
            case .store(_, let staging, _):
                let target = piece.target + i * ContentGeometry.blockSize
                slots.append(try lane.sealBlock(span, range, at: index, piece.state.key, cipher, to: staging, target))
            case .pages(let pages):
                slots.append(try lane.sealBlock(span, range, at: index, piece.state.key, cipher, to: pages[piece.number + i], 0))
            }
        }
        return slots
    }

    private func write(_ numbers: Range<Int>) throws(Errno) {
        guard case .store(let store, let staging, let offset) = output else { return }
        let from = pieces[numbers.lowerBound].target
        try store.write(staging, from..<pieces[numbers.upperBound - 1].end, at: offset + from)
    }
}
