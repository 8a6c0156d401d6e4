extension SecureFile {
    func writeLocked(_ source: Span<UInt8>, _ range: Range<Int>, _ offset: ByteOffset) throws(SecureFileError) {
        let count = ByteCount(Int64(range.count))
        guard offset.rawValue >= 0, offset.rawValue < ContentGeometry.sizeLimit - count.rawValue else {
            throw SecureFileError(.limitExceeded, "the offset is too large", path: path)
        }
        let end = ByteCount((offset + count).rawValue)
        defer { updateRegistration() }
        if end > plaintextSize { try prepareGrowth(to: end) }
        if form != .grouped, end.rawValue <= Int64(ContentGeometry.inlineMaximum) {
            try writeInline(source, range, offset, end)
        } else {
            if form != .grouped { try convertToGrouped() }
            try coverGap(to: end, firstWritten: offset.block.group)
            try writeBlocks(source, range, offset)
        }
        try relievePressure()
    }

    // MARK: Inline form

    private func writeInline(_ source: Span<UInt8>, _ range: Range<Int>, _ offset: ByteOffset, _ end: ByteCount) throws(SecureFileError) {
        if form == .empty { try startAfresh(.inline) }
        guard let inlineContent else { return }
        inlineContent.copy(source, range, to: Int(offset.rawValue))
        if end > plaintextSize { plaintextSize = end }
        isInlineDirty = true
    }

    /// Writes the page of the inline form. If it is owed, the backing file must be long enough, and that durable.
    func writeInlinePage() throws(SecureFileError) {
        guard let header else { return }
        try context.lanes.withLane { (lane) throws(SecureFileError) in try sealPage(header, lane) }
        try writeToStore(header.page.buffer, 0..<ContentGeometry.headSize + Int(plaintextSize.rawValue), at: BackingOffset(0))
        isInlineDirty = false
        notePageWritten(header)
    }

    /// Leaves the inline form: the content becomes block 0.
    ///
    /// An owed inline page stays until block 0 is durable behind it. FORMAT section 9.
    func convertToGrouped() throws(SecureFileError) {
        if form == .empty { return try startAfresh(.grouped) }
        guard let header, let content = inlineContent else { return }
        let length = Int(plaintextSize.rawValue)
        // A dead session that got no further may have left whole groups behind the page.
        let hasExcess = backingLength > Int64(ContentGeometry.blockSize)
        // To the end of the page, not of the content: the owed content may be longer than the present one.
        if hasExcess { try setBackingLength(Int64(ContentGeometry.blockSize)) }
        // The block is written behind the page while that still is the inline one, in memory too: a failure leaves all as it was.
        var slot: Slot?
        if length > 0, isOwed {
            let block = PageBuffer(count: ContentGeometry.blockSize)
            block.copy(0..<length, of: content, to: 0)
            let sealed = try seal { (lane) throws(CryptoFailure) in try lane.sealBlock(inPlace: block, length: length, at: 0, header.key, cipher) }
            try writeToStore(block, 0..<length, at: ContentGeometry.dataPage(of: BlockIndex(0)))
            header.seals += 1
            slot = sealed
        }
        if isOwed { try syncStore(attributes: false) }
        header.page.buffer.zero(ContentGeometry.headSize..<ContentGeometry.blockSize)
        header.page.form = .grouped
        markDirty(header)
        form = .grouped
        inlineContent = nil
        isInlineDirty = false
        if let slot {
            header.page.setOnlyVersion(0, slot)
            try writePage(header)
        } else if length > 0 {
            hold(0, in: header, PendingBlock(buffer: content, length: length))
        }
    }

    // MARK: Blocks

    private func writeBlocks(_ source: Span<UInt8>, _ range: Range<Int>, _ offset: ByteOffset) throws(SecureFileError) {
        let before = plaintextSize
        let end = offset + ByteCount(Int64(range.count))
        if end.rawValue > plaintextSize.rawValue { plaintextSize = ByteCount(end.rawValue) }
        if let header, plaintextSize > before { markDirty(header) }
        var done = offset
        do throws(SecureFileError) {
            try context.lanes.withLane { (lane) throws(SecureFileError) in
                var run = WriteRun(lane, expecting: range.count)
                do throws(SecureFileError) {
                    try writeBlocks(source, range, offset, &run, &done, existing: before)
                } catch {
                    abandon(&run)
                    throw error
                }
            }
        } catch {
            if plaintextSize > before { giveUpGrowth(to: max(before, ByteCount(done.rawValue))) }
            throw error
        }
    }

    /// Block by block: `done` is moved on as far as everything before is held in memory or written.
    private func writeBlocks(
        _ source: Span<UInt8>, _ range: Range<Int>, _ offset: ByteOffset, _ run: inout WriteRun, _ done: inout ByteOffset, existing: ByteCount
    ) throws(SecureFileError) {
        let end = offset + ByteCount(Int64(range.count))
        var position = offset
        var state = try groupForChange(offset.block.group, existing: existing)
        var alone = 0
        while position < end {
            let block = position.block
            if alone == 0, position.offsetInBlock == 0 {
                let at = range.lowerBound + Int((position - offset).rawValue)
                let together = try writeTogether(block, before: end.block, source, from: at, &run, &done, existing: existing)
                if together.written > 0 {
                    position = position + ByteCount(Int64(together.written * ContentGeometry.blockSize))
                    done = position
                    if let failure = together.failure { throw failure }
                    continue
                }
                alone = together.alone
            }
            alone = max(0, alone - 1)
            let from = position.offsetInBlock
            let here = min(ContentGeometry.blockSize - from, Int((end - position).rawValue))
            let at = range.lowerBound + Int((position - offset).rawValue)
            if state.index != block.group { state = try groupForChange(block.group, existing: existing) }
            let reachesEnd = from + here == ContentGeometry.length(of: block, in: plaintextSize)
            if from == 0, reachesEnd, !state.pending.has(block.indexInGroup), try mayWriteAtOnce(block, state) {
                if !run.takes(block) {
                    try finish(&run)
                    done = position
                }
                try add(block, state, source, at..<at + here, to: &run)
            } else if here == ContentGeometry.blockSize, !isLenient {
                try holdSealed(block.indexInGroup, in: state, source, at..<at + here, run.lane)
            } else {
                try patch(block, state, source, at..<at + here, at: from)
            }
            position = position + ByteCount(Int64(here))
            if run.isEmpty { done = position }
        }
        try finish(&run)
        done = end
    }

    /// After a write that failed on its way: what is certainly held or written counts, the rest never happened.
    func giveUpGrowth(to size: ByteCount) {
        plaintextSize = size
        if form == .inline {
            isInlineDirty = true
            return
        }
        // A sync on the way may have written the greater size.
        if let header { markDirty(header) }
        let end = ContentGeometry.endBlock(size)
        releasePending(from: end)
        _ = try? shortenPending(BlockIndex(end.rawValue - 1), to: ContentGeometry.length(of: BlockIndex(end.rawValue - 1), in: size))
        dropGroups(from: GroupIndex(ContentGeometry.groupCount(size)))
        isTailUnchecked = true
    }

    /// Whether something that is owed may lie in the data page of a block.
    func isOwed(_ index: Int, in state: GroupState) -> Bool {
        isOwed && (state.isDropped(index, epoch) || !(state.page.newestSlot(index).isEmpty || state.isFresh(index, epoch)))
    }

    /// Whether a new version of the whole block may go to its data page now: nothing that is owed lies there. FORMAT section 9.
    func mayWriteAtOnce(_ block: BlockIndex, _ state: GroupState) throws(SecureFileError) -> Bool {
        if !isOwed { return true }
        if isOwed(block.indexInGroup, in: state) { return false }
        // Page 0 carries the session itself: a change in its group comes with the stamp or not at all.
        guard let foreignSize, block.group != .zero else { return true }
        if foreignSize.rawValue == .max {
            // Our own page 0 may not be durable yet, after which nothing stands in the way.
            try ensureStampIsDurable()
            return true
        }
        return block >= ContentGeometry.endBlock(foreignSize)
    }

    /// Changes part of a block in memory.
    private func patch(
        _ block: BlockIndex, _ state: GroupState, _ source: Span<UInt8>, _ range: Range<Int>, at from: Int
    ) throws(SecureFileError) {
        let index = block.indexInGroup
        if let held = state.pending[index] {
            try unseal(index, in: state)
            held.buffer.copy(source, range, to: from)
            state.pending[index]?.length = max(held.length, from + range.count)
            return
        }
        let buffer = context.pages.take()
        let slot = state.page.newestSlot(index)
        var length = from + range.count
        // A lenient block is read in any case: which of its versions is good decides where the new one goes.
        if !slot.isEmpty, isLenient || from > 0 || range.count < Int(slot.length) {
            let version = try loadBlock(block, state, into: buffer)
            settleEntry(block, state, version)
            length = max(length, Int(state.page.newestSlot(index).length))
        } else if range.count < ContentGeometry.blockSize {
            buffer.zero(0..<ContentGeometry.blockSize)
        }
        buffer.copy(source, range, to: from)
        hold(index, in: state, PendingBlock(buffer: buffer, length: length))
    }

    /// Makes the version that counts the newest one of its entry, so that the next goes into the other slot.
    func settleEntry(_ block: BlockIndex, _ state: GroupState, _ version: Version) {
        let index = block.indexInGroup
        switch version {
        case .newest: return
        case .older:
            noteVersionsGo(index, state)
            state.page.fallBack(index)
        case .hole:
            if state.page.newestSlot(index).isEmpty { return }
            noteVersionsGo(index, state)
            // A version of a few bytes may open by chance over other data: the hole has to be durable before there is any. FORMAT section 9.
            return clearEntry(index, state)
        }
        markDirty(state)
    }

    /// Gives the pages of skipped groups to a file that grows to `end`, or marks it sparse where there are many. FORMAT section 3.1.
    func coverGap(to end: ByteCount, firstWritten: GroupIndex) throws(SecureFileError) {
        let first = max(1, ContentGeometry.groupCount(plaintextSize))
        let last = min(firstWritten.rawValue, ContentGeometry.groupCount(end))
        guard first < last else { return }
        // At once, so that a file that cannot be so long is refused now, and not when what is held of it has to be written.
        let needed = min(ContentGeometry.backingLength(end, .grouped), ContentGeometry.metadataPage(of: GroupIndex(last)).rawValue)
        if backingLength < needed { try setBackingLength(needed) }
        if last - first > 16 {
            isSparse = true
        } else if !isSparse {
            for index in first..<last { try makeGroup(GroupIndex(index)) }
        }
    }
}
