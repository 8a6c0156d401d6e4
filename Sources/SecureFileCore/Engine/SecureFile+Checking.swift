extension SecureFile {
    /// Opens every block there is and throws its content away.
    ///
    /// - Parameters:
    ///   - progress: Told the bytes of plaintext done since it was last called; holes are passed over.
    ///   - report: Told each damaged block, or metadata page with the first block it stands for, and each failure to read.
    public func verifyAll(progress: (Int64) -> Void, report: (SecureFileError) -> Void) {
        do throws(SecureFileError) {
            try reading { () throws(SecureFileError) in verifyContent(progress, report) }
        } catch { report(error) }
    }

    private func verifyContent(_ progress: (Int64) -> Void, _ report: (SecureFileError) -> Void) {
        guard form == .grouped else { return progress(plaintextSize.rawValue) }
        let buffer = PageBuffer(count: ContentGeometry.blockSize)
        let end = ContentGeometry.groupCount(plaintextSize)
        var index = GroupIndex.zero
        while index.rawValue < end {
            do throws(SecureFileError) {
                if let state = try group(index) {
                    verify(state, buffer, report)
                } else if let next = try nextGroup(after: index) {
                    index = next
                    continue
                } else {
                    return
                }
            } catch { report(error) }
            progress(min(ContentGeometry.groupSize, plaintextSize.rawValue - index.rawValue * ContentGeometry.groupSize))
            if index != .zero { forgetIfQuiet(index) }
            index = GroupIndex(index.rawValue + 1)
        }
    }

    /// Drops a page that was read only to be checked.
    private func forgetIfQuiet(_ index: GroupIndex) {
        guard let state = groups.find(index), !state.isDirty, state.pending.bits == 0, !state.remembersWrites(epoch) else { return }
        groups.remove(index)
    }

    private func verify(_ state: GroupState, _ buffer: PageBuffer, _ report: (SecureFileError) -> Void) {
        let end = ContentGeometry.endBlock(plaintextSize)
        for place in 0..<ContentGeometry.blocksPerGroup {
            let block = state.index.block(place)
            if block >= end { return }
            if state.pending.has(place) { continue }
            do throws(SecureFileError) { try loadBlock(block, state, into: buffer) } catch { report(error) }
        }
    }

    /// Whether ``settleForGood()`` would do something.
    public var needsSettling: Bool { lock.reading { isLenient || (form == .empty && backingLength > 0) } }

    /// Ends the lenient reading of a file that a dead session left: each entry keeps the version that opens, the size becomes what is there, and
    /// page 0 names the present session. Durable when it returns. A block that is damaged stays so. FORMAT section 8.3.
    public func settleForGood() throws(SecureFileError) { try changing { () throws(SecureFileError) in try settleForGoodLocked() } }

    /// The same under the exclusive lock.
    func settleForGoodLocked() throws(SecureFileError) {
        try keepingModificationTime(always: true) { () throws(SecureFileError) in
            if form == .empty {
                try setBackingLength(0)
                return try syncStore(attributes: false)
            }
            guard isLenient else { return }
            if form == .grouped { try settleEntries() }
            try prepareGrowth(to: plaintextSize)
            try synchronizeLocked(attributes: false)
            isLenient = false
            if form == .inline { isInlineDirty = true } else if let header { markDirty(header) }
            try synchronizeLocked(attributes: false)
        }
    }

    private func settleEntries() throws(SecureFileError) {
        let buffer = PageBuffer(count: ContentGeometry.blockSize)
        var index = GroupIndex.zero
        let end = ContentGeometry.endBlock(plaintextSize)
        while index.firstBlock < end {
            guard let state = try groupOrDamage(index) else {
                guard let next = try nextGroup(after: index) else { break }
                // A lenient file may lack pages without being marked so; strict reading of their holes needs the mark.
                isSparse = true
                index = next
                continue
            }
            for place in 0..<ContentGeometry.blocksPerGroup where index.block(place) < end {
                let block = index.block(place)
                do throws(SecureFileError) {
                    settleEntry(block, state, try loadBlock(block, state, into: buffer))
                } catch {
                    if error.code != .damaged { throw error }
                }
            }
            if dirtyGroupCount > 256 { try writeDirtyPages() }
            index = GroupIndex(index.rawValue + 1)
        }
        if index.firstBlock < end { isSparse = true }
    }

    /// The group's page; a damaged one is passed over as if it had been looked at: nothing can be settled in it.
    private func groupOrDamage(_ index: GroupIndex) throws(SecureFileError) -> GroupState? {
        do throws(SecureFileError) { return try group(index) } catch {
            if error.code == .damaged { return nil }
            throw error
        }
    }
}
