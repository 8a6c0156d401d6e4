import Synchronization

extension SecureFile {
    /// Reads under the shared lock.
    func readLocked(_ offset: ByteOffset, _ count: Int, _ buffer: PageBuffer, _ bufferOffset: Int) throws(SecureFileError) -> Int {
        guard offset.rawValue >= 0, count >= 0 else { throw SecureFileError(.invalidArgument, "offset below 0", path: path) }
        let available = plaintextSize.rawValue - offset.rawValue
        if available <= 0 || count == 0 { return 0 }
        let wanted = Int(min(Int64(count), available))
        switch form {
        case .empty: return 0
        case .inline:
            guard let inlineContent else { return 0 }
            buffer.copy(Int(offset.rawValue)..<Int(offset.rawValue) + wanted, of: inlineContent, to: bufferOffset)
        case .grouped:
            do throws(SecureFileError) {
                if let crew = context.options.crew, wanted >= crew.smallest {
                    try readInParts(offset, wanted, buffer, bufferOffset, crew)
                } else {
                    try readBlocks(offset, wanted, buffer, bufferOffset)
                }
            } catch {
                buffer.zero(bufferOffset..<bufferOffset + wanted)
                throw error
            }
        }
        return wanted
    }

    /// The same by several threads, in parts that end where a group does.
    private func readInParts(_ offset: ByteOffset, _ wanted: Int, _ buffer: PageBuffer, _ bufferOffset: Int, _ crew: Crew) throws(SecureFileError) {
        let first = offset.rawValue / ContentGeometry.groupSize
        let end = offset.rawValue + Int64(wanted)
        let parts = Int((end - 1) / ContentGeometry.groupSize - first) + 1
        let failures = Mutex<[Int: SecureFileError]>([:])
        crew.forEach(parts) { part in
            let from = max(offset.rawValue, (first + Int64(part)) * ContentGeometry.groupSize)
            let to = min(end, (first + Int64(part) + 1) * ContentGeometry.groupSize)
            do throws(SecureFileError) {
                try self.readBlocks(ByteOffset(from), Int(to - from), buffer, bufferOffset + Int(from - offset.rawValue))
            } catch { failures.withLock { $0[part] = error } }
        }
        // The one that reading in order would have met.
        if let failure = failures.withLock({ $0.min { $0.key < $1.key }?.value }) { throw failure }
    }

    private func readBlocks(_ offset: ByteOffset, _ wanted: Int, _ buffer: PageBuffer, _ bufferOffset: Int) throws(SecureFileError) {
        var position = offset
        let end = offset + ByteCount(Int64(wanted))
        while position < end {
            let block = position.block
            let target = bufferOffset + Int((position - offset).rawValue)
            let inBlock = position.offsetInBlock
            let here = min(ContentGeometry.blockSize - inBlock, Int((end - position).rawValue))
            guard let state = try group(block.group) else {
                // 64 holes.
                let rest = Int(min(Int64(wanted - (target - bufferOffset)), (block.group.rawValue + 1) * ContentGeometry.groupSize - position.rawValue))
                let holes = holesUntilPending(from: position, count: rest)
                buffer.zero(target..<target + holes)
                position = position + ByteCount(Int64(holes))
                continue
            }
            if let held = state.pending[block.indexInGroup] {
                try readPending(held, block.indexInGroup, in: state, inBlock..<inBlock + here, buffer, target)
                position = position + ByteCount(Int64(here))
                continue
            }
            if inBlock == 0, here == ContentGeometry.blockSize {
                let run = runOfWholeBlocks(from: block, in: state, until: end)
                if run > 0 {
                    try readRun(block, run, state, buffer, target)
                    position = position + ByteCount(Int64(run * ContentGeometry.blockSize))
                    continue
                }
            }
            try readPart(of: block, state, inBlock..<inBlock + here, buffer, target)
            position = position + ByteCount(Int64(here))
        }
    }

    private func holesUntilPending(from position: ByteOffset, count: Int) -> Int {
        if pendingCount == 0 { return count }
        var done = 0
        while done < count {
            let at = position + ByteCount(Int64(done))
            if done > 0, isPending(at.block) { break }
            done += ContentGeometry.blockSize - at.offsetInBlock
        }
        return min(done, count)
    }

    /// How many blocks from `block` on, in its group and before `end`, are full in the store: these are read in one call.
    private func runOfWholeBlocks(from block: BlockIndex, in state: GroupState, until end: ByteOffset) -> Int {
        var count = 0
        while block.indexInGroup + count < ContentGeometry.blocksPerGroup {
            let next = BlockIndex(block.rawValue + Int64(count))
            if next.next.start > end || state.pending.has(next.indexInGroup) { break }
            if state.page.newestSlot(next.indexInGroup).length != UInt16(ContentGeometry.blockSize) { break }
            count += 1
        }
        return count
    }

    private func readRun(_ first: BlockIndex, _ count: Int, _ state: GroupState, _ buffer: PageBuffer, _ target: Int) throws(SecureFileError) {
        let bytes = count * ContentGeometry.blockSize
        let got = try onStore("could not read") { () throws(Errno) in
            try store.read(at: ContentGeometry.dataPage(of: first), into: buffer, target..<target + bytes)
        }
        if got < bytes { buffer.zero(target + got..<target + bytes) }
        var failed: [Int] = []
        try context.lanes.withLane { (lane) throws(SecureFileError) in
            for i in 0..<count {
                let index = first.indexInGroup + i
                let at = target + i * ContentGeometry.blockSize
                do throws(CryptoFailure) {
                    try lane.openBlock(state.page.newestSlot(index), at: index, state.key, cipher, from: buffer, at, to: buffer, at)
                } catch {
                    guard error == .authentication else { throw failure(error) }
                    failed.append(i)
                }
            }
        }
        for i in failed {
            let block = BlockIndex(first.rawValue + Int64(i))
            try readPart(of: block, state, 0..<ContentGeometry.blockSize, buffer, target + i * ContentGeometry.blockSize)
        }
    }

    /// Reads some bytes of one block: also the way for a block that is short, or did not open.
    private func readPart(
        of block: BlockIndex, _ state: GroupState, _ range: Range<Int>, _ buffer: PageBuffer, _ target: Int
    ) throws(SecureFileError) {
        let whole = PageBuffer(count: ContentGeometry.blockSize)
        _ = try loadBlock(block, state, into: whole)
        buffer.copy(range, of: whole, to: target)
    }

    /// Which version of a block opened.
    enum Version { case newest, older, hole }

    /// Opens a block into the 4096 bytes of `buffer`, with zeros behind its end. FORMAT section 3.3.
    ///
    /// - Returns: The version that counts.
    @discardableResult
    func loadBlock(_ block: BlockIndex, _ state: GroupState, into buffer: PageBuffer) throws(SecureFileError) -> Version {
        let index = block.indexInGroup
        let newest = state.page.newestSlot(index)
        if newest.isEmpty {
            buffer.zero(0..<ContentGeometry.blockSize)
            return .hole
        }
        if try open(newest, block, state, into: buffer) { return .newest }
        guard isLenient else { throw damaged(block, "the block is damaged") }
        let older = state.page.olderSlot(index)
        if older.isEmpty {
            context.log("\(path): block \(block) was never made durable; it is a hole")
            return .hole
        }
        if try open(older, block, state, into: buffer) { return .older }
        throw damaged(block, "the block is damaged")
    }

    /// Opens one version of a block; false, and zeros, when it does not open.
    private func open(_ slot: Slot, _ block: BlockIndex, _ state: GroupState, into buffer: PageBuffer) throws(SecureFileError) -> Bool {
        let length = Int(slot.length)
        buffer.zero(0..<ContentGeometry.blockSize)
        let got = try onStore("could not read") { () throws(Errno) in
            try store.read(at: ContentGeometry.dataPage(of: block), into: buffer, 0..<length)
        }
        guard got == length else {
            buffer.zero(0..<ContentGeometry.blockSize)
            return false
        }
        do {
            try context.lanes.withLane { (lane) throws(CryptoFailure) in
                try lane.openBlock(slot, at: block.indexInGroup, state.key, cipher, from: buffer, 0, to: buffer, 0)
            }
            return true
        } catch {
            guard error == .authentication else { throw failure(error) }
            return false
        }
    }
}
