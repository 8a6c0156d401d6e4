/// Nodes by number. A number is a place, which is used again, and how often its chunk has given one out, which is not: no number comes twice.
///
/// Chunks of 64 rather than one table: nothing is copied to make room for more, and a chunk without nodes takes but a few bytes.
struct NodeSlots: Sendable {
    private var chunks: [Chunk]
    /// The chunks that can take a node.
    private var roomy: [UInt32] = []
    private(set) var count = 1
    private let lastGeneration: UInt32

    /// What the numbers of ``NodeID/isVolatile`` leave.
    static let lastGeneration: UInt32 = (1 << 30) - 1
    private static let places = 64

    /// - Parameter lastGeneration: Fewer, for a test.
    init(root: Node, lastGeneration: UInt32 = Self.lastGeneration) {
        self.lastGeneration = lastGeneration
        chunks = [Chunk(root: root)]
        roomy = [0]
    }

    subscript(id: NodeID) -> Node? {
        guard let node = self[slot: id.slot], node.id == id else { return nil }
        return node
    }

    /// The node at a place.
    subscript(slot slot: UInt32) -> Node? {
        let (chunk, place) = Int(slot).quotientAndRemainder(dividingBy: Self.places)
        guard chunk < chunks.count, !chunks[chunk].nodes.isEmpty else { return nil }
        return chunks[chunk].nodes[place]
    }

    /// Puts in what `make` makes of its number.
    mutating func insert(_ make: (NodeID) -> Node) -> Node {
        let chunk = roomy.last ?? addChunk()
        let first = chunk * UInt32(Self.places)
        let node = chunks[Int(chunk)].insert { place, generation in make(NodeID(slot: first + UInt32(place), generation: generation)) }
        if !chunks[Int(chunk)].isRoomy(lastGeneration) { roomy.removeLast() }
        count += 1
        return node
    }

    private mutating func addChunk() -> UInt32 {
        let chunk = UInt32(chunks.count)
        chunks.append(Chunk())
        roomy.append(chunk)
        return chunk
    }

    /// Says whether the node was there.
    mutating func remove(_ id: NodeID) -> Bool {
        guard self[id] != nil else { return false }
        let (chunk, place) = Int(id.slot).quotientAndRemainder(dividingBy: Self.places)
        let wasRoomy = chunks[chunk].isRoomy(lastGeneration)
        chunks[chunk].remove(place)
        if !wasRoomy, chunks[chunk].isRoomy(lastGeneration) { roomy.append(UInt32(chunk)) }
        count -= 1
        return true
    }

    func forEach(_ body: (Node) -> Void) {
        for chunk in chunks { for case let node? in chunk.nodes { body(node) } }
    }
}

private struct Chunk: Sendable {
    /// 64 places, or none where none is used.
    private(set) var nodes: [Node?] = []
    /// A bit for each place in use.
    private var used: UInt64 = 0
    /// How many nodes have come into the chunk. When no more can be counted, no more come.
    private var generation: UInt32 = 0

    init() {}

    init(root: Node) {
        nodes = Array(repeating: nil, count: UInt64.bitWidth)
        nodes[Int(NodeID.root.slot)] = root
        // Place 0 stays empty: its number stands for none.
        used = 0b11
    }

    func isRoomy(_ last: UInt32) -> Bool { used != .max && generation < last }

    mutating func insert(_ make: (_ place: Int, _ generation: UInt32) -> Node) -> Node {
        if nodes.isEmpty { nodes = Array(repeating: nil, count: UInt64.bitWidth) }
        let place = (~used).trailingZeroBitCount
        generation += 1
        used |= 1 << UInt64(place)
        let node = make(place, generation)
        nodes[place] = node
        return node
    }

    mutating func remove(_ place: Int) {
        used &= ~(1 << UInt64(place))
        if used == 0 { nodes = [] } else { nodes[place] = nil }
    }
}

extension NodeID {
    var slot: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
    fileprivate init(slot: UInt32, generation: UInt32) { self.init(rawValue: UInt64(generation) << 32 | UInt64(slot)) }
}
