import Synchronization

/// Large writes, with the help of a crew.
extension SecureFile {
    /// What becomes of a whole block that is written.
    private enum Fate { case goesAtOnce, isHeld }

    /// Blocks behind each other that share one fate.
    private struct Stretch {
        var first: BlockIndex
        var fate: Fate?
        var count = 0
        /// By group.
        var parts: [(state: GroupState, blocks: Range<Int>)] = []

        mutating func add(_ block: BlockIndex, _ state: GroupState) {
            let index = block.indexInGroup
            if let last = parts.last, last.state === state {
                parts[parts.count - 1].blocks = last.blocks.lowerBound..<index + 1
            } else {
                parts.append((state, index..<index + 1))
            }
            count += 1
        }

        /// Pieces small enough that everybody is busy until the end, and the first is soon ready to be written.
        func pieces(start: BackingOffset) -> [SealingLine.Piece] {
            let size = max(1, min(16, count / 8))
            var pieces: [SealingLine.Piece] = []
            var number = 0
            for (state, blocks) in parts {
                for first in stride(from: blocks.lowerBound, to: blocks.upperBound, by: size) {
                    let place = ContentGeometry.dataPage(of: state.index.block(first)).rawValue - start.rawValue
                    let count = min(size, blocks.upperBound - first)
                    pieces.append(SealingLine.Piece(state: state, first: first, count: count, number: number, target: Int(place)))
                    number += count
                }
            }
            return pieces
        }
    }

    /// Most blocks that are sealed before they are held: two groups, so that batches can go out in between.
    private static let heldAtOnce = 256

    /// Writes whole blocks from `first` on, as many as can be sealed side by side.
    ///
    /// - Parameters:
    ///   - end: The block behind the last that is written whole.
    ///   - start: Where `first` begins in the source.
    ///   - done: Is moved on to `first` when all before it is written or held.
    /// - Returns: How many blocks are written or held, and how many are to be written one by one before it is worth asking again. `failure`: of an
    ///   earlier batch, which went out meanwhile.
    func writeTogether(
        _ first: BlockIndex, before end: BlockIndex, _ source: Span<UInt8>, from start: Int, _ run: inout WriteRun, _ done: inout ByteOffset,
        existing: ByteCount
    ) throws(SecureFileError) -> (written: Int, alone: Int, failure: SecureFileError?) {
        let wanted = Int(end.rawValue - first.rawValue)
        guard let crew = context.options.crew, wanted > 1, wanted * ContentGeometry.blockSize >= min(crew.smallest, 1 << 18) else {
            return (0, max(1, wanted), nil)
        }
        let room = run.staging.count / ContentGeometry.blockSize
        let stretch = try stretch(from: first, before: end, room: room, existing: existing)
        guard let fate = stretch.fate, stretch.count > 1, stretch.count * ContentGeometry.blockSize >= min(crew.smallest, 1 << 17) else {
            return (0, max(1, stretch.count), nil)
        }
        try finish(&run)
        done = first.start
        return try LentBytes.of(source) { (source) throws(SecureFileError) in
            switch fate {
            case .goesAtOnce:
                try write(stretch, source, start, &run, crew)
                return (stretch.count, 0, nil)
            case .isHeld: return try hold(stretch, source, start, crew, mayCommit: existing == plaintextSize)
            }
        }
    }

    private func stretch(from first: BlockIndex, before end: BlockIndex, room: Int, existing: ByteCount) throws(SecureFileError) -> Stretch {
        var stretch = Stretch(first: first)
        var state = try groupForChange(first.group, existing: existing)
        var block = first
        var pages = first.indexInGroup == 0 ? 1 : 0
        while block < end, stretch.count + pages < room, stretch.fate != .isHeld || stretch.count < Self.heldAtOnce {
            if state.index != block.group {
                // Met again, as the first of its stretch, by whoever writes what is before it.
                guard let next = try? groupForChange(block.group, existing: existing) else { break }
                state = next
                pages += 1
                if stretch.count + pages == room { break }
            }
            guard let fate = fate(of: block.indexInGroup, in: state), stretch.fate == nil || stretch.fate == fate else { break }
            stretch.fate = fate
            stretch.add(block, state)
            block = block.next
        }
        return stretch
    }

    /// Nil: to be found out when its turn comes, as a sync may be needed for it.
    private func fate(of index: Int, in state: GroupState) -> Fate? {
        if isOwed(index, in: state) || state.pending.has(index) { return isLenient ? nil : .isHeld }
        return isOwed && foreignSize != nil ? nil : .goesAtOnce
    }

    // MARK: Blocks that go at once

    private func write(_ stretch: Stretch, _ source: LentBytes, _ start: Int, _ run: inout WriteRun, _ crew: Crew) throws(SecureFileError) {
        run.start = WriteRun.start(of: stretch.first)
        let pieces = stretch.pieces(start: run.start)
        let line = SealingLine(pieces, of: source, from: start, to: .store(store, run.staging, run.start), cipher, context.lanes)
        (hasUnsyncedWrites, hasTimeMoved) = (true, true)
        line.work(crew)
        note(line, in: &run)
        do throws(SecureFileError) {
            if let error = line.cryptoFailure {
                // What was sealed before may have been written.
                try? noteWrite(0, at: run.start, .inputOutput)
                throw failure(error)
            }
            try noteWrite(run.used, at: run.start, line.storeFailure)
            try writePages(&run)
        } catch {
            abandonWritten(&run)
            throw error
        }
        noteWritten(&run)
    }

    /// Makes the sealed blocks the only versions of their entries.
    private func note(_ line: SealingLine, in run: inout WriteRun) {
        for (piece, slots) in zip(line.pieces, line.slots) {
            guard let slots else { continue }
            let state = piece.state
            if piece.first == 0 { run.pages.append((state, piece.target - ContentGeometry.blockSize)) }
            for (i, slot) in slots.enumerated() {
                let index = piece.first + i
                run.before.append((state, state.index.block(index), state.page.entry(index)))
                state.page.setOnlyVersion(index, slot)
            }
            state.seals += UInt64(slots.count)
            markDirty(state)
            run.used = piece.end
        }
    }

    /// The metadata pages between the blocks: only now are all their entries known.
    private func writePages(_ run: inout WriteRun) throws(SecureFileError) {
        try sealPages(&run)
        for (_, offset) in run.pages { try writeToStore(run.staging, offset..<offset + ContentGeometry.blockSize, at: run.start + offset) }
    }

    // MARK: Blocks that wait for their batch

    /// Where an earlier batch is due it goes out while the blocks are sealed: writing takes one thread only. Not in a write that makes the file
    /// longer: its size is in memory before its blocks are.
    private func hold(
        _ stretch: Stretch, _ source: LentBytes, _ start: Int, _ crew: Crew, mayCommit: Bool
    ) throws(SecureFileError) -> (written: Int, alone: Int, failure: SecureFileError?) {
        let pages = context.pages.take(stretch.count)
        let pieces = stretch.pieces(start: ContentGeometry.dataPage(of: stretch.first))
        let line = SealingLine(pieces, of: source, from: start, to: .pages(pages), cipher, context.lanes)
        let failed = Failed()
        if mayCommit, isBatchDue(crew) {
            line.work(crew) { [self] in do throws(SecureFileError) { try commitPending() } catch { failed.error.withLock { $0 = error } } }
        } else {
            line.work(crew)
        }
        for (piece, slots) in zip(pieces, line.slots) {
            let own = pages[piece.number..<piece.number + piece.count]
            guard let slots else {
                for page in own { context.pages.giveBack(page, holdsPlaintext: false) }
                continue
            }
            piece.state.seals += UInt64(slots.count)
            hold(own, slots, from: piece.first, in: piece.state)
        }
        if let error = line.cryptoFailure { throw failure(error) }
        return (stretch.count, 0, failed.error.withLock { $0 })
    }

    private final class Failed: Sendable { let error = Mutex<SecureFileError?>(nil) }

    /// An earlier batch that may as well go out beside the sealing of the next: smaller than others, as it costs nobody any time.
    private func isBatchDue(_ crew: Crew) -> Bool {
        isBatchDue(min(crew.smallest, 1 << 20), perGroup: min(crew.smallest, Int(ContentGeometry.groupSize) / 2))
    }
}
