/// A binary property list, parsed flat: a table of nodes that refer to each other by number. Nothing is built that the file does not pay for.
///
/// Every offset, count and reference is checked; the memory used is bounded by a small multiple of the input's length. Nothing here traps.
struct BinaryPropertyList {
    enum Node {
        case null
        case boolean(Bool)
        case integer(Int64)
        /// Above `Int64.max`.
        case unsigned(UInt64)
        case real(Double)
        /// Seconds since 2001.
        case date(Double)
        case data(Range<Int>)
        case ascii(Range<Int>)
        case utf16(Range<Int>)
        case uid(Int)
        /// Places in `references`.
        case array(Range<Int>)
        case dictionary(keys: Range<Int>, values: Range<Int>)
    }

    let bytes: [UInt8]
    private(set) var nodes: [Node] = []
    /// Numbers of nodes.
    private(set) var references: [Int] = []
    private(set) var top = 0

    /// - Throws: ``SecureDecodingError/malformed(_:)``.
    init(parsing bytes: [UInt8]) throws(SecureDecodingError) {
        self.bytes = bytes
        guard bytes.count >= 40, bytes.starts(with: "bplist00".utf8) else { throw .malformed("no binary property list") }
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        let referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = number(at: trailer + 8, size: 8), let top = number(at: trailer + 16, size: 8),
            let table = number(at: trailer + 24, size: 8)
        else { throw .malformed("the trailer is damaged") }
        guard count >= 1, top < count, table >= 8, table <= trailer, count <= (trailer - table) / offsetSize else {
            throw .malformed("the table of offsets is damaged")
        }
        self.top = top
        nodes.reserveCapacity(count)
        // Objects may overlap in a hostile file: what they hold together is no more than the file has.
        var budget = bytes.count
        for index in 0..<count {
            guard let offset = number(at: table + index * offsetSize, size: offsetSize), offset >= 8, offset < table else {
                throw .malformed("an offset is damaged")
            }
            try parse(at: offset, end: table, count, referenceSize, &budget)
        }
    }

    /// The big-endian integer at `offset`; nil where it does not fit.
    private func number(at offset: Int, size: Int) -> Int? {
        guard offset >= 0, size <= bytes.count - offset else { return nil }
        var value: UInt64 = 0
        for place in offset..<offset + size { value = value << 8 | UInt64(bytes[place]) }
        return Int(exactly: value)
    }

    private mutating func parse(at offset: Int, end: Int, _ count: Int, _ referenceSize: Int, _ budget: inout Int) throws(SecureDecodingError) {
        let kind = bytes[offset] >> 4
        let low = Int(bytes[offset] & 15)
        switch kind {
        case 0: try parseConstant(low)
        case 1, 2, 3: try parseNumber(kind, low, offset + 1, end)
        case 8:
            guard offset + 1 + low + 1 <= end, let value = number(at: offset + 1, size: low + 1) else { throw .malformed("a UID is damaged") }
            nodes.append(.uid(value))
        case 4, 5, 6, 10, 13:
            let (length, start) = try parseLength(low, offset, end)
            try parseSized(kind, length, start, end, count, referenceSize, &budget)
        default: throw .malformed("an object of an unknown kind")
        }
    }

    private mutating func parseConstant(_ low: Int) throws(SecureDecodingError) {
        switch low {
        case 0: nodes.append(.null)
        case 8: nodes.append(.boolean(false))
        case 9: nodes.append(.boolean(true))
        default: throw .malformed("an object of an unknown kind")
        }
    }

    private mutating func parseNumber(_ kind: UInt8, _ low: Int, _ start: Int, _ end: Int) throws(SecureDecodingError) {
        guard low <= 4, 1 << low <= end - start else { throw .malformed("a number is damaged") }
        let size = 1 << low
        var bits: UInt64 = 0
        for place in max(start, start + size - 8)..<start + size { bits = bits << 8 | UInt64(bytes[place]) }
        switch (kind, size) {
        case (1, 8): nodes.append(.integer(Int64(bitPattern: bits)))
        case (1, 16):
            guard bytes[start..<start + 8].allSatisfy({ $0 == 0 }) else { throw .malformed("a number is too large") }
            nodes.append(Int64(exactly: bits).map { .integer($0) } ?? .unsigned(bits))
        case (1, _): nodes.append(.integer(Int64(bits)))
        case (2, 4): nodes.append(.real(Double(Float(bitPattern: UInt32(bits)))))
        case (2, 8): nodes.append(.real(Double(bitPattern: bits)))
        case (3, 8): nodes.append(.date(Double(bitPattern: bits)))
        default: throw .malformed("a number is damaged")
        }
    }

    /// How many elements an object has, and where they begin.
    private func parseLength(_ low: Int, _ offset: Int, _ end: Int) throws(SecureDecodingError) -> (length: Int, start: Int) {
        if low < 15 { return (low, offset + 1) }
        guard offset + 1 < end, bytes[offset + 1] >> 4 == 1, bytes[offset + 1] & 15 <= 3 else { throw .malformed("a length is damaged") }
        let size = 1 << Int(bytes[offset + 1] & 15)
        guard offset + 2 + size <= end, let length = number(at: offset + 2, size: size) else { throw .malformed("a length is damaged") }
        return (length, offset + 2 + size)
    }

    private mutating func parseSized(
        _ kind: UInt8, _ length: Int, _ start: Int, _ end: Int, _ count: Int, _ referenceSize: Int, _ budget: inout Int
    ) throws(SecureDecodingError) {
        let unit = kind == 6 ? 2 : kind == 10 ? referenceSize : kind == 13 ? 2 * referenceSize : 1
        guard length <= (end - start) / unit else { throw .malformed("an object claims more than there is") }
        budget -= length * unit
        guard budget >= 0 else { throw .malformed("objects overlap") }
        switch kind {
        case 4: nodes.append(.data(start..<start + length))
        case 5:
            guard bytes[start..<start + length].allSatisfy({ $0 < 128 }) else { throw .malformed("a text is damaged") }
            nodes.append(.ascii(start..<start + length))
        case 6: nodes.append(.utf16(start..<start + 2 * length))
        case 10: nodes.append(.array(try parseReferences(length, start, count, referenceSize)))
        default:
            let keys = try parseReferences(length, start, count, referenceSize)
            let values = try parseReferences(length, start + length * referenceSize, count, referenceSize)
            nodes.append(.dictionary(keys: keys, values: values))
        }
    }

    private mutating func parseReferences(_ length: Int, _ start: Int, _ count: Int, _ size: Int) throws(SecureDecodingError) -> Range<Int> {
        let first = references.count
        for place in 0..<length {
            guard let reference = number(at: start + place * size, size: size), reference < count else {
                throw .malformed("an object refers to one that is not there")
            }
            references.append(reference)
        }
        return first..<references.count
    }

    // MARK: Nodes

    /// The text of a node; nil where it is none.
    func text(_ node: Node) -> String? {
        switch node {
        case .ascii(let range): return String(decoding: bytes[range], as: UTF8.self)
        case .utf16(let range):
            let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return String(decoding: units, as: UTF16.self)
        default: return nil
        }
    }

    /// The members of a dictionary, each the number of a node; nil where the node is none, a key is no text, or a key occurs twice.
    func members(_ node: Node) -> [String: Int]? {
        guard case .dictionary(let keys, let values) = node else { return nil }
        var members: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            guard let name = text(nodes[references[key]]), members.updateValue(references[value], forKey: name) == nil else { return nil }
        }
        return members
    }
}
