extension SecureFile {
    /// The page of a group inside the file; nil where a sparse file has none (64 holes).
    func group(_ index: GroupIndex) throws(SecureFileError) -> GroupState? {
        if index == .zero { return header }
        if let state = groups.find(index) { return state }
        guard let state = try loadGroup(index) else { return nil }
        if groups.count > context.options.cachedGroupsPerFile, groups.shrink(to: context.options.cachedGroupsPerFile, epoch: epoch) {
            forgottenEpoch.store(epoch + 1, ordering: .relaxed)
        }
        return groups.insert(state)
    }

    private func loadGroup(_ index: GroupIndex) throws(SecureFileError) -> GroupState? {
        guard let fileKey else { return nil }
        let page = MetadataPage(PageBuffer(uninitialized: ContentGeometry.blockSize))
        let got = try onStore("could not read") { () throws(Errno) in
            try store.read(at: ContentGeometry.metadataPage(of: index), into: page.buffer, 0..<ContentGeometry.blockSize)
        }
        if got < ContentGeometry.blockSize || page.buffer.isZero(0..<ContentGeometry.blockSize) {
            if isSparse { return nil }
            if isLenient {
                context.log("\(path): the metadata page of block \(index.firstBlock) was never made durable; its blocks are holes")
                return nil
            }
            throw damaged(index.firstBlock, "the metadata page of 64 blocks is missing")
        }
        do { try page.checkHead(of: index) } catch { throw damaged(index.firstBlock, "the metadata page of 64 blocks is damaged") }
        guard page.cipher == cipher else { throw damaged(index.firstBlock, "the metadata page of 64 blocks is damaged") }
        let key: SecretKey
        do {
            key = try Self.groupKey(fileKey, index)
            try context.lanes.withLane { (lane) throws(CryptoFailure) in try lane.open(page, key, cipher, inline: nil) }
        } catch {
            guard error == .authentication else { throw failure(error) }
            throw damaged(index.firstBlock, "the metadata page of 64 blocks is damaged")
        }
        do { try page.checkSlots() } catch { throw damaged(index.firstBlock, "the metadata page of 64 blocks is damaged") }
        let state = GroupState(index: index, page: page, key: key, epoch: epoch)
        if worstEpoch == epoch || forgottenEpoch.load(ordering: .relaxed) == epoch + 1 { state.assumeWorst(epoch) }
        return state
    }

    /// The page of a group that is about to be changed; one that does not exist yet is made, with holes. Under the exclusive lock.
    /// `existing`: the size up to which groups may be in the store, where that is not the present one.
    func groupForChange(_ index: GroupIndex, existing: ByteCount? = nil) throws(SecureFileError) -> GroupState {
        if index == .zero, let header { return header }
        if let state = groups.find(index) { return state }
        let end = GroupIndex(ContentGeometry.groupCount(existing ?? plaintextSize))
        if index < end {
            let ahead = readAhead.pages(after: index, before: end)
            for number in ahead.lowerBound.rawValue..<ahead.upperBound.rawValue {
                store.prefetch(at: ContentGeometry.metadataPage(of: GroupIndex(number)), count: Int64(ContentGeometry.blockSize))
            }
            if let state = try group(index) { return state }
        }
        return try makeGroup(index)
    }

    /// A blank page of a group, to be written.
    @discardableResult
    func makeGroup(_ index: GroupIndex) throws(SecureFileError) -> GroupState {
        guard let fileKey else { throw SecureFileError(.keyNotAvailable, "the file has no key", path: path) }
        let state: GroupState
        do {
            state = GroupState(index: index, page: .blank(index, cipher, .grouped), key: try Self.groupKey(fileKey, index), epoch: epoch)
        } catch { throw failure(error) }
        markDirty(state)
        return groups.insert(state)
    }

    func markDirty(_ state: GroupState) {
        if state.isDirty { return }
        state.isDirty = true
        if state.index != .zero { dirtyGroupCount += 1 }
    }

    func markClean(_ state: GroupState) {
        guard state.isDirty else { return }
        state.isDirty = false
        if state.index != .zero { dirtyGroupCount -= 1 }
    }

    var isSparse: Bool {
        get { header?.page.flags.contains(.sparse) ?? false }
        set {
            guard let header, newValue != isSparse else { return }
            if newValue { header.page.flags.insert(.sparse) } else { header.page.flags.remove(.sparse) }
            markDirty(header)
        }
    }

    /// Makes the file one with a first page, a new file id and keys, in the inline or the grouped form.
    func startAfresh(_ form: ContentGeometry.Form) throws(SecureFileError) {
        let contentKey = try context.contentKey()
        do {
            let page = MetadataPage.blank(.zero, context.cipher, form)
            if context.isStandalone { page.flags.insert(.standalone) }
            page.fileID = FileID(bytes: try RandomBytes.make(32))
            page.keyID = context.keyID
            let key = try Hashing.expand(contentKey, "sfs1 file", page.fileID.bytes, count: 32)
            let state = GroupState(index: .zero, page: page, key: try Self.groupKey(key, .zero), epoch: epoch)
            (fileKey, header, cipher) = (key, state, context.cipher)
        } catch { throw failure(error) }
        isLenient = false
        isStamped = false
        foreignSize = nil
        worstEpoch = nil
        isTailUnchecked = false
        self.form = form == .inline ? .inline : .grouped
        inlineContent = form == .inline ? PageBuffer(count: ContentGeometry.blockSize) : nil
        if let header { markDirty(header) }
    }

    /// Seals a page for writing: header fields of page 0, sequence, nonce and tag.
    func sealPage(_ state: GroupState, _ lane: AEADLane) throws(SecureFileError) {
        if state.index == .zero {
            state.page.size = plaintextSize
            // A file that a dead session left stays under that session until a checker settles it: all of it is still read leniently.
            if !isLenient { state.page.session = try sessionToName() }
        }
        state.page.sequence += state.seals + 1
        state.seals = 0
        guard state.page.sequence < 1 << 36 else {
            throw SecureFileError(.limitExceeded, "written too often under one key; copy the file", path: path, block: state.index.firstBlock)
        }
        let inline = form == .inline ? inlineContent.map { (buffer: $0, count: Int(plaintextSize.rawValue)) } : nil
        do { try lane.seal(state.page, state.key, cipher, inline: inline) } catch { throw failure(error) }
    }

    /// Seals and writes the metadata page of a group (in the grouped form).
    func writePage(_ state: GroupState) throws(SecureFileError) {
        markDirty(state)
        try context.lanes.withLane { (lane) throws(SecureFileError) in try sealPage(state, lane) }
        let offset = ContentGeometry.metadataPage(of: state.index)
        try writeToStore(state.page.buffer, 0..<ContentGeometry.blockSize, at: offset)
        notePageWritten(state)
    }

    func notePageWritten(_ state: GroupState) {
        markClean(state)
        if state.index == .zero { isStamped = true }
    }

    func writeToStore(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(SecureFileError) {
        (hasUnsyncedWrites, hasTimeMoved) = (true, true)
        var failure: Errno?
        do throws(Errno) { try store.write(buffer, range, at: offset) } catch { failure = error }
        try noteWrite(range.count, at: offset, failure)
    }

    /// The same for the first `count` bytes of pages behind each other.
    func writeToStore(_ pages: [PageBuffer], _ count: Int, at offset: BackingOffset) throws(SecureFileError) {
        (hasUnsyncedWrites, hasTimeMoved) = (true, true)
        var failure: Errno?
        do throws(Errno) { try store.write(pages, count, at: offset) } catch { failure = error }
        try noteWrite(count, at: offset, failure)
    }

    /// What follows from a write of `count` bytes to the store, or from its failure.
    ///
    /// - Throws: the failure.
    func noteWrite(_ count: Int, at offset: BackingOffset, _ error: Errno?) throws(SecureFileError) {
        if let error {
            // Part of it may be there: the length is no longer known.
            if let length = try? store.length() { (backingLength, extensionEpoch) = (length, epoch) }
            context.noteFailure(unless: error == .noSpace)
            throw failure(error, "could not write")
        }
        let end = offset.rawValue + Int64(count)
        if end > backingLength { (backingLength, extensionEpoch) = (end, epoch) }
    }

    func setBackingLength(_ length: Int64) throws(SecureFileError) {
        if length == backingLength { return }
        (hasUnsyncedWrites, hasTimeMoved) = (true, true)
        try onStore("could not change the length") { () throws(Errno) in try store.setLength(length) }
        let (last, before) = (BackingOffset(length - 1), BackingOffset(backingLength - 1))
        if length > 0, length < backingLength, ContentGeometry.group(at: last) < ContentGeometry.group(at: before) { groupCutEpoch = epoch }
        if length > backingLength { extensionEpoch = epoch }
        backingLength = length
    }
}
