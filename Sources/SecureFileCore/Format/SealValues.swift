/// A 12-byte nonce: never used twice under one key.
public struct Nonce: Hashable, Sendable {
    public var low: UInt64
    public var high: UInt32
    @inline(__always) public init(low: UInt64, high: UInt32) {
        self.low = low
        self.high = high
    }
    public var isZero: Bool { low == 0 && high == 0 }
}

/// A 16-byte authentication tag.
public struct Tag: Hashable, Sendable {
    public var low: UInt64
    public var high: UInt64
    @inline(__always) public init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }
    public var isZero: Bool { low == 0 && high == 0 }
}

/// One sealed version of a block: what a slot of a metadata page holds. FORMAT section 3.1.
public struct Slot: Hashable, Sendable {
    public var nonce: Nonce
    public var tag: Tag
    /// Bytes of the block, 1 to 4096; 0 in an empty slot.
    public var length: UInt16
    @inline(__always) public init(nonce: Nonce, tag: Tag, length: UInt16) {
        self.nonce = nonce
        self.tag = tag
        self.length = length
    }
    public static let empty = Slot(nonce: Nonce(low: 0, high: 0), tag: Tag(low: 0, high: 0), length: 0)
    @inline(__always) public var isEmpty: Bool { length == 0 }
}

/// The cipher content is sealed with. FORMAT section 3.1.
public enum CipherKind: UInt8, Sendable, CaseIterable {
    case aes256GCM = 1
    case chaCha20Poly1305 = 2

    /// The name in `sfs.json`. FORMAT section 7.
    public var name: String {
        switch self {
        case .aes256GCM: "aes-256-gcm"
        case .chaCha20Poly1305: "chacha20-poly1305"
        }
    }

    public init?(name: String) {
        guard let kind = CipherKind.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

/// The 32 random bytes that name a file's content, and that its keys come from. FORMAT section 4.
public struct FileID: Hashable, Sendable {
    public var bytes: [UInt8]
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 32)
        self.bytes = bytes
    }
}

/// The 16 random bytes that name a session. FORMAT section 8.
public struct SessionID: Hashable, Sendable {
    public var low: UInt64
    public var high: UInt64
    public init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }
    /// No session: none is open, or the file was closed cleanly.
    public static let none = SessionID(low: 0, high: 0)
}
