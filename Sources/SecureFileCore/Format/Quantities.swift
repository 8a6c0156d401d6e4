// Offsets, counts and indices are different types: mixing them is the usual off-by-one.

/// A distance in bytes from the start of the plaintext.
public struct ByteOffset: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int64
    @inline(__always) public init(rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public init(_ rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    @inline(__always) public static func + (a: Self, b: ByteCount) -> Self { Self(a.rawValue + b.rawValue) }
    @inline(__always) public static func - (a: Self, b: Self) -> ByteCount { ByteCount(a.rawValue - b.rawValue) }
}

/// A number of bytes of plaintext; a file's size is the one up to its end.
public struct ByteCount: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int64
    @inline(__always) public init(rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public init(_ rawValue: Int64) { self.rawValue = rawValue }
    public static let zero = ByteCount(0)
    @inline(__always) public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    @inline(__always) public static func + (a: Self, b: Self) -> Self { Self(a.rawValue + b.rawValue) }
    @inline(__always) public static func - (a: Self, b: Self) -> Self { Self(a.rawValue - b.rawValue) }
}

/// A distance in bytes from the start of a backing file.
public struct BackingOffset: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int64
    @inline(__always) public init(rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public init(_ rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    @inline(__always) public static func + (a: Self, b: Int) -> Self { Self(a.rawValue + Int64(b)) }
}

/// The number of a 4096-byte block of the plaintext, from 0.
public struct BlockIndex: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public var rawValue: Int64
    @inline(__always) public init(rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public init(_ rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    public var description: String { String(rawValue) }
    @inline(__always) public var next: BlockIndex { BlockIndex(rawValue + 1) }
    /// The group the block is in.
    @inline(__always) public var group: GroupIndex { GroupIndex(rawValue >> 6) }
    /// Its place in the group, 0 to 63.
    @inline(__always) public var indexInGroup: Int { Int(rawValue & 63) }
    /// Its first byte.
    @inline(__always) public var start: ByteOffset { ByteOffset(rawValue << 12) }
}

/// The number of a group of 64 blocks, from 0.
public struct GroupIndex: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int64
    @inline(__always) public init(rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public init(_ rawValue: Int64) { self.rawValue = rawValue }
    @inline(__always) public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    public static let zero = GroupIndex(0)
    @inline(__always) public var firstBlock: BlockIndex { BlockIndex(rawValue << 6) }
    @inline(__always) public func block(_ index: Int) -> BlockIndex { BlockIndex(rawValue << 6 + Int64(index)) }
}

extension ByteOffset {
    /// The block the byte is in.
    @inline(__always) public var block: BlockIndex { BlockIndex(rawValue >> 12) }
    /// Its place in the block, 0 to 4095.
    @inline(__always) public var offsetInBlock: Int { Int(rawValue & 4095) }
}
