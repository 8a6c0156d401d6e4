/// What a file has to hold: pieces of 64 KiB where something was written, zeros elsewhere. Beyond the size all is zero.
final class Model {
    private static let piece: Int64 = 1 << 16
    private(set) var size: Int64 = 0
    private var pieces: [Int64: Memory] = [:]

    private let blank = Memory(count: Int(Model.piece))

    func write(_ memory: Memory, _ count: Int, at offset: Int64) {
        guard count > 0 else { return }
        size = max(size, offset + Int64(count))
        Model.eachPiece(of: offset..<offset + Int64(count)) { number, range, done in
            if pieces[number] == nil { pieces[number] = Memory(count: Int(Model.piece)) }
            pieces[number]?.copy(range, from: memory, at: done)
        }
    }

    /// What lies there comes into `memory`; beyond the size, zeros.
    func read(into memory: Memory, _ count: Int, at offset: Int64) {
        Model.eachPiece(of: offset..<offset + Int64(count)) { number, range, done in
            memory.copy(done..<done + range.count, from: pieces[number] ?? blank, at: range.lowerBound)
        }
    }

    func clear(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        for (number, content) in pieces where number * Model.piece < range.upperBound && (number + 1) * Model.piece > range.lowerBound {
            let from = max(0, range.lowerBound - number * Model.piece), to = min(Model.piece, range.upperBound - number * Model.piece)
            if to - from == Model.piece { pieces[number] = nil } else { content.clear(Int(from)..<Int(to)) }
        }
    }

    func resize(_ size: Int64) {
        if size < self.size { clear(size..<self.size) }
        self.size = size
    }

    func grow(_ size: Int64) { self.size = max(self.size, size) }

    /// The first place where `memory`, read at `offset`, is another.
    func difference(_ memory: Memory, _ count: Int, at offset: Int64) -> Int64? {
        var found: Int64?
        Model.eachPiece(of: offset..<offset + Int64(count)) { number, range, done in
            guard found == nil else { return }
            let place = memory.difference(done..<done + range.count, from: pieces[number] ?? blank, at: range.lowerBound)
            found = place.map { offset + Int64($0) }
        }
        return found
    }

    func byte(_ offset: Int64) -> UInt8 { (pieces[offset / Model.piece] ?? blank).byte(Int(offset % Model.piece)) }

    /// Where the range has something else than zeros, first.
    func data(in range: Range<Int64>) -> Int64? {
        for number in pieces.keys.sorted() where number * Model.piece < range.upperBound && (number + 1) * Model.piece > range.lowerBound {
            let from = Int(max(0, range.lowerBound - number * Model.piece)), to = Int(min(Model.piece, range.upperBound - number * Model.piece))
            if let place = pieces[number]?.difference(from..<to, from: blank, at: from) { return number * Model.piece + Int64(place) }
        }
        return nil
    }

    /// The parts where something was written, a little more on both sides.
    var parts: [Range<Int64>] {
        pieces.keys.sorted().map { max(0, $0 * Model.piece - 5000)..<min(max(size, $0 * Model.piece), ($0 + 1) * Model.piece + 5000) }
    }

    private static func eachPiece(of range: Range<Int64>, _ body: (_ number: Int64, _ range: Range<Int>, _ done: Int) -> Void) {
        var place = range.lowerBound
        while place < range.upperBound {
            let number = place / Model.piece, from = place % Model.piece
            let count = min(Model.piece - from, range.upperBound - place)
            body(number, Int(from)..<Int(from + count), Int(place - range.lowerBound))
            place += count
        }
    }
}
