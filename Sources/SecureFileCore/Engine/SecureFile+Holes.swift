extension SecureFile {
    /// Makes a range read as zeros and gives its space back; the size stays. What lies past the end of the file is left alone.
    public func punchHole(at offset: ByteOffset, count: ByteCount) throws(SecureFileError) {
        try changing { () throws(SecureFileError) in try punchLocked(offset, count) }
    }

    /// Makes a range read as zeros; unless `keepSize`, the file is lengthened to its end.
    public func zeroRange(at offset: ByteOffset, count: ByteCount, keepSize: Bool) throws(SecureFileError) {
        try changing { () throws(SecureFileError) in
            try punchLocked(offset, count)
            try extend(to: offset + count, keepSize)
        }
    }

    /// Reserves space for a range; unless `keepSize`, the file is lengthened to its end. Where space cannot be reserved, `.system`.
    public func allocate(at offset: ByteOffset, count: ByteCount, keepSize: Bool) throws(SecureFileError) {
        try changing { () throws(SecureFileError) in
            guard offset.rawValue >= 0, count.rawValue > 0, offset.rawValue < ContentGeometry.sizeLimit - count.rawValue else {
                throw SecureFileError(.invalidArgument, "the range is out of bounds", path: path)
            }
            let last = BlockIndex((offset.rawValue + count.rawValue - 1) >> 12)
            // With the metadata pages; past the backing file's end the reservation does not show in its length.
            let start = ContentGeometry.metadataPage(of: offset.block.group)
            let end = ContentGeometry.dataPage(of: last) + ContentGeometry.blockSize
            try onStore("could not reserve space") { () throws(Errno) in try store.reserve(at: start, count: end.rawValue - start.rawValue) }
            try extend(to: offset + count, keepSize)
        }
    }

    private func extend(to end: ByteOffset, _ keepSize: Bool) throws(SecureFileError) {
        if !keepSize, end.rawValue > plaintextSize.rawValue { try truncateLocked(ByteCount(end.rawValue)) }
    }

    private func punchLocked(_ offset: ByteOffset, _ count: ByteCount) throws(SecureFileError) {
        guard offset.rawValue >= 0, count.rawValue > 0, offset.rawValue < ContentGeometry.sizeLimit - count.rawValue else {
            throw SecureFileError(.invalidArgument, "the range is out of bounds", path: path)
        }
        defer { updateRegistration() }
        let end = ByteOffset(min((offset + count).rawValue, plaintextSize.rawValue))
        if offset >= end { return }
        if form == .inline {
            inlineContent?.zero(Int(offset.rawValue)..<Int(end.rawValue))
            isInlineDirty = true
        } else {
            try punchBlocks(offset, end)
        }
        if context.options.writesNewDataAtOnce { try flushLocked() }
    }

    private func punchBlocks(_ offset: ByteOffset, _ end: ByteOffset) throws(SecureFileError) {
        let endsFile = end.rawValue == plaintextSize.rawValue
        let first = BlockIndex((offset.rawValue + 4095) >> 12)
        let last = endsFile ? ContentGeometry.endBlock(plaintextSize) : end.block
        if first > last { return try zeroPart(offset.block, offset.offsetInBlock..<end.offsetInBlock) }
        if offset.offsetInBlock > 0 { try zeroPart(offset.block, offset.offsetInBlock..<ContentGeometry.blockSize) }
        try clearBlocks(first..<last)
        if !endsFile, end.offsetInBlock > 0 { try zeroPart(last, 0..<end.offsetInBlock) }
    }

    /// Zeros part of a block, in memory.
    private func zeroPart(_ block: BlockIndex, _ range: Range<Int>) throws(SecureFileError) {
        if range.isEmpty { return }
        guard let state = try group(block.group) else { return }
        let index = block.indexInGroup
        if let held = state.pending[index] {
            try unseal(index, in: state)
            return held.buffer.zero(range)
        }
        let buffer = PageBuffer(count: ContentGeometry.blockSize)
        let version = try loadBlock(block, state, into: buffer)
        settleEntry(block, state, version)
        let slot = state.page.newestSlot(index)
        if slot.isEmpty || Int(slot.length) <= range.lowerBound { return }
        buffer.zero(range)
        hold(index, in: state, PendingBlock(buffer: buffer, length: Int(slot.length)))
    }

    private func clearBlocks(_ blocks: Range<BlockIndex>) throws(SecureFileError) {
        releasePending(blocks)
        var index = blocks.lowerBound.group
        while index.firstBlock < blocks.upperBound {
            guard let state = try group(index) else {
                guard let next = try nextGroup(after: index) else { return }
                index = next
                continue
            }
            for place in 0..<ContentGeometry.blocksPerGroup where blocks.contains(index.block(place)) { clearBlock(place, state) }
            index = GroupIndex(index.rawValue + 1)
        }
    }

    private func clearBlock(_ place: Int, _ state: GroupState) {
        if state.page.newestSlot(place).isEmpty { return }
        noteVersionsGo(place, state)
        clearEntry(place, state)
        // Nobody is owed anything: the page may be written again at once, so its space must not be given back later.
        guard isOwed else { return }
        let start = ContentGeometry.dataPage(of: state.index.block(place)).rawValue
        let end = min(start + Int64(ContentGeometry.blockSize), expectedBackingLength)
        if let last = deferredPunches.last, last.upperBound == start {
            deferredPunches[deferredPunches.count - 1] = last.lowerBound..<end
        } else {
            deferredPunches.append(start..<end)
        }
    }

    /// Makes a hole of an entry. Where anything is owed, the hole is made durable before the block's data page is written anew.
    func clearEntry(_ index: Int, _ state: GroupState) {
        state.page.clear(index)
        if isOwed { state.noteDropped(index, epoch) }
        markDirty(state)
    }

    /// The next group behind a missing one that may have a page.
    func nextGroup(after index: GroupIndex) throws(SecureFileError) -> GroupIndex? {
        let from = ContentGeometry.metadataPage(of: GroupIndex(index.rawValue + 1))
        let cached = groups.dirty().first { $0.index > index }?.index
        let held = nextPendingGroup(after: index)
        let data = try onStore("could not look for data") { () throws(Errno) in try store.nextData(at: from) }
        let stored = data.map { max(ContentGeometry.group(at: $0), GroupIndex(index.rawValue + 1)) }
        return [cached, held, stored].compactMap { $0 }.min()
    }

    // MARK: Data and holes

    /// The first offset at or after `offset` that holds data; nil when only a hole is left, or nothing.
    public func nextData(at offset: ByteOffset) throws(SecureFileError) -> ByteOffset? {
        try reading { () throws(SecureFileError) in
            if offset.rawValue >= plaintextSize.rawValue || offset.rawValue < 0 { return nil }
            if form != .grouped { return offset }
            let end = ContentGeometry.endBlock(plaintextSize)
            var block = offset.block
            while block < end {
                if isPending(block) { return max(offset, block.start) }
                guard let state = try group(block.group) else {
                    guard let next = try nextGroup(after: block.group) else { return nil }
                    block = nextPending(after: block, before: next.firstBlock) ?? next.firstBlock
                    continue
                }
                if !state.page.newestSlot(block.indexInGroup).isEmpty { return max(offset, block.start) }
                block = block.next
            }
            return nil
        }
    }

    /// The first offset at or after `offset` that is in a hole; the end of the file counts as one. Nil when `offset` is not inside the file.
    public func nextHole(at offset: ByteOffset) throws(SecureFileError) -> ByteOffset? {
        try reading { () throws(SecureFileError) in
            if offset.rawValue >= plaintextSize.rawValue || offset.rawValue < 0 { return nil }
            let end = ByteOffset(plaintextSize.rawValue)
            if form != .grouped { return end }
            var block = offset.block
            while block.start < end {
                if !isPending(block) {
                    guard let state = try group(block.group) else { return max(offset, block.start) }
                    if state.page.newestSlot(block.indexInGroup).isEmpty { return max(offset, block.start) }
                }
                block = block.next
            }
            return end
        }
    }
}
