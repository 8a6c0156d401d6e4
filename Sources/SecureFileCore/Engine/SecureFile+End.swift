// What lies past the end of a file must not come to light when it grows. Past the end there may be: a backing file longer than the size
// needs, with metadata pages of whole groups in it; entries in the last group; bytes of the block the file ends in.
extension SecureFile {
    /// Before the file grows to `size`: no cut is outstanding, and nothing stale lies past the end, on the disk neither.
    func prepareGrowth(to size: ByteCount) throws(SecureFileError) {
        if form == .empty { return try setBackingLength(0) }
        // The inline page carries its own size; what may lie behind it is cut when that form is left.
        if form == .inline { return }
        let hasChanged = isTailUnchecked ? try settleEnd() : false
        if !isOwed { return backingLength > expectedBackingLength ? try setBackingLength(expectedBackingLength) : () }
        if hasChanged || cutFloor != nil || backingLength > expectedBackingLength { try synchronizeLocked(attributes: false) }
        // A cut that is lost with the power leaves the metadata pages behind the end, and they are genuine.
        if mayHaveGroupsPastEnd, ContentGeometry.groupCount(size) > ContentGeometry.groupCount(plaintextSize) {
            try syncStore(attributes: false)
        }
    }

    /// Whether the disk may still have metadata pages past the end of the backing file.
    private var mayHaveGroupsPastEnd: Bool { groupCutEpoch == epoch || worstEpoch == epoch }

    /// Before it is forgotten that groups were cut off.
    func makeGroupCutDurable() throws(SecureFileError) { if groupCutEpoch == epoch { try syncStore(attributes: false) } }

    /// Makes the block the file ends in, and the entries of its group, end where the file does; says whether there was something to change.
    func settleEnd() throws(SecureFileError) -> Bool {
        let hasCleared = try clearStaleEntries(from: ContentGeometry.endBlock(plaintextSize))
        let hasShortened = try shortenTail()
        (isTailUnchecked, isCutBarred) = (false, false)
        return hasCleared || hasShortened
    }

    /// Before the backing file is cut to the recorded size: what is good of the last block must not go with it. Where that is not known, there
    /// will be no cut.
    func settleEndBeforeCut() throws(SecureFileError) {
        guard form == .grouped else { return }
        // Whoever opens the file next in this session must know that it did something to it: see `mayHaveGroupsPastEnd`.
        if foreignSize != nil, !isStamped, let header { markDirty(header) }
        guard isTailUnchecked else { return }
        do throws(SecureFileError) {
            _ = try settleEnd()
        } catch {
            if error.code != .damaged { throw error }
            isCutBarred = true
        }
    }

    /// Makes holes of the entries from `end` on in the group that `end` is in.
    @discardableResult
    func clearStaleEntries(from end: BlockIndex) throws(SecureFileError) -> Bool {
        if end.indexInGroup == 0, end.group != .zero { return false }
        guard let state = try group(end.group) else { return false }
        var hasCleared = false
        for index in end.indexInGroup..<ContentGeometry.blocksPerGroup where !state.page.newestSlot(index).isEmpty {
            state.page.clear(index)
            if isOwed { state.noteDropped(index, epoch) }
            markDirty(state)
            hasCleared = true
        }
        return hasCleared
    }

    /// Gives the block the file ends in a version without the bytes past the end, so that they do not come back when the file grows.
    @discardableResult
    func shortenTail() throws(SecureFileError) -> Bool {
        let keep = Int(plaintextSize.rawValue & 4095)
        let block = BlockIndex(plaintextSize.rawValue >> 12)
        if keep == 0 { return false }
        if try shortenPending(block, to: keep) { return true }
        guard let state = try group(block.group) else { return false }
        let index = block.indexInGroup
        // The older version, which may be the good one, may be the longer one.
        let length = max(state.page.newestSlot(index).length, isLenient ? state.page.olderSlot(index).length : 0)
        if Int(length) <= keep { return false }
        let buffer = PageBuffer(count: ContentGeometry.blockSize)
        let version = try loadBlock(block, state, into: buffer)
        settleEntry(block, state, version)
        guard Int(state.page.newestSlot(index).length) > keep else { return false }
        buffer.zero(keep..<ContentGeometry.blockSize)
        hold(index, in: state, PendingBlock(buffer: buffer, length: keep))
        return true
    }
}
