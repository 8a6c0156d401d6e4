/// A block whose newest content is in memory only.
///
/// A block that was written whole is sealed as it comes, while it is in the processor's cache; one that was written in part when its batch goes
/// out.
struct PendingBlock {
    /// 4096 bytes: plaintext, with zeros past `length`, or sealed.
    let buffer: PageBuffer
    /// Bytes of the block, 1 to 4096.
    var length: Int
    /// What `buffer` is sealed under; empty: it holds plaintext.
    var slot = Slot.empty

    var isSealed: Bool { !slot.isEmpty }
}

/// The pending blocks of one group.
struct PendingBlocks {
    /// Which there are: bit i is block i of the group.
    private(set) var bits: UInt64 = 0
    /// Of them, those that are shorter than a whole block.
    private var partialBits: UInt64 = 0
    private var blocks: [PendingBlock?] = []

    func has(_ index: Int) -> Bool { bits >> UInt64(index) & 1 == 1 }

    subscript(index: Int) -> PendingBlock? {
        get { has(index) ? blocks[index] : nil }
        set {
            if blocks.isEmpty { blocks = Array(repeating: nil, count: ContentGeometry.blocksPerGroup) }
            blocks[index] = newValue
            let bit: UInt64 = 1 << UInt64(index)
            if newValue == nil { bits &= ~bit } else { bits |= bit }
            if let newValue, newValue.length < ContentGeometry.blockSize { partialBits |= bit } else { partialBits &= ~bit }
            if bits == 0 { blocks = [] }
        }
    }

    /// The first of `some` that lie behind each other in the store: up to the first gap, or the first that is no whole block.
    func firstRun(of some: UInt64) -> UInt64 {
        let first = some.trailingZeroBitCount
        let gap = (~some & Self.bits(from: first)).trailingZeroBitCount
        let partial = (partialBits & Self.bits(from: first)).trailingZeroBitCount
        return Self.bits(from: first) & ~Self.bits(from: min(gap, partial + 1))
    }

    /// Takes the blocks `some` out, all of which are there.
    mutating func take(_ some: UInt64) -> [PendingBlock] {
        var taken: [PendingBlock] = []
        taken.reserveCapacity(some.nonzeroBitCount)
        var left = some
        while let index = Self.popFirst(&left) { if let block = blocks[index].take() { taken.append(block) } }
        bits &= ~some
        partialBits &= ~some
        if bits == 0 { blocks = [] }
        return taken
    }

    /// The first of `bits` that is set, which is cleared in them.
    static func popFirst(_ bits: inout UInt64) -> Int? {
        if bits == 0 { return nil }
        defer { bits &= bits - 1 }
        return bits.trailingZeroBitCount
    }

    /// The bits `from` and higher.
    static func bits(from index: Int) -> UInt64 { index >= 64 ? 0 : .max << UInt64(index) }
}
