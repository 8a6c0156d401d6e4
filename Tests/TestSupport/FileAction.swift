import SecureFileCore

/// One thing done to a content file, and to its model.
public enum FileAction: CustomStringConvertible, Sendable {
    /// `seed` says what is written.
    case write(at: Int64, count: Int, seed: UInt64)
    case truncate(Int64)
    case punch(at: Int64, count: Int64)
    case zeroRange(at: Int64, count: Int64, keepSize: Bool)
    case allocate(at: Int64, count: Int64, keepSize: Bool)
    case read(at: Int64, count: Int)
    case flush, settle, synchronize

    public var description: String {
        switch self {
        case .write(let at, let count, let seed): "write(at: \(at), count: \(count), seed: \(seed))"
        case .truncate(let size): "truncate(\(size))"
        case .punch(let at, let count): "punch(at: \(at), count: \(count))"
        case .zeroRange(let at, let count, let keep): "zeroRange(at: \(at), count: \(count), keepSize: \(keep))"
        case .allocate(let at, let count, let keep): "allocate(at: \(at), count: \(count), keepSize: \(keep))"
        case .read(let at, let count): "read(at: \(at), count: \(count))"
        case .flush: "flush"
        case .settle: "settle"
        case .synchronize: "synchronize"
        }
    }

    /// What is written by a write of `seed`.
    public static func content(_ count: Int, seed: UInt64) -> PageBuffer {
        let buffer = PageBuffer(uninitialized: max(1, count))
        buffer.fill(0..<count, seed: seed)
        return buffer
    }

    /// Does it to the file. A read that differs from `model` is a ``Finding``.
    public func perform(on file: SecureFile, comparing model: ModelFile? = nil) throws {
        switch self {
        case .write(let at, let count, let seed):
            let content = Self.content(count, seed: seed)
            try content.withSpan(0..<count) { (span) throws(SecureFileError) in try file.write(span, 0..<count, at: ByteOffset(at)) }
        case .truncate(let size): try file.truncate(to: ByteCount(size))
        case .punch(let at, let count): try file.punchHole(at: ByteOffset(at), count: ByteCount(count))
        case .zeroRange(let at, let count, let keep): try file.zeroRange(at: ByteOffset(at), count: ByteCount(count), keepSize: keep)
        case .allocate(let at, let count, let keep): try file.allocate(at: ByteOffset(at), count: ByteCount(count), keepSize: keep)
        case .read(let at, let count):
            let buffer = PageBuffer(count: max(1, count))
            let got = try file.read(at: ByteOffset(at), count: count, into: buffer)
            if let wrong = model?.mismatch(buffer, got: got, at: at, count: count) { throw Finding(wrong) }
        case .flush: try file.flush()
        case .settle: try file.settle()
        case .synchronize: try file.synchronize()
        }
    }

    public func apply(to model: inout ModelFile) {
        switch self {
        case .write(let at, let count, let seed): model.write(Self.content(count, seed: seed), 0..<count, at: at)
        case .truncate(let size): model.truncate(to: size)
        case .punch(let at, let count): model.zero(at: at, count: count)
        case .zeroRange(let at, let count, let keep):
            model.zero(at: at, count: count)
            if !keep && at + count > model.size { model.truncate(to: at + count) }
        case .allocate(let at, let count, let keep): if !keep && at + count > model.size { model.truncate(to: at + count) }
        case .read, .flush, .settle, .synchronize: break
        }
    }
}

/// Which actions a random history draws, how often, and where they go: another mixture for each history (swarm testing).
public struct ActionMixture: Sendable {
    enum Kind: CaseIterable { case write, overwrite, append, large, truncate, shrink, toZero, punch, zeroRange, allocate, read, flush, settle, synchronize }
    private var kinds: [Kind] = []
    private let limit: Int64
    private let edges: [Int64]

    /// `limit`: the largest size that comes about.
    public init(_ generator: inout SeededGenerator, limit: Int64, reads: Bool) {
        self.limit = limit
        for kind in Kind.allCases {
            if kind == .read && !reads { continue }
            // Some kinds are left out of a history, others come often.
            let weight = generator.pick([0, 1, 1, 2, 4])
            kinds += [Kind](repeating: kind, count: kind == .large || kind == .toZero ? weight / 4 : weight)
        }
        kinds.append(.write)
        let groups: [Int64] = [1, 2, 3, 4, 5, 21]
        let all: [Int64] = [0, 3839, 4096, 2 * 4096, 3 * 4096, 62 * 4096, 63 * 4096, 65 * 4096, 66 * 4096] + groups.map { $0 * 262_144 }
        let near = all.filter { $0 < limit }
        // Few places in a history, so that they meet.
        edges = (0..<generator.number(1..<5)).map { _ in generator.pick(near) } + [0]
    }

    private func place(_ g: inout SeededGenerator, _ size: Int64) -> Int64 {
        let base = g.once(in: 3) ? size : g.pick(edges)
        let shift: Int64 = switch g.number(0..<5) {
        case 0: 0
        case 1: g.number(-3...3)
        case 2: g.number(0...2) * 4096
        default: g.number(-5000...9000)
        }
        return max(0, min(limit - 1, base + shift))
    }

    private func count(_ g: inout SeededGenerator) -> Int64 {
        switch g.number(0..<6) {
        case 0: g.number(1...20)
        case 1: 4096
        case 2: g.number(1...3) * 4096
        case 3: g.number(4090...4100)
        default: g.number(1...12000)
        }
    }

    /// The next action on a file of `size` bytes.
    public func next(_ g: inout SeededGenerator, size: Int64) -> FileAction {
        let at = place(&g, size)
        let count = min(count(&g), limit - at)
        let seed = g.next() | 1
        switch g.pick(kinds) {
        case .write: return .write(at: at, count: Int(count), seed: seed)
        case .overwrite:
            let block = size == 0 ? 0 : min(at, size - 1) & ~4095
            return .write(at: block, count: Int(min(limit - block, g.pick([4096, 8192, 100]))), seed: seed)
        case .append: return .write(at: min(size, limit - 1), count: Int(min(count, limit - min(size, limit - 1))), seed: seed)
        case .large: return .write(at: at, count: Int(min(limit - at, g.number(1...80) * 4096 + g.number(0...1))), seed: seed)
        case .truncate: return .truncate(at)
        case .shrink: return .truncate(min(size, at))
        case .toZero: return .truncate(0)
        case .punch: return .punch(at: at, count: count)
        case .zeroRange: return .zeroRange(at: at, count: count, keepSize: g.once(in: 2))
        case .allocate: return .allocate(at: at, count: count, keepSize: g.once(in: 2))
        case .read: return .read(at: at, count: Int(count))
        case .flush: return .flush
        case .settle: return .settle
        case .synchronize: return .synchronize
        }
    }
}
