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
    var end: BackingOffset { start + used }
}

extension SecureFile {
    /// Seals a block into the run; one that does not follow on finishes the run before.
    func add(
        _ block: BlockIndex, _ state: GroupState, _ plaintext: Span<UInt8>, _ range: Range<Int>, to run: inout WriteRun
    ) throws(SecureFileError) {
        let place = ContentGeometry.dataPage(of: block)
        let opensGroup = block.indexInGroup == 0
        let first = opensGroup ? ContentGeometry.metadataPage(of: block.group) : place
        if !run.isEmpty, run.end != first || run.used + 2 * ContentGeometry.blockSize > run.staging.count { try finish(&run) }
        if run.isEmpty { run.start = first }
        if opensGroup {
            run.pages.append((state, run.used))
            run.used += ContentGeometry.blockSize
        }
        let index = block.indexInGroup
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

    /// Writes the run.
    func finish(_ run: inout WriteRun) throws(SecureFileError) {
        if run.isEmpty { return }
        defer {
            run.used = 0
            run.before.removeAll(keepingCapacity: true)
            run.pages.removeAll(keepingCapacity: true)
        }
        do throws(SecureFileError) {
            for (state, offset) in run.pages {
                try sealPage(state, run.lane)
                run.staging.copy(0..<ContentGeometry.blockSize, of: state.page.buffer, to: offset)
            }
            try writeToStore(run.staging, 0..<run.used, at: run.start)
        } catch {
            for (state, block, entry) in run.before.reversed() { state.page.setEntry(block.indexInGroup, entry) }
            throw error
        }
        for (state, block, _) in run.before { state.noteWritten(block.indexInGroup, fresh: true, epoch) }
        for (state, _) in run.pages { notePageWritten(state) }
    }
}
