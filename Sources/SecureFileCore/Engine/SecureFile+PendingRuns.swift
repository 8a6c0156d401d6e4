/// Pending blocks that come by the run.
extension SecureFile {
    /// Keeps whole blocks of a group that are sealed, as ``hold(_:in:_:)`` keeps one.
    func hold(_ pages: ArraySlice<PageBuffer>, _ slots: [Slot], from first: Int, in state: GroupState) {
        var added = 0
        if state.pending.bits == 0 { pendingGroups[state.index] = state }
        for (i, (page, slot)) in zip(pages, slots).enumerated() {
            if let before = state.pending[first + i] { giveBack(before) } else { added += 1 }
            state.pending[first + i] = PendingBlock(buffer: page, length: ContentGeometry.blockSize, slot: slot)
        }
        pendingCount += added
        context.addPending(added * ContentGeometry.blockSize)
    }
}
