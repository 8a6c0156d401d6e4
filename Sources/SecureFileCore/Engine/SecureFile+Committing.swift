/// A batch of overwrites between its two halves: the metadata is written, the data is not. FORMAT section 9.
struct Commit {
    /// Of one group: blocks sealed in their pending buffers.
    struct Part {
        let state: GroupState
        var blocks: UInt64
        /// The page with the entries as they were before.
        let before: MetadataPage
    }
    /// In order.
    var parts: [Part] = []
    /// The inline page is to be written.
    var inline = false

    var isEmpty: Bool { parts.isEmpty && !inline }
}

/// A sealed version of a block that its entry names and that the store may have in part.
struct UnfinishedBlock {
    let state: GroupState
    let buffer: PageBuffer
    let length: Int
}

extension SecureFile {
    // MARK: Flush

    /// Everything that needs no barrier goes to the store.
    func flushLocked() throws(SecureFileError) {
        defer { updateRegistration() }
        try flushContent()
        try writeDirtyPages()
    }

    /// The same but for the pages of groups.
    private func flushContent() throws(SecureFileError) {
        if form == .inline {
            if isInlineDirty, !isOwed || (backingLength == expectedBackingLength && extensionEpoch != epoch) { try writeInlinePage() }
            return
        }
        try writeFreshBlocks()
        if backingLength < expectedBackingLength { try setBackingLength(expectedBackingLength) }
    }

    /// Writes the pending blocks that nobody is owed an older version of.
    private func writeFreshBlocks() throws(SecureFileError) {
        if pendingCount == 0 { return }
        var written: [(state: GroupState, index: Int)] = []
        try context.lanes.withLane { (lane) throws(SecureFileError) in
            var run = WriteRun(lane, expecting: pendingCount * ContentGeometry.blockSize)
            do throws(SecureFileError) {
                for state in pendingGroupsInOrder() {
                    var bits = state.pending.bits
                    while let index = PendingBlocks.popFirst(&bits) {
                        let block = state.index.block(index)
                        guard try mayWriteAtOnce(block, state) else { continue }
                        try unseal(index, in: state)
                        guard let held = state.pending[index] else { continue }
                        if !run.takes(block) { try finish(&run) }
                        try held.buffer.withSpan(0..<held.length) { (span) throws(SecureFileError) in
                            try add(block, state, span, 0..<held.length, to: &run)
                        }
                        written.append((state, index))
                    }
                }
                try finish(&run)
            } catch {
                abandon(&run)
                throw error
            }
        }
        for (state, index) in written { release(index, in: state) }
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
        // A sync of the content alone promises no times, a barrier neither.
        if attributes { try restoreKeptTime() }
        let begin = monotonicNanoseconds()
        do throws(Errno) {
            try store.synchronize(attributes: attributes)
            noteBarrier(nanoseconds: monotonicNanoseconds() - begin)
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
                hasTimeMoved = true
                try store.punchHole(at: BackingOffset(range.lowerBound), count: range.upperBound - range.lowerBound)
            } catch {
                context.log("\(path): the space of a hole could not be freed: \(error)")
            }
        }
        deferredPunches.removeAll()
    }

    /// After a sync with nothing pending: a cut that waited for it is done.
    func finishCut() throws(SecureFileError) {
        isEndUnsynced = false
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
        guard let commit, !commit.isEmpty else { return commit = nil }
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
        // Pages that name the batch's versions too are written once, with these.
        if unfinished.isEmpty { try flushContent() } else { try flushLocked() }
        if form == .inline {
            guard isInlineDirty else { return }
            // The page needs its length before it is written; a shorter one is cut after the next sync.
            if backingLength < expectedBackingLength { try setBackingLength(expectedBackingLength) }
            commit = Commit(inline: true)
            return
        }
        guard pendingCount > 0 else { return try writeDirtyPages() }
        try writeUnfinished()
        let states = pendingGroupsInOrder()
        if states.contains(where: { $0.changed($0.pending.bits, epoch) != 0 }) { try syncStore(attributes: false) }
        if foreignSize != nil, states.contains(where: { $0.index != .zero }) { try ensureStampIsDurable() }
        if backingLength < expectedBackingLength { try setBackingLength(expectedBackingLength) }
        commit = Commit()
        do throws(SecureFileError) {
            try context.lanes.withLane { (lane) throws(SecureFileError) in for state in states { try sealPart(state, lane) } }
            for state in states { try writePage(state) }
            try writeDirtyPages()
        } catch {
            abandonCommit()
            throw error
        }
    }

    /// Seals what is not sealed yet in a group, and adds the new versions to their entries.
    private func sealPart(_ state: GroupState, _ lane: AEADLane) throws(SecureFileError) {
        var part = Commit.Part(state: state, blocks: 0, before: MetadataPage(context.pages.take()))
        part.before.copy(state.page)
        defer { commit?.parts.append(part) }
        markDirty(state)
        var bits = state.pending.bits
        while let index = PendingBlocks.popFirst(&bits) {
            state.page.addVersion(index, try seal(index, in: state, lane))
            part.blocks |= 1 << UInt64(index)
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
        for number in commit.parts.indices {
            var left = commit.parts[number].blocks
            let state = commit.parts[number].state
            while left != 0 {
                let run = state.pending.firstRun(of: left)
                left &= ~run
                do throws(SecureFileError) { try writeRun(run, of: state) } catch {
                    // What is written is written; the rest goes back to being pending.
                    keepUnfinished(run, in: state)
                    self.commit?.parts[number].blocks = left
                    self.commit?.parts.removeSubrange(..<number)
                    abandonCommit()
                    throw error
                }
                state.noteWritten(run, fresh: false, epoch)
                releaseWritten(run, in: state)
            }
            context.pages.giveBack(commit.parts[number].before.buffer, holdsPlaintext: false)
        }
        self.commit = nil
    }

    private func writeRun(_ run: UInt64, of state: GroupState) throws(SecureFileError) {
        let first = run.trailingZeroBitCount
        guard let only = state.pending[first] else { return }
        let place = ContentGeometry.dataPage(of: state.index.block(first))
        let count = run.nonzeroBitCount
        if count == 1 { return try writeToStore(only.buffer, 0..<only.length, at: place) }
        let held = (first..<first + count).compactMap { state.pending[$0] }
        try writeToStore(held.map(\.buffer), held.reduce(0) { $0 + $1.length }, at: place)
    }

    /// Blocks whose new version may have been written in part: the entries with both versions stay, and the sealed versions are kept until
    /// they have been written whole. Else the next version could take the place of the one that is in the store.
    private func keepUnfinished(_ run: UInt64, in state: GroupState) {
        var bits = run
        while let index = PendingBlocks.popFirst(&bits) {
            guard let held = state.pending[index] else { continue }
            let sealed = PageBuffer(uninitialized: ContentGeometry.blockSize)
            sealed.copy(0..<ContentGeometry.blockSize, of: held.buffer, to: 0)
            unfinished[state.index.block(index)] = UnfinishedBlock(state: state, buffer: sealed, length: held.length)
            // The next version is to be another one, also where the content stays.
            try? unseal(index, in: state)
        }
    }

    /// Writes what an earlier batch has left unfinished.
    private func writeUnfinished() throws(SecureFileError) {
        for block in unfinished.keys.sorted() {
            guard let sealed = unfinished[block] else { continue }
            try writeToStore(sealed.buffer, 0..<sealed.length, at: ContentGeometry.dataPage(of: block))
            sealed.state.noteWritten(1 << UInt64(block.indexInGroup), fresh: false, epoch)
            unfinished[block] = nil
        }
    }

    /// Takes a prepared batch back: the blocks stay pending, the entries are as they were; the pages have to be written anew.
    func abandonCommit() {
        guard let batch = commit else { return }
        commit = nil
        defer { updateRegistration() }
        for part in batch.parts {
            var bits = part.blocks
            while let index = PendingBlocks.popFirst(&bits) { part.state.page.setEntry(index, part.before.entry(index)) }
            markDirty(part.state)
            context.pages.giveBack(part.before.buffer, holdsPlaintext: false)
        }
    }
}
