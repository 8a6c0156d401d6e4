/// A batch of overwrites between its two halves: the metadata is written, the data is not. FORMAT section 9.
struct Commit {
    /// Blocks sealed in place in their pending buffers, in order.
    var blocks: [(block: BlockIndex, held: PendingBlock)] = []
    /// The inline page is to be written.
    var inline = false
}

extension SecureFile {
    // MARK: Flush

    /// Everything that needs no barrier goes to the store.
    func flushLocked() throws(SecureFileError) {
        defer { updateRegistration() }
        if form == .inline {
            if isInlineDirty, !isOwed || ContentGeometry.backingLength(plaintextSize, .inline) == backingLength { try writeInlinePage() }
            return
        }
        try writeFreshBlocks()
        if backingLength < expectedBackingLength { try setBackingLength(expectedBackingLength) }
        try writeDirtyPages()
    }

    /// Writes the pending blocks that nobody is owed an older version of.
    private func writeFreshBlocks() throws(SecureFileError) {
        if pending.isEmpty { return }
        var written: [BlockIndex] = []
        try context.lanes.withLane { (lane) throws(SecureFileError) in
            var run = WriteRun(lane, expecting: pending.count * ContentGeometry.blockSize)
            for block in pending.keys.sorted() {
                guard let held = pending[block] else { continue }
                let state = try groupForChange(block.group)
                guard try mayWriteAtOnce(block, state) else { continue }
                let length = held.length
                try held.buffer.withSpan(0..<length) { (span) throws(SecureFileError) in try add(block, state, span, 0..<length, to: &run) }
                written.append(block)
            }
            try finish(&run)
        }
        for block in written { release(block) }
    }

    func writeDirtyPages() throws(SecureFileError) {
        guard form == .grouped else { return }
        // Page 0 first: it carries the session and the sparse flag.
        if let header, header.isDirty { try writePage(header) }
        if dirtyGroupCount > 0 { for state in groups.dirty() { try writePage(state) } }
    }

    // MARK: Sync

    func synchronizeLocked(attributes: Bool) throws(SecureFileError) {
        defer { updateRegistration() }
        let mayCut = backingLength > expectedBackingLength ? try settleEndBeforeCut() : true
        try commitPending()
        try syncStore(attributes: attributes)
        if mayCut { try finishCut() }
    }

    /// Syncs the store. Dirty pages are written first: what is noted of blocks since the last sync is true of the store then. Pending blocks stay.
    func syncStore(attributes: Bool) throws(SecureFileError) {
        try writeDirtyPages()
        do throws(Errno) {
            try store.synchronize(attributes: attributes)
        } catch {
            context.noteFailure()
            throw failure(error, "could not sync")
        }
        try noteStoreSynced()
    }

    /// What follows from a sync of the store, with no page dirty: cleared blocks are nobody's any more.
    func noteStoreSynced() throws(SecureFileError) {
        epoch += 1
        hasUnsyncedWrites = false
        if isStamped { foreignSize = nil }
        if form != .empty { isOwed = true }
        try performPunches()
    }

    private func performPunches() throws(SecureFileError) {
        if deferredPunches.isEmpty { return }
        let ranges = deferredPunches
        deferredPunches.removeAll()
        for range in ranges where range.lowerBound < range.upperBound {
            try onStore("could not free space") { () throws(Errno) in
                try store.punchHole(at: BackingOffset(range.lowerBound), count: range.upperBound - range.lowerBound)
            }
        }
    }

    /// After a sync with nothing pending: a cut that waited for it is done.
    func finishCut() throws(SecureFileError) {
        cutFloor = nil
        if backingLength > expectedBackingLength { try setBackingLength(expectedBackingLength) }
    }

    /// Makes sure that page 0 on the disk names this session, before anything is changed that another session's strict rules would misread.
    func ensureStampIsDurable() throws(SecureFileError) {
        guard foreignSize != nil, let header, form == .grouped else { return }
        if !isStamped { markDirty(header) }
        try syncStore(attributes: false)
    }

    // MARK: Overwrites

    /// Writes all that is pending, overwrites with their barrier included.
    func commitPending() throws(SecureFileError) {
        defer { updateRegistration() }
        try prepareCommit()
        guard let commit, commit.inline || !commit.blocks.isEmpty else { return commit = nil }
        do throws(SecureFileError) {
            try syncStore(attributes: false)
        } catch {
            abandonCommit()
            throw error
        }
        try finishCommit()
    }

    /// The first half: retire, extend, metadata. A barrier must follow, then ``finishCommit()`` or ``abandonCommit()``.
    func prepareCommit() throws(SecureFileError) {
        commit = nil
        try flushLocked()
        if form == .inline {
            guard isInlineDirty else { return }
            // The page needs its length before it is written; a shorter one is cut after the next sync.
            if backingLength < expectedBackingLength { try setBackingLength(expectedBackingLength) }
            commit = Commit(inline: true)
            return
        }
        guard !pending.isEmpty else { return }
        var batch = Commit()
        var needsRetirement = false
        batch.blocks.reserveCapacity(pending.count)
        for block in pending.keys.sorted() {
            guard let held = pending[block] else { continue }
            let state = try groupForChange(block.group)
            held.batched = (state, state.page.entry(block.indexInGroup))
            needsRetirement = needsRetirement || state.isUnsynced(block.indexInGroup, epoch) || state.isDropped(block.indexInGroup, epoch)
            batch.blocks.append((block, held))
        }
        if needsRetirement { try syncStore(attributes: false) }
        if foreignSize != nil, batch.blocks.contains(where: { $0.block.group != .zero }) { try ensureStampIsDurable() }
        if backingLength < expectedBackingLength { try setBackingLength(expectedBackingLength) }
        try sealBatch(&batch)
        commit = batch
        do throws(SecureFileError) {
            for state in distinctStates(batch) { try writePage(state) }
            if let header, header.isDirty { try writePage(header) }
        } catch {
            abandonCommit()
            throw error
        }
    }

    private func distinctStates(_ batch: Commit) -> [GroupState] {
        var states: [GroupState] = []
        for item in batch.blocks {
            if let state = item.held.batched?.state, states.last !== state { states.append(state) }
        }
        return states
    }

    private func sealBatch(_ batch: inout Commit) throws(SecureFileError) {
        var sealed = 0
        do throws(SecureFileError) {
            try context.lanes.withLane { (lane) throws(SecureFileError) in
                for (block, held) in batch.blocks {
                    guard let state = held.batched?.state else { continue }
                    let slot: Slot
                    do throws(CryptoFailure) {
                        slot = try lane.sealBlock(inPlace: held.buffer, length: held.length, at: block.indexInGroup, state.key, cipher)
                    } catch { throw failure(error) }
                    state.page.addVersion(block.indexInGroup, slot)
                    state.seals += 1
                    markDirty(state)
                    sealed += 1
                }
            }
        } catch {
            batch.blocks.removeSubrange(sealed...)
            commit = batch
            abandonCommit()
            throw error
        }
    }

    /// The second half, after the barrier: data.
    func finishCommit() throws(SecureFileError) {
        guard let commit else { return }
        defer { updateRegistration() }
        if commit.inline {
            self.commit = nil
            return try writeInlinePage()
        }
        var next = 0
        while next < commit.blocks.count {
            let run = runLength(commit, from: next)
            do throws(SecureFileError) {
                try writeRun(commit, next..<next + run)
            } catch {
                // What is written is written; the rest goes back to being pending.
                self.commit = Commit(blocks: Array(commit.blocks[next...]))
                abandonCommit()
                throw error
            }
            for (block, held) in commit.blocks[next..<next + run] {
                held.batched?.state.noteWritten(block.indexInGroup, fresh: false, epoch)
                release(block, isSealed: true)
            }
            next += run
        }
        self.commit = nil
    }

    /// How many blocks from `first` on lie behind each other in the store, at most 256 of them.
    private func runLength(_ commit: Commit, from first: Int) -> Int {
        var count = 1
        while first + count < commit.blocks.count, count < 256 {
            let last = commit.blocks[first + count - 1]
            let next = commit.blocks[first + count]
            if next.block != last.block.next || next.block.group != last.block.group || last.held.length != ContentGeometry.blockSize { break }
            count += 1
        }
        return count
    }

    private func writeRun(_ commit: Commit, _ range: Range<Int>) throws(SecureFileError) {
        let first = commit.blocks[range.lowerBound]
        let place = ContentGeometry.dataPage(of: first.block)
        if range.count == 1 { return try writeToStore(first.held.buffer, 0..<first.held.length, at: place) }
        try context.lanes.withLane { (lane) throws(SecureFileError) in
            let staging = lane.staging(atLeast: range.count * ContentGeometry.blockSize)
            var used = 0
            for item in commit.blocks[range] {
                staging.copy(0..<item.held.length, of: item.held.buffer, to: used)
                used += item.held.length
            }
            try writeToStore(staging, 0..<used, at: place)
        }
    }

    /// Takes a prepared batch back: the blocks are pending plaintext again, the entries as they were; the pages have to be written anew.
    func abandonCommit() {
        guard let batch = commit else { return }
        commit = nil
        defer { updateRegistration() }
        for (block, held) in batch.blocks {
            guard let (state, before) = held.batched else { continue }
            held.batched = nil
            let index = block.indexInGroup
            let slot = state.page.newestSlot(index)
            state.page.setEntry(index, before)
            markDirty(state)
            do {
                try context.lanes.withLane { (lane) throws(CryptoFailure) in
                    try lane.openBlock(slot, at: index, state.key, cipher, from: held.buffer, 0, to: held.buffer, 0)
                }
            } catch {
                // Our own seal of a moment ago in our own memory: only libcrypto failing twice can bring us here.
                context.noteFailure()
                context.log("\(path): block \(block) could not be kept in memory")
                release(block)
            }
        }
    }
}
