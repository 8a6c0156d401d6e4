/// The first page of a group, in place: the fields are read from and written to its 4096 bytes. FORMAT section 3.1.
struct MetadataPage {
    static let magic: UInt64 = 0x0A1A_0A0D_5346_5389  // 89 53 46 53 0D 0A 1A 0A
    static let version: UInt8 = 1

    /// The parts that the tag covers as associated data; the nonce and the tag lie between them.
    static let authenticatedHead = 0..<16
    static let authenticatedRest = 44..<256

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let sparse = Flags(rawValue: 1)
        static let standalone = Flags(rawValue: 2)
        static let known: Flags = [.sparse, .standalone]
    }

    let buffer: PageBuffer

    init(_ buffer: PageBuffer) { self.buffer = buffer }

    /// A page of `group` with 64 holes, not yet sealed.
    static func blank(_ group: GroupIndex, _ cipher: CipherKind, _ form: ContentGeometry.Form) -> MetadataPage {
        let page = MetadataPage(PageBuffer(count: ContentGeometry.blockSize))
        page.buffer.store(magic, at: 0)
        page.buffer[8] = version
        page.buffer[9] = cipher.rawValue
        page.buffer[10] = form.rawValue
        page.buffer.store(UInt32(truncatingIfNeeded: group.rawValue), at: 12)
        return page
    }

    /// Makes it the same as `other`.
    func copy(_ other: MetadataPage) { buffer.copy(0..<ContentGeometry.blockSize, of: other.buffer, to: 0) }

    // MARK: Head

    var hasMagic: Bool { buffer.load(at: 0, as: UInt64.self) == Self.magic }
    var cipher: CipherKind? { CipherKind(rawValue: buffer[9]) }
    var form: ContentGeometry.Form? {
        get { ContentGeometry.Form(rawValue: buffer[10]) }
        nonmutating set { buffer[10] = newValue?.rawValue ?? 0 }
    }
    var flags: Flags {
        get { Flags(rawValue: buffer[11]) }
        nonmutating set { buffer[11] = newValue.rawValue }
    }
    var nonce: Nonce {
        get { Nonce(low: buffer.load(at: 16), high: buffer.load(at: 24)) }
        nonmutating set {
            buffer.store(newValue.low, at: 16)
            buffer.store(newValue.high, at: 24)
        }
    }
    var tag: Tag {
        get { Tag(low: buffer.load(at: 28), high: buffer.load(at: 36)) }
        nonmutating set {
            buffer.store(newValue.low, at: 28)
            buffer.store(newValue.high, at: 36)
        }
    }
    /// Seals made under the group's key, this page's own included.
    var sequence: UInt64 {
        get { buffer.load(at: 48) }
        nonmutating set { buffer.store(newValue, at: 48) }
    }
    private var newest: UInt64 {
        get { buffer.load(at: 56) }
        nonmutating set { buffer.store(newValue, at: 56) }
    }
    var fileID: FileID {
        get { FileID(bytes: buffer.bytes(64..<96)) }
        nonmutating set { buffer.copy(newValue.bytes, to: 64) }
    }
    var keyID: UInt64 {
        get { buffer.load(at: 96) }
        nonmutating set { buffer.store(newValue, at: 96) }
    }
    var size: ByteCount {
        get { ByteCount(Int64(bitPattern: buffer.load(at: 104))) }
        nonmutating set { buffer.store(UInt64(bitPattern: newValue.rawValue), at: 104) }
    }
    var session: SessionID {
        get { SessionID(low: buffer.load(at: 112), high: buffer.load(at: 120)) }
        nonmutating set {
            buffer.store(newValue.low, at: 112)
            buffer.store(newValue.high, at: 120)
        }
    }

    // MARK: Slots

    private func offset(_ index: Int, _ which: Int) -> Int { ContentGeometry.headSize + index * 60 + which * 30 }

    func slot(_ index: Int, _ which: Int) -> Slot {
        let at = offset(index, which)
        return Slot(
            nonce: Nonce(low: buffer.load(at: at), high: buffer.load(at: at + 8)),
            tag: Tag(low: buffer.load(at: at + 12), high: buffer.load(at: at + 20)), length: buffer.load(at: at + 28))
    }

    private func setSlot(_ index: Int, _ which: Int, _ slot: Slot) {
        let at = offset(index, which)
        buffer.store(slot.nonce.low, at: at)
        buffer.store(slot.nonce.high, at: at + 8)
        buffer.store(slot.tag.low, at: at + 12)
        buffer.store(slot.tag.high, at: at + 20)
        buffer.store(slot.length, at: at + 28)
    }

    /// Which of its two slots is the newest of `index`.
    func newestPlace(_ index: Int) -> Int { Int(newest >> UInt64(index) & 1) }

    private func setNewestPlace(_ index: Int, _ which: Int) {
        newest = newest & ~(1 << UInt64(index)) | UInt64(which) << UInt64(index)
    }

    func newestSlot(_ index: Int) -> Slot { slot(index, newestPlace(index)) }
    func olderSlot(_ index: Int) -> Slot { slot(index, 1 - newestPlace(index)) }

    /// Both slots of a block and which is the newest: what has to be put back when a change does not come about.
    struct Entry {
        var slots: (Slot, Slot)
        var newest: Int
        var isHole: Bool { slots.0.isEmpty && slots.1.isEmpty }
    }

    func entry(_ index: Int) -> Entry { Entry(slots: (slot(index, 0), slot(index, 1)), newest: newestPlace(index)) }

    func setEntry(_ index: Int, _ entry: Entry) {
        setSlot(index, 0, entry.slots.0)
        setSlot(index, 1, entry.slots.1)
        setNewestPlace(index, entry.newest)
    }

    /// Makes `slot` the only version of the block.
    func setOnlyVersion(_ index: Int, _ slot: Slot) { setEntry(index, Entry(slots: (slot, .empty), newest: 0)) }

    /// Makes `slot` the newest version; the one that was stays as the older.
    func addVersion(_ index: Int, _ slot: Slot) {
        let place = 1 - newestPlace(index)
        setSlot(index, place, slot)
        setNewestPlace(index, place)
    }

    /// Makes the older version the newest again, and the only one.
    func fallBack(_ index: Int) { setOnlyVersion(index, olderSlot(index)) }

    /// Makes the block a hole.
    func clear(_ index: Int) { setEntry(index, Entry(slots: (.empty, .empty), newest: 0)) }

    /// Whether no block of the group has content.
    var isAllHoles: Bool { (0..<ContentGeometry.blocksPerGroup).allSatisfy { newestSlot($0).isEmpty } }

    // MARK: Reading

    /// What is wrong with a page before its tag is looked at.
    enum Defect: Error {
        case notSecureFile, unsupportedVersion, malformed
    }

    /// Checks the fields that need no key. `length` is how many bytes of the page there are.
    func checkHead(of group: GroupIndex) throws(Defect) {
        guard hasMagic else { throw .notSecureFile }
        guard buffer[8] == Self.version, cipher != nil else { throw .unsupportedVersion }
        guard let form else { throw .unsupportedVersion }
        guard flags.isSubset(of: .known) else { throw .unsupportedVersion }
        guard buffer.load(at: 12, as: UInt32.self) == UInt32(truncatingIfNeeded: group.rawValue) else { throw .malformed }
        guard buffer.load(at: 44, as: UInt32.self) == 0, sequence > 0, buffer.isZero(128..<256) else { throw .malformed }
        if group == .zero {
            let limit = form == .inline ? Int64(ContentGeometry.inlineMaximum) : ContentGeometry.sizeLimit - 1
            guard size.rawValue >= 0, size.rawValue <= limit else { throw .malformed }
            if form == .inline, newest != 0 { throw .malformed }
        } else {
            guard form == .grouped, flags.isEmpty, buffer.isZero(64..<128) else { throw .malformed }
        }
    }

    /// Checks the slots of a grouped page.
    func checkSlots() throws(Defect) {
        for index in 0..<ContentGeometry.blocksPerGroup {
            let (a, b) = (slot(index, 0), slot(index, 1))
            for slot in [a, b] {
                if slot.length > 4096 { throw .malformed }
                if slot.isEmpty, !(slot.nonce.isZero && slot.tag.isZero) { throw .malformed }
            }
            let place = newestPlace(index)
            if place == 1, b.isEmpty { throw .malformed }
            if place == 0, a.isEmpty, !b.isEmpty { throw .malformed }
        }
    }
}
