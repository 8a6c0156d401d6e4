extension SecureFile {
    func truncateLocked(_ size: ByteCount) throws(SecureFileError) {
        guard size.rawValue >= 0, size.rawValue < ContentGeometry.sizeLimit else {
            throw SecureFileError(.limitExceeded, "the size is out of range", path: path)
        }
        defer { updateRegistration() }
        if size == plaintextSize { return }
        if size == .zero { return try becomeEmpty() }
        if size > plaintextSize { try grow(to: size) } else { try shrink(to: size) }
        if context.options.writesNewDataAtOnce { try flushLocked() }
    }

    /// Cut to nothing: the next content is a new file to all effects, with its own id and keys. FORMAT section 9 tells what is assumed.
    private func becomeEmpty() throws(SecureFileError) {
        try setBackingLength(0)
        for block in pending.keys { release(block) }
        pending.removeAll()
        groups.removeAll()
        (form, plaintextSize) = (.empty, .zero)
        (header, inlineContent, fileKey, commit) = (nil, nil, nil, nil)
        (isOwed, isLenient, isInlineDirty, isStamped, isTailUnchecked) = (false, false, false, false, false)
        (foreignSize, cutFloor, worstEpoch) = (nil, nil, nil)
        dirtyGroupCount = 0
        deferredPunches.removeAll()
        epoch += 1
    }

    private func grow(to size: ByteCount) throws(SecureFileError) {
        try prepareGrowth()
        if form != .grouped, size.rawValue <= Int64(ContentGeometry.inlineMaximum) {
            if form == .empty { try startAfresh(.inline) }
            plaintextSize = size
            isInlineDirty = true
            return
        }
        if form != .grouped { try convertToGrouped() }
        try coverGap(to: size, firstWritten: GroupIndex(ContentGeometry.groupCount(size)))
        plaintextSize = size
        if let header { markDirty(header) }
    }

    /// Before the file grows: no cut is outstanding, and nothing stale lies past the end.
    func prepareGrowth() throws(SecureFileError) {
        if form == .empty { return try setBackingLength(0) }
        if form == .inline {
            // The page carries its own size; a longer backing file harms nothing but the rule for sizes, and is cut after the next sync.
            return
        }
        if isOwed, cutFloor != nil || backingLength > expectedBackingLength {
            try synchronizeLocked(attributes: false)
        } else if backingLength > expectedBackingLength {
            try setBackingLength(expectedBackingLength)
        }
        if isTailUnchecked {
            try clearStaleEntries(from: ContentGeometry.endBlock(plaintextSize))
            try shortenTail()
            isTailUnchecked = false
        }
    }

    /// Makes holes of the entries from `end` on in the group that `end` is in.
    private func clearStaleEntries(from end: BlockIndex) throws(SecureFileError) {
        if end.indexInGroup == 0, end.group != .zero { return }
        guard let state = try group(end.group) else { return }
        for index in end.indexInGroup..<ContentGeometry.blocksPerGroup where !state.page.newestSlot(index).isEmpty {
            state.page.clear(index)
            if isOwed { state.noteDropped(index, epoch) }
            markDirty(state)
        }
    }

    /// Gives the block the file ends in a version without the bytes past the end, so that they do not come back when the file grows.
    private func shortenTail() throws(SecureFileError) {
        let keep = Int(plaintextSize.rawValue & 4095)
        let block = BlockIndex(plaintextSize.rawValue >> 12)
        if keep == 0 { return }
        if let held = pending[block] {
            held.buffer.zero(keep..<ContentGeometry.blockSize)
            held.length = min(held.length, keep)
            return
        }
        guard let state = try group(block.group), Int(state.page.newestSlot(block.indexInGroup).length) > keep else { return }
        let buffer = PageBuffer(count: ContentGeometry.blockSize)
        let version = try loadBlock(block, state, into: buffer)
        settleEntry(block, state, version)
        guard Int(state.page.newestSlot(block.indexInGroup).length) > keep else { return }
        buffer.zero(keep..<ContentGeometry.blockSize)
        hold(block, buffer, length: keep)
    }

    private func shrink(to size: ByteCount) throws(SecureFileError) {
        if form == .inline {
            inlineContent?.zero(Int(size.rawValue)..<Int(plaintextSize.rawValue))
            plaintextSize = size
            isInlineDirty = true
            return
        }
        let end = ContentGeometry.endBlock(size)
        let before = plaintextSize
        plaintextSize = size
        do throws(SecureFileError) {
            // First what can fail: the block that is cut has to be read.
            try shortenTail()
            try clearStaleEntries(from: end)
        } catch {
            plaintextSize = before
            throw error
        }
        for block in pending.keys where block >= end { release(block) }
        dropGroups(from: GroupIndex(ContentGeometry.groupCount(size)))
        if isOwed { cutFloor = min(cutFloor ?? end, end) }
        if let header { markDirty(header) }
        if !isOwed, backingLength > expectedBackingLength, pending.isEmpty { try setBackingLength(expectedBackingLength) }
    }

    private func dropGroups(from first: GroupIndex) {
        for state in groups.dirty() where state.index >= first { markClean(state) }
        groups.removeAll(from: max(first, GroupIndex(1)))
    }
}
