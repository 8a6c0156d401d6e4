import SecureFileCore

/// 4096 bytes of a model, never changed once made, and their hash.
public final class ModelBlock: @unchecked Sendable {
    public let buffer: PageBuffer
    public let hash: UInt64

    init(_ buffer: PageBuffer) {
        self.buffer = buffer
        hash = buffer.contentHash()
    }

    public static let zero = ModelBlock(PageBuffer(count: 4096))
}

/// What a file must read as: a size and the blocks that are not known to be zero. A value: copies share their blocks.
public struct ModelFile: Sendable {
    public private(set) var size: Int64 = 0
    public private(set) var blocks: [Int64: ModelBlock] = [:]

    public init() {}

    public func block(_ number: Int64) -> ModelBlock { blocks[number] ?? .zero }

    public mutating func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: Int64) {
        if range.isEmpty { return }
        change(offset, Int64(range.count)) { page, inPage, done in
            page.copy(range.lowerBound + done..<range.lowerBound + done + inPage.count, of: buffer, to: inPage.lowerBound)
        }
        size = max(size, offset + Int64(range.count))
    }

    /// Zeros a range; the size stays.
    public mutating func zero(at offset: Int64, count: Int64) {
        let end = min(offset + count, size)
        if offset >= end { return }
        for number in blocks.keys where number * 4096 < end && (number + 1) * 4096 > offset {
            let from = Int(max(0, offset - number * 4096))
            let to = Int(min(4096, end - number * 4096))
            if from == 0 && to == 4096 {
                blocks[number] = nil
            } else {
                let page = copy(of: number)
                page.zero(from..<to)
                blocks[number] = ModelBlock(page)
            }
        }
    }

    public mutating func truncate(to new: Int64) {
        if new < size { zero(at: new, count: size - new) }
        size = new
    }

    /// Makes a block what was read elsewhere: the 4096 bytes of `buffer`.
    public mutating func set(_ number: Int64, _ buffer: PageBuffer) {
        if buffer.isZero(0..<4096) { return blocks[number] = nil }
        let page = PageBuffer(uninitialized: 4096)
        page.copy(0..<4096, of: buffer, to: 0)
        blocks[number] = ModelBlock(page)
    }

    private func copy(of number: Int64) -> PageBuffer {
        let page = PageBuffer(uninitialized: 4096)
        page.copy(0..<4096, of: block(number).buffer, to: 0)
        return page
    }

    private mutating func change(_ offset: Int64, _ count: Int64, _ body: (PageBuffer, Range<Int>, Int) -> Void) {
        var done: Int64 = 0
        while done < count {
            let at = offset + done
            let inPage = Int(at & 4095)
            let here = Int(min(Int64(4096 - inPage), count - done))
            let page = copy(of: at >> 12)
            body(page, inPage..<inPage + here, Int(done))
            blocks[at >> 12] = ModelBlock(page)
            done += Int64(here)
        }
    }

    /// Compares with what a read of `count` bytes at `offset` gave; says what is wrong.
    public func mismatch(_ buffer: PageBuffer, got: Int, at offset: Int64, count: Int) -> String? {
        let expected = Int(max(0, min(Int64(count), size - offset)))
        if got != expected { return "read \(got) bytes at \(offset), expected \(expected)" }
        let wanted = PageBuffer(uninitialized: max(1, got))
        var done = 0
        while done < got {
            let at = offset + Int64(done)
            let inPage = Int(at & 4095)
            let here = min(4096 - inPage, got - done)
            wanted.copy(inPage..<inPage + here, of: block(at >> 12).buffer, to: done)
            done += here
        }
        if buffer.equals(wanted, 0..<got) { return nil }
        let (a, b) = (buffer.bytes(0..<got), wanted.bytes(0..<got))
        let first = a.indices.first { a[$0] != b[$0] } ?? 0
        let end = (a.indices.last { a[$0] != b[$0] } ?? 0) + 1
        return "bytes \(offset + Int64(first))..<\(offset + Int64(end)) differ, the first reads \(a[first]), not \(b[first])"
    }

    /// Offsets of blocks worth looking at: those with content, their neighbours, the ends.
    public func interestingBlocks() -> [Int64] {
        let end = (size + 4095) / 4096
        var found: Set<Int64> = [0, end - 1]
        for number in blocks.keys { found.formUnion([number - 1, number, number + 1]) }
        return found.filter { $0 >= 0 && $0 < end }.sorted()
    }
}
