/// Sealed blocks that follow each other in the backing file, with the metadata pages between them, to be written in one call.
struct WriteRun {
    /// The most a run holds: four groups and a bit.
    static let capacity = 1_200_000

    let lane: AEADLane
    let staging: PageBuffer
    var used = 0
    var start = BackingOffset(0)
    /// What the entries were before, to be put back if the write fails.
    var before: [(state: GroupState, block: BlockIndex, entry: MetadataPage.Entry)] = []
    /// Metadata pages inside the run: sealed last, when all entries are known.
    var pages: [(state: GroupState, offset: Int)] = []

    /// A run for about `bytes` of plaintext; one that does not fit is finished early.
    init(_ lane: AEADLane, expecting bytes: Int) {
        self.lane = lane
        let pages = 2 + bytes / Int(ContentGeometry.groupSize)
        staging = lane.staging(atLeast: min(Self.capacity, bytes + (pages + 1) * ContentGeometry.blockSize))
    }

    var isEmpty: Bool { used == 0 }

    /// Where the pages of `block` begin: with the metadata page, if it is the first of its group.
    static func start(of block: BlockIndex) -> BackingOffset {
        block.indexInGroup == 0 ? ContentGeometry.metadataPage(of: block.group) : ContentGeometry.dataPage(of: block)
    }

    /// Whether `block` may be added: it follows on, and there is room.
    func takes(_ block: BlockIndex) -> Bool {
        isEmpty || (start + used == Self.start(of: block) && used + 2 * ContentGeometry.blockSize <= staging.count)
    }

    /// Forgets what it holds.
    mutating func clear() {
        used = 0
        before.removeAll(keepingCapacity: true)
        pages.removeAll(keepingCapacity: true)
    }
}

extension SecureFile {
    /// Seals a block into the run, which must take it. After an error the run is to be given to ``abandon(_:)``.
    func add(
        _ block: BlockIndex, _ state: GroupState, _ plaintext: Span<UInt8>, _ range: Range<Int>, to run: inout WriteRun
    ) throws(SecureFileError) {
        if run.isEmpty { run.start = WriteRun.start(of: block) }
        let index = block.indexInGroup
        if index == 0 {
            run.pages.append((state, run.used))
            run.used += ContentGeometry.blockSize
        }
        let slot: Slot
        do throws(CryptoFailure) {
            slot = try run.lane.sealBlock(plaintext, range, at: index, state.key, cipher, to: run.staging, run.used)
        } catch { throw failure(error) }
        run.before.append((state, block, state.page.entry(index)))
        state.page.setOnlyVersion(index, slot)
        state.seals += 1
        markDirty(state)
        run.used += range.count
    }

    func sealPages(_ run: inout WriteRun) throws(SecureFileError) {
        for (state, offset) in run.pages {
            try sealPage(state, run.lane)
            run.staging.copy(0..<ContentGeometry.blockSize, of: state.page.buffer, to: offset)
        }
    }

    /// Writes the run.
    func finish(_ run: inout WriteRun) throws(SecureFileError) {
        if run.isEmpty { return }
        do throws(SecureFileError) {
            try sealPages(&run)
            try writeToStore(run.staging, 0..<run.used, at: run.start)
        } catch {
            abandonWritten(&run)
            throw error
        }
        noteWritten(&run)
    }

    /// Takes back a run that may have been written in part.
    ///
    /// The versions it replaced were nobody's, and may be gone: their entries must not outlive a sync, after which they would count as owed. What
    /// was to replace them is in memory, and comes as if to a block that was cleared.
    func abandonWritten(_ run: inout WriteRun) {
        keepReplaced(run)
        let replaced = run.before.filter { !$0.entry.isHole }
        abandon(&run)
        for (state, block, _) in replaced {
            clearEntry(block.indexInGroup, state)
        }
    }

    /// What follows from all of a run being in the store.
    func noteWritten(_ run: inout WriteRun) {
        for (state, block, _) in run.before { state.noteWritten(1 << UInt64(block.indexInGroup), fresh: true, epoch) }
        for (state, _) in run.pages { notePageWritten(state) }
        run.clear()
    }

    /// Takes back what was added to a run and not written.
    func abandon(_ run: inout WriteRun) {
        for (state, block, entry) in run.before.reversed() {
            state.page.setEntry(block.indexInGroup, entry)
            // A sync in between may have written the page.
            markDirty(state)
        }
        run.clear()
    }

    /// Where a run that could not be written may have overwritten versions in part, the new ones are kept in memory.
    private func keepReplaced(_ run: WriteRun) {
        for (state, block, entry) in run.before where !entry.isHole && !state.pending.has(block.indexInGroup) {
            let index = block.indexInGroup
            let slot = state.page.newestSlot(index)
            let buffer = PageBuffer(count: ContentGeometry.blockSize)
            let place = ContentGeometry.dataPage(of: block).rawValue - run.start.rawValue
            do throws(CryptoFailure) {
                try run.lane.openBlock(slot, at: index, state.key, cipher, from: run.staging, Int(place), to: buffer, 0)
                hold(index, in: state, PendingBlock(buffer: buffer, length: Int(slot.length)))
            } catch {
                // Our own seal of a moment ago: only libcrypto failing can bring us here.
                context.noteFailure()
                context.log("\(path): block \(block) could not be kept in memory")
            }
        }
    }
}
