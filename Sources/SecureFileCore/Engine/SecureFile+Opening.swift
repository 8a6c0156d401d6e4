extension SecureFile {
    /// Reads page 0 and what follows from it. FORMAT sections 3.1 and 8.3.
    func load() throws(SecureFileError) {
        let page = MetadataPage(PageBuffer(count: ContentGeometry.blockSize))
        let got = try onStore("could not read") { () throws(Errno) in try store.read(at: BackingOffset(0), into: page.buffer, 0..<ContentGeometry.blockSize) }
        backingLength = got < ContentGeometry.blockSize ? Int64(got) : try onStore("could not be examined") { () throws(Errno) in try store.length() }
        if backingLength == 0 { return }
        if got < ContentGeometry.headSize || page.buffer.isZero(0..<got) {
            // Outside of a vault whatever does not begin as ours is somebody else's, zeros too.
            if context.isStandalone, got < 8 || !page.hasMagic { throw defect(.notSecureFile) }
            return try becomeEmpty(orThrow: damaged(BlockIndex(0), "the first page is missing"))
        }
        do {
            try page.checkHead(of: .zero)
        } catch {
            throw defect(error)
        }
        guard let cipher = page.cipher, let form = page.form else { throw defect(.unsupportedVersion) }
        if context.isStandalone, !page.flags.contains(.standalone) {
            throw SecureFileError(.notSecureFile, "is a content file of a vault: it can be used through its vault only", path: path)
        }
        guard page.keyID == context.keyID else { throw SecureFileError(.wrongKey, "belongs to another key", path: path) }
        self.cipher = cipher
        isLenient = isReadLeniently(page.session)
        isOwed = true
        isTailUnchecked = true
        plaintextSize = page.size
        try adoptKeys(page)
        switch form {
        case .inline: try openInline(page, got)
        case .grouped: try openGrouped(page, got)
        }
        // FORMAT section 3.3: found out last, so that the flag is authentic.
        if !context.isStandalone, page.flags.contains(.standalone) { throw damaged(BlockIndex(0), "a file from outside of a vault lies in it") }
        noteSession(page.session)
        backingDisagreed = !isLenient && backingLength != expectedBackingLength
    }

    private func truncated(at block: BlockIndex) -> SecureFileError { SecureFileError(.truncated, "the file was cut", path: path, block: block) }

    private func defect(_ defect: MetadataPage.Defect) -> SecureFileError {
        switch defect {
        case .notSecureFile: SecureFileError(.notSecureFile, "is not a file of SecureFS", path: path)
        case .unsupportedVersion: SecureFileError(.unsupportedVersion, "was made by a newer version of SecureFS", path: path)
        case .malformed: damaged(BlockIndex(0), "the first page is damaged")
        }
    }

    /// A file whose first page never reached the disk is empty, if a session died that may have been writing it; otherwise it is damaged.
    private func becomeEmpty(orThrow error: SecureFileError) throws(SecureFileError) {
        guard context.session.hasDead || context.isStandalone && isLenient else { throw error }
        context.log("\(path): the first page was never made durable; read as empty")
        header = nil
        form = .empty
        plaintextSize = .zero
        isOwed = false
    }

    private func adoptKeys(_ page: MetadataPage) throws(SecureFileError) {
        let contentKey = try context.contentKey()
        do {
            let key = try Hashing.expand(contentKey, "sfs1 file", page.fileID.bytes, count: 32)
            fileKey = key
            header = GroupState(index: .zero, page: page, key: try Self.groupKey(key, .zero), epoch: epoch)
        } catch { throw failure(error) }
    }

    static func groupKey(_ fileKey: SecretKey, _ index: GroupIndex) throws(CryptoFailure) -> SecretKey {
        let number = UInt64(index.rawValue)
        return try Hashing.expand(fileKey, "sfs1 group", (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }, count: 32)
    }

    private func openInline(_ page: MetadataPage, _ got: Int) throws(SecureFileError) {
        form = .inline
        let count = Int(plaintextSize.rawValue)
        guard got >= ContentGeometry.headSize + count else {
            let error = truncated(at: BlockIndex(0))
            if isLenient { return try becomeEmpty(orThrow: error) }
            throw error
        }
        let content = PageBuffer(count: ContentGeometry.blockSize)
        try verify(page, inline: (content, count))
        // What lies behind the content is excess: it must not come into the page when that is written again.
        page.buffer.zero(ContentGeometry.headSize + count..<ContentGeometry.blockSize)
        inlineContent = content
    }

    private func openGrouped(_ page: MetadataPage, _ got: Int) throws(SecureFileError) {
        form = .grouped
        guard got == ContentGeometry.blockSize else {
            let error = truncated(at: BlockIndex(0))
            if isLenient { return try becomeEmpty(orThrow: error) }
            throw error
        }
        try verify(page, inline: nil)
        if backingLength < expectedBackingLength {
            let holds = ContentGeometry.size(backingLength: backingLength)
            guard isLenient else { throw truncated(at: BlockIndex(holds.rawValue >> 12)) }
            context.log("\(path): \(plaintextSize.rawValue) bytes recorded, \(holds.rawValue) were made durable")
            plaintextSize = min(plaintextSize, holds)
        }
    }

    private func verify(_ page: MetadataPage, inline: (PageBuffer, Int)?) throws(SecureFileError) {
        guard let header else { return }
        do {
            try context.lanes.withLane { (lane) throws(CryptoFailure) in
                try lane.open(page, header.key, cipher, inline: inline.map { (buffer: $0.0, count: $0.1) })
            }
        } catch {
            guard error == .authentication else { throw failure(error) }
            throw damaged(BlockIndex(0), "the first page is damaged")
        }
        if inline == nil {
            do { try page.checkSlots() } catch { throw defect(error) }
        }
    }

    private func noteSession(_ session: SessionID) {
        guard form != .empty else { return }
        let isOurs = isOwn(session)
        if isLenient || isOurs, !wasSyncedAtSuspension {
            // Written, perhaps not yet durable, by ourselves, before this instance was made or its key went away. A lenient file does not say by
            // whom.
            worstEpoch = epoch
            header?.assumeWorst(epoch)
        }
        if isLenient {
            // Given up by this session before: page 0 may not be durable.
            if isOurs { foreignSize = ByteCount(.max) }
            return
        }
        if isOurs, wasSyncedAtSuspension {
            isStamped = true
        } else {
            foreignSize = isOurs ? ByteCount(.max) : plaintextSize
        }
    }
}
