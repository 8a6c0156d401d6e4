/// Blocks whose newest content is in memory only.
extension SecureFile {
    // MARK: Which there are

    func isPending(_ block: BlockIndex) -> Bool { pendingCount > 0 && pendingGroups[block.group]?.pending.has(block.indexInGroup) == true }

    /// The groups that have some, in order.
    func pendingGroupsInOrder() -> [GroupState] { pendingGroups.values.sorted { $0.index < $1.index } }

    /// The first pending block behind `block` and before `end`.
    func nextPending(after block: BlockIndex, before end: BlockIndex) -> BlockIndex? {
        if pendingCount == 0 { return nil }
        let first = block.next
        if let here = pendingGroups[first.group] {
            let bits = here.pending.bits & PendingBlocks.bits(from: first.indexInGroup)
            if bits != 0 { return Self.block(here.index.block(bits.trailingZeroBitCount), before: end) }
        }
        guard let group = nextPendingGroup(after: first.group), let state = pendingGroups[group] else { return nil }
        return Self.block(group.block(state.pending.bits.trailingZeroBitCount), before: end)
    }

    private static func block(_ block: BlockIndex, before end: BlockIndex) -> BlockIndex? { block < end ? block : nil }

    func nextPendingGroup(after index: GroupIndex) -> GroupIndex? { pendingGroups.keys.filter { $0 > index }.min() }

    // MARK: Coming and going

    /// Keeps the content of a block, to be written later; what was kept before goes.
    func hold(_ index: Int, in state: GroupState, _ held: PendingBlock) {
        if let before = state.pending[index] {
            giveBack(before)
        } else {
            if state.pending.bits == 0 { pendingGroups[state.index] = state }
            pendingCount += 1
            context.addPending(ContentGeometry.blockSize)
        }
        state.pending[index] = held
    }

    func release(_ index: Int, in state: GroupState) {
        if !unfinished.isEmpty { unfinished[state.index.block(index)] = nil }
        forget(index, in: state)
    }

    /// The same for sealed blocks of a group that are in the store now.
    func releaseWritten(_ bits: UInt64, in state: GroupState) {
        if !unfinished.isEmpty {
            for block in unfinished.keys where block.group == state.index && bits >> UInt64(block.indexInGroup) & 1 == 1 { unfinished[block] = nil }
        }
        let blocks = state.pending.take(bits)
        if state.pending.bits == 0 { pendingGroups[state.index] = nil }
        pendingCount -= blocks.count
        context.addPending(-blocks.count * ContentGeometry.blockSize)
        context.pages.giveBack(sealed: blocks)
    }

    private func forget(_ index: Int, in state: GroupState) {
        guard let held = state.pending[index] else { return }
        state.pending[index] = nil
        if state.pending.bits == 0 { pendingGroups[state.index] = nil }
        pendingCount -= 1
        context.addPending(-ContentGeometry.blockSize)
        giveBack(held)
    }

    func giveBack(_ held: PendingBlock) { context.pages.giveBack(held.buffer, holdsPlaintext: !held.isSealed) }

    /// Forgets what is held of `blocks`: it is not to be written any more.
    func releasePending(_ blocks: Range<BlockIndex>) {
        for block in unfinished.keys where blocks.contains(block) { unfinished[block] = nil }
        if pendingCount == 0 { return }
        for state in pendingGroupsInOrder() where state.index >= blocks.lowerBound.group && state.index.firstBlock < blocks.upperBound {
            var bits = state.pending.bits
            while let index = PendingBlocks.popFirst(&bits) { if blocks.contains(state.index.block(index)) { release(index, in: state) } }
        }
    }

    func releasePending(from first: BlockIndex) { releasePending(first..<BlockIndex(.max)) }

    /// Leaves `count` bytes of a block that is held, and zeros behind them; false where none is.
    @discardableResult
    func shortenPending(_ block: BlockIndex, to count: Int) throws(SecureFileError) -> Bool {
        let index = block.indexInGroup
        guard let state = pendingGroups[block.group], let held = state.pending[index] else { return false }
        if held.length <= count { return true }
        try unseal(index, in: state)
        held.buffer.zero(count..<ContentGeometry.blockSize)
        state.pending[index]?.length = count
        return true
    }

    // MARK: Sealing

    /// Keeps a whole block, sealed.
    func holdSealed(
        _ index: Int, in state: GroupState, _ source: Span<UInt8>, _ range: Range<Int>, _ lane: AEADLane
    ) throws(SecureFileError) {
        let buffer = context.pages.take()
        do throws(CryptoFailure) {
            let slot = try lane.sealBlock(source, range, at: index, state.key, cipher, to: buffer, 0)
            state.seals += 1
            hold(index, in: state, PendingBlock(buffer: buffer, length: range.count, slot: slot))
        } catch { throw failure(error) }
    }

    /// Seals a pending block in place, if it is not sealed.
    func seal(_ index: Int, in state: GroupState, _ lane: AEADLane) throws(SecureFileError) -> Slot {
        guard var held = state.pending[index] else { return .empty }
        if held.isSealed { return held.slot }
        do throws(CryptoFailure) {
            held.slot = try lane.sealBlock(inPlace: held.buffer, length: held.length, at: index, state.key, cipher)
            state.seals += 1
            state.pending[index] = held
            return held.slot
        } catch { throw failure(error) }
    }

    /// Makes a pending block plaintext in place, if it is sealed.
    func unseal(_ index: Int, in state: GroupState) throws(SecureFileError) {
        guard let held = state.pending[index], held.isSealed else { return }
        do throws(SecureFileError) {
            try open(held, index, in: state, to: held.buffer, 0)
            state.pending[index]?.slot = .empty
        } catch {
            // Our own seal of a moment ago in our own memory: only libcrypto failing, or the memory, can bring us here.
            context.noteFailure()
            context.log("\(path): block \(state.index.block(index)) could not be kept in memory")
            forget(index, in: state)
            throw error
        }
    }

    /// Copies the bytes `range` of a pending block to `target` of `buffer`. Under either side of the lock: nothing is changed.
    func readPending(
        _ held: PendingBlock, _ index: Int, in state: GroupState, _ range: Range<Int>, _ buffer: PageBuffer, _ target: Int
    ) throws(SecureFileError) {
        if !held.isSealed { return buffer.copy(range, of: held.buffer, to: target) }
        if range == 0..<held.length { return try open(held, index, in: state, to: buffer, target) }
        let page = context.pages.take()
        defer { context.pages.giveBack(page, holdsPlaintext: true) }
        page.zero(held.length..<ContentGeometry.blockSize)
        try open(held, index, in: state, to: page, 0)
        buffer.copy(range, of: page, to: target)
    }

    private func open(_ held: PendingBlock, _ index: Int, in state: GroupState, to buffer: PageBuffer, _ target: Int) throws(SecureFileError) {
        do {
            try context.lanes.withLane { (lane) throws(CryptoFailure) in
                try lane.openBlock(held.slot, at: index, state.key, cipher, from: held.buffer, 0, to: buffer, target)
            }
        } catch { throw damaged(state.index.block(index), "what was written to a block was damaged in memory") }
    }
}
