/// A batch of overwrites between its two halves: the metadata is written, the data is not. FORMAT section 9.
struct Commit {
    /// Blocks sealed in place in their pending buffers, in order.
    struct Item {
        let block: BlockIndex
        let held: PendingBlock
        let state: GroupState
        /// The entry before.
        let entry: MetadataPage.Entry
    }
    var blocks: [Item] = []
    /// The inline page is to be written.
    var inline = false
}

extension SecureFile {
    // MARK: Flush

    /// Everything that needs no barrier goes to the store.
    func flushLocked() throws(SecureFileError) {
        defer { updateRegistration() }
        if form == .inline {
            if isInlineDirty, !isOwed || (backingLength == expectedBackingLength && extensionEpoch != epoch) { try writeInlinePage() }
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
            do throws(SecureFileError) {
                for block in pending.keys.sorted() {
                    guard let held = pending[block] else { continue }
                    let state = try groupForChange(block.group)
                    guard try mayWriteAtOnce(block, state) else { continue }
                    if !run.takes(block) { try finish(&run) }
                    let length = held.length
                    try held.buffer.withSpan(0..<length) { (span) throws(SecureFileError) in try add(block, state, span, 0..<length, to: &run) }
                    written.append(block)
                }
                try finish(&run)
            } catch {
                abandon(&run)
                throw error
            }
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
        try commitPending()
        try syncStore(attributes: attributes)
        try finishCut()
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
        noteStoreSynced()
    }

    /// What follows from a sync of the store, with no page dirty: cleared blocks are nobody's any more.
    func noteStoreSynced() {
        epoch += 1
        hasUnsyncedWrites = false
        if isStamped { foreignSize = nil }
        if form != .empty { isOwed = true }
        performPunches()
    }

    /// Gives space back. Its blocks are holes already, by their entries: what cannot be given back is no failure of a sync.
    private func performPunches() {
        for range in deferredPunches where range.lowerBound < range.upperBound {
            do throws(Errno) {
                try store.punchHole(at: BackingOffset(range.lowerBound), count: range.upperBound - range.lowerBound)
            } catch {
                context.log("\(path): the space of a hole could not be freed: \(error)")
            }
        }
        deferredPunches.removeAll()
    }

    /// After a sync with nothing pending: a cut that waited for it is done.
    func finishCut() throws(SecureFileError) {
        cutFloor = nil
        if isCutBarred { return }
        if backingLength > expectedBackingLength { try setBackingLength(expectedBackingLength) }
        // Excess that an earlier session left: nothing in the file would tell the next instance that its cut may still be lost.
        if !isStamped { try makeGroupCutDurable() }
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
        if backingLength > expectedBackingLength { try settleEndBeforeCut() }
        try flushLocked()
        if form == .inline {
            guard isInlineDirty else { return }
            // The page needs its length before it is written; a shorter one is cut after the next sync.
            if backingLength < expectedBackingLength { try setBackingLength(expectedBackingLength) }
            commit = Commit(inline: true)
            return
        }
        guard !pending.isEmpty else { return }
        try writeUnfinished()
        var batch = Commit()
        for block in pending.keys.sorted() {
            guard let held = pending[block] else { continue }
            let state = try groupForChange(block.group)
            batch.blocks.append(Commit.Item(block: block, held: held, state: state, entry: state.page.entry(block.indexInGroup)))
        }
        if batch.blocks.contains(where: { $0.state.isUnsynced($0.block.indexInGroup, epoch) || $0.state.isDropped($0.block.indexInGroup, epoch) }) {
            try syncStore(attributes: false)
        }
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
        for item in batch.blocks where states.last !== item.state { states.append(item.state) }
        return states
    }

    private func sealBatch(_ batch: inout Commit) throws(SecureFileError) {
        var sealed = 0
        do throws(SecureFileError) {
            try context.lanes.withLane { (lane) throws(SecureFileError) in
                for item in batch.blocks {
                    let index = item.block.indexInGroup
                    let slot: Slot
                    do throws(CryptoFailure) {
                        slot = try lane.sealBlock(inPlace: item.held.buffer, length: item.held.length, at: index, item.state.key, cipher)
                    } catch { throw failure(error) }
                    item.state.page.addVersion(index, slot)
                    item.state.seals += 1
                    markDirty(item.state)
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
                for item in commit.blocks[next..<next + run] { keepUnfinished(item) }
                self.commit = Commit(blocks: Array(commit.blocks[(next + run)...]))
                abandonCommit()
                throw error
            }
            for item in commit.blocks[next..<next + run] {
                item.state.noteWritten(item.block.indexInGroup, fresh: false, epoch)
                release(item.block, isSealed: true)
            }
            next += run
        }
        self.commit = nil
    }

    /// A block whose new version may have been written in part: the entry with both versions stays, and the sealed version is kept until
    /// it has been written whole. Else the next version could take the place of the one that is in the store.
    private func keepUnfinished(_ item: Commit.Item) {
        let sealed = PageBuffer(uninitialized: ContentGeometry.blockSize)
        sealed.copy(0..<ContentGeometry.blockSize, of: item.held.buffer, to: 0)
        unfinished[item.block] = PendingBlock(sealed, length: item.held.length)
        unseal(item)
    }

    /// Writes what an earlier batch has left unfinished.
    private func writeUnfinished() throws(SecureFileError) {
        for block in unfinished.keys.sorted() {
            guard let sealed = unfinished[block] else { continue }
            let state = try groupForChange(block.group)
            try writeToStore(sealed.buffer, 0..<sealed.length, at: ContentGeometry.dataPage(of: block))
            state.noteWritten(block.indexInGroup, fresh: false, epoch)
            unfinished[block] = nil
        }
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
        for item in batch.blocks {
            unseal(item)
            item.state.page.setEntry(item.block.indexInGroup, item.entry)
            markDirty(item.state)
        }
    }

    /// Makes a sealed block of a batch plaintext again, in place.
    private func unseal(_ item: Commit.Item) {
        let index = item.block.indexInGroup
        let slot = item.state.page.newestSlot(index)
        do {
            try context.lanes.withLane { (lane) throws(CryptoFailure) in
                try lane.openBlock(slot, at: index, item.state.key, cipher, from: item.held.buffer, 0, to: item.held.buffer, 0)
            }
        } catch {
            // Our own seal of a moment ago in our own memory: only libcrypto failing twice can bring us here.
            context.noteFailure()
            context.log("\(path): block \(item.block) could not be kept in memory")
            release(item.block)
        }
    }
}
