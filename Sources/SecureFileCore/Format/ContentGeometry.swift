/// Where things lie in a backing file. FORMAT section 3.
public enum ContentGeometry {
    /// Bytes of a full block of plaintext, and of a page of the backing file.
    public static let blockSize = 4096
    public static let blocksPerGroup = 64
    /// Bytes of plaintext in a full group.
    public static let groupSize: Int64 = 262_144
    /// Bytes of the backing file a full group takes.
    public static let groupBackingSize: Int64 = 266_240
    /// Bytes of the head of a metadata page.
    public static let headSize = 256
    /// Most bytes of plaintext in the inline form.
    public static let inlineMaximum = 3839
    /// A plaintext size is below this.
    public static let sizeLimit: Int64 = 1 << 62

    /// The form of a backing file, as its length tells it.
    public enum Form: UInt8, Sendable {
        case inline = 1, grouped = 2
    }

    /// Number of groups of a plaintext of `size` bytes in the grouped form.
    @inline(__always)
    public static func groupCount(_ size: ByteCount) -> Int64 {
        // Not (size + groupSize - 1) / groupSize: that overflows near the limit.
        size.rawValue / groupSize + (size.rawValue % groupSize == 0 ? 0 : 1)
    }

    /// The length of the backing file of `size` bytes of plaintext.
    @inline(__always)
    public static func backingLength(_ size: ByteCount, _ form: Form) -> Int64 {
        switch form {
        case .inline: Int64(headSize) + size.rawValue
        case .grouped: Int64(blockSize) * groupCount(size) + size.rawValue
        }
    }

    /// The plaintext size that a backing length stands for when nothing is damaged; lengths that no file should have give the nearest size below.
    public static func size(backingLength length: Int64) -> ByteCount {
        if length <= Int64(headSize) { return .zero }
        if length < Int64(blockSize) { return ByteCount(length - Int64(headSize)) }
        let whole = length / groupBackingSize
        let rest = length % groupBackingSize
        return ByteCount(whole * groupSize + max(0, rest - Int64(blockSize)))
    }

    /// Where the metadata page of `group` begins.
    @inline(__always)
    public static func metadataPage(of group: GroupIndex) -> BackingOffset { BackingOffset(group.rawValue * groupBackingSize) }

    /// Whether a metadata page begins at `offset`.
    public static func isMetadataPage(_ offset: BackingOffset) -> Bool { offset.rawValue % groupBackingSize == 0 }

    /// Where the data page of `block` begins.
    @inline(__always)
    public static func dataPage(of block: BlockIndex) -> BackingOffset {
        metadataPage(of: block.group) + blockSize * (1 + block.indexInGroup)
    }

    /// The group whose pages `offset` lies among.
    public static func group(at offset: BackingOffset) -> GroupIndex { GroupIndex(offset.rawValue / groupBackingSize) }

    /// How many bytes of `block` lie inside a plaintext of `size` bytes: 0 to 4096.
    @inline(__always)
    public static func length(of block: BlockIndex, in size: ByteCount) -> Int {
        Int(max(0, min(Int64(blockSize), size.rawValue - block.start.rawValue)))
    }

    /// The number of blocks of a plaintext of `size` bytes: the first block past its end.
    @inline(__always)
    public static func endBlock(_ size: ByteCount) -> BlockIndex {
        BlockIndex(size.rawValue >> 12 + (size.rawValue & 4095 == 0 ? 0 : 1))
    }
}
