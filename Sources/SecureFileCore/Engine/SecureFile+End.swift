// What lies past the end of a file must not come to light when it grows. Past the end there may be: a backing file longer than the size
// needs, with metadata pages of whole groups in it; entries in the last group; bytes of the block the file ends in.
extension SecureFile {
    /// Before the file grows to `size`: no cut is outstanding, and nothing stale lies past the end, on the disk neither.
    func prepareGrowth(to size: ByteCount) throws(SecureFileError) {
        if form == .empty { return try setBackingLength(0) }
        // The inline page carries its own size; what may lie behind it is cut when that form is left.
        if form == .inline { return }
        if isTailUnchecked { try settleEnd() }
        if !isOwed { return backingLength > expectedBackingLength ? try setBackingLength(expectedBackingLength) : () }
        if isEndUnsynced || backingLength > expectedBackingLength { try synchronizeLocked(attributes: false) }
        // A cut that is lost with the power leaves the metadata pages behind the end, and they are genuine.
        if mayHaveGroupsPastEnd, ContentGeometry.groupCount(size) > ContentGeometry.groupCount(plaintextSize) {
            try syncStore(attributes: false)
        }
    }

    /// Whether the disk may still have metadata pages past the end of the backing file.
    private var mayHaveGroupsPastEnd: Bool { groupCutEpoch == epoch || worstEpoch == epoch }

    /// The file must not grow before this is durable: a sync that fails on the way changes nothing about that.
    func noteEndChanged() { if isOwed { isEndUnsynced = true } }

    /// Versions of a block are about to go from its entry. One that reaches past the end of the file does not open because some of it was cut
    /// off; with zeros there it may.
    func noteVersionsGo(_ index: Int, _ state: GroupState) {
        let length = Int(max(state.page.newestSlot(index).length, state.page.olderSlot(index).length))
        if length > ContentGeometry.length(of: state.index.block(index), in: plaintextSize) { noteEndChanged() }
    }

    /// Before it is forgotten that groups were cut off.
    func makeGroupCutDurable() throws(SecureFileError) { if groupCutEpoch == epoch { try syncStore(attributes: false) } }

    /// Makes the block the file ends in, and the entries of its group, end where the file does.
    private func settleEnd() throws(SecureFileError) {
        try clearStaleEntries(from: ContentGeometry.endBlock(plaintextSize))
        try shortenTail()
        (isTailUnchecked, isCutBarred) = (false, false)
    }

    /// Before the backing file is cut to the recorded size: what is good of the last block must not go with it. Where that is not known, there
    /// will be no cut.
    func settleEndBeforeCut() throws(SecureFileError) {
        guard form == .grouped else { return }
        // Whoever opens the file next in this session must know that it did something to it: see `mayHaveGroupsPastEnd`.
        if foreignSize != nil, !isStamped, let header { markDirty(header) }
        guard isTailUnchecked else { return }
        do throws(SecureFileError) {
            try settleEnd()
        } catch {
            if error.code != .damaged { throw error }
            isCutBarred = true
        }
    }

    /// Makes holes of the entries from `end` on in the group that `end` is in.
    func clearStaleEntries(from end: BlockIndex) throws(SecureFileError) {
        if end.indexInGroup == 0, end.group != .zero { return }
        guard let state = try group(end.group) else { return }
        for index in end.indexInGroup..<ContentGeometry.blocksPerGroup where !state.page.newestSlot(index).isEmpty {
            clearEntry(index, state)
            noteEndChanged()
        }
    }

    /// Gives the block the file ends in a version without the bytes past the end, so that they do not come back when the file grows.
    func shortenTail() throws(SecureFileError) {
        let keep = Int(plaintextSize.rawValue & 4095)
        let block = BlockIndex(plaintextSize.rawValue >> 12)
        if keep == 0 { return }
        if try shortenPending(block, to: keep) { return noteEndChanged() }
        guard let state = try group(block.group) else { return }
        let index = block.indexInGroup
        // The older version, which may be the good one, may be the longer one.
        let length = max(state.page.newestSlot(index).length, isLenient ? state.page.olderSlot(index).length : 0)
        if Int(length) <= keep { return }
        let buffer = PageBuffer(count: ContentGeometry.blockSize)
        let version = try loadBlock(block, state, into: buffer)
        settleEntry(block, state, version)
        guard Int(state.page.newestSlot(index).length) > keep else { return }
        noteEndChanged()
        buffer.zero(keep..<ContentGeometry.blockSize)
        hold(index, in: state, PendingBlock(buffer: buffer, length: keep))
    }
}
