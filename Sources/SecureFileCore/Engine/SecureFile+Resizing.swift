extension SecureFile {
    func truncateLocked(_ size: ByteCount) throws(SecureFileError) {
        guard size.rawValue >= 0, size.rawValue < ContentGeometry.sizeLimit else {
            throw SecureFileError(.limitExceeded, "the size is out of range", path: path)
        }
        defer { updateRegistration() }
        if size == plaintextSize { return }
        if size == .zero { return try becomeEmpty() }
        let before = plaintextSize
        if size < before {
            try shrink(to: size)
            if context.options.writesNewDataAtOnce { try flushLocked() }
            return
        }
        try grow(to: size)
        guard context.options.writesNewDataAtOnce else { return }
        do throws(SecureFileError) { try flushLocked() } catch {
            giveUpGrowth(to: before)
            throw error
        }
    }

    /// Cut to nothing: the next content is a new file to all effects, with its own id and keys. FORMAT section 9 tells what is assumed.
    func becomeEmpty() throws(SecureFileError) {
        try setBackingLength(0)
        releasePending(from: BlockIndex(0))
        groups.removeAll()
        (form, plaintextSize) = (.empty, .zero)
        (header, inlineContent, fileKey, commit) = (nil, nil, nil, nil)
        (isOwed, isLenient, isInlineDirty, isStamped) = (false, false, false, false)
        (isTailUnchecked, isCutBarred, isEndUnsynced) = (false, false, false)
        (foreignSize, worstEpoch, groupCutEpoch) = (nil, nil, nil)
        dirtyGroupCount = 0
        deferredPunches.removeAll()
        epoch += 1
    }

    private func grow(to size: ByteCount) throws(SecureFileError) {
        try prepareGrowth(to: size)
        if form != .grouped, size.rawValue <= Int64(ContentGeometry.inlineMaximum) {
            if form == .empty { try startAfresh(.inline) }
            plaintextSize = size
            isInlineDirty = true
            return
        }
        if form != .grouped { try convertToGrouped() }
        let needed = ContentGeometry.backingLength(size, .grouped)
        if backingLength < needed { try setBackingLength(needed) }
        try coverGap(to: size, firstWritten: GroupIndex(ContentGeometry.groupCount(size)))
        plaintextSize = size
        if let header { markDirty(header) }
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
        releasePending(from: end)
        dropGroups(from: GroupIndex(ContentGeometry.groupCount(size)))
        noteEndChanged()
        if let header { markDirty(header) }
        if !isOwed, backingLength > expectedBackingLength, pendingCount == 0 { try setBackingLength(expectedBackingLength) }
    }

    func dropGroups(from first: GroupIndex) {
        for state in groups.dirty() where state.index >= first { markClean(state) }
        groups.removeAll(from: max(first, GroupIndex(1)))
    }
}
