/// The content of `sfs.session`: which session is open, and which ended without a close. FORMAT section 8.1.
struct SessionRecord: Equatable, Sendable {
    /// The open session; `.none` when none is.
    var open: SessionID
    var dead: [SessionID]

    static let empty = SessionRecord(open: .none, dead: [])
    /// Most dead sessions of a record.
    static let deadMaximum = 1024
    static let tagLength = 32
    /// Most bytes of a record.
    static let lengthMaximum = 32 + 16 * deadMaximum + tagLength

    private static let magic: [UInt8] = [0x53, 0x46, 0x53, 0x53, 0x45, 0x53, 0x53, 0x01]

    /// The record without its tag: what the tag is computed over.
    var body: [UInt8] {
        precondition(dead.count <= Self.deadMaximum)
        var bytes = Self.magic + Self.bytes(open) + LittleEndian.bytes(UInt32(dead.count)) + [0, 0, 0, 0]
        for id in dead { bytes += Self.bytes(id) }
        return bytes
    }

    /// The record of a body; nil for another magic, length or form.
    init?(body: [UInt8]) {
        guard body.count >= 32, body.starts(with: Self.magic), LittleEndian.load(body, at: 28, count: 4) == 0 else { return nil }
        let count = Int(LittleEndian.load(body, at: 24, count: 4))
        guard count <= Self.deadMaximum, body.count == 32 + 16 * count else { return nil }
        open = Self.id(body, at: 8)
        dead = (0..<count).map { Self.id(body, at: 32 + 16 * $0) }
        if dead.contains(.none) { return nil }
    }

    init(open: SessionID, dead: [SessionID]) {
        self.open = open
        self.dead = dead
    }

    private static func bytes(_ id: SessionID) -> [UInt8] { LittleEndian.bytes(id.low) + LittleEndian.bytes(id.high) }

    private static func id(_ bytes: [UInt8], at offset: Int) -> SessionID {
        SessionID(low: LittleEndian.load(bytes, at: offset, count: 8), high: LittleEndian.load(bytes, at: offset + 8, count: 8))
    }
}
