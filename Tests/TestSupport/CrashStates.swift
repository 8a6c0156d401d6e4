import SecureFileCore

// Every state that a loss of power may leave, named by choices. The effects fall into stretches between cuts. In one stretch each page has
// one of its versions or none, and the length one of its values or none: subsets that differ in anything else give the same state.

/// The states of one crash point, to be counted, listed or drawn from.
public struct CrashStates {
    private enum Choice {
        /// One of the versions of a page, or none.
        case page(Int64, [PageBuffer?])
        /// One of the growing lengths, or none.
        case extend([Int64])
        /// A cut that came about or not.
        case cut(Int64)

        var options: Int {
            switch self {
            case .page(_, let versions): versions.count + 1
            case .extend(let lengths): lengths.count + 1
            case .cut: 2
            }
        }
    }

    /// What follows a cut to 0 (or, in the first part, the durable state): later parts need the cuts before them.
    private struct Part {
        var base: PageImage
        var choices: [Choice] = []
        /// The number of states, at most 2⁴⁰.
        var count: Int { choices.reduce(1) { min($0 * $1.options, 1 << 40) } }
    }

    private var parts: [Part]

    public init(_ point: CrashPoint) {
        parts = [Part(base: point.durable)]
        var stretch: [StoreEffect] = []
        for effect in point.effects {
            if case .cut(let length) = effect {
                parts[parts.count - 1].choices += Self.choices(of: stretch)
                stretch.removeAll()
                if length == 0 { parts.append(Part(base: PageImage())) } else { parts[parts.count - 1].choices.append(.cut(length)) }
            } else {
                stretch.append(effect)
            }
        }
        parts[parts.count - 1].choices += Self.choices(of: stretch)
    }

    private static func choices(of stretch: [StoreEffect]) -> [Choice] {
        var order: [Int64] = []
        var versions: [Int64: [PageBuffer?]] = [:]
        var lengths: [Int64] = []
        for effect in stretch {
            switch effect {
            case .page(let number, let page):
                if versions[number] == nil { order.append(number) }
                versions[number, default: []].append(page)
            case .extend(let length): lengths.append(length)
            case .cut: break
            }
        }
        let pages = order.map { Choice.page($0, versions[$0] ?? []) }
        return lengths.isEmpty ? pages : pages + [.extend(lengths)]
    }

    /// The number of states, at most 2⁴⁰ a part.
    public var count: Int { parts.reduce(0) { $0 + $1.count } }

    /// The state with everything applied.
    public var last: PageImage {
        let part = parts[parts.count - 1]
        return Self.apply(part) { $0.options - 1 }
    }

    /// The state of a number below ``count``.
    public func state(_ number: Int) -> PageImage {
        var rest = number
        for part in parts {
            if rest < part.count {
                return Self.apply(part) { choice in
                    defer { rest /= choice.options }
                    return rest % choice.options
                }
            }
            rest -= part.count
        }
        return last
    }

    /// A state drawn at random: sometimes evenly, sometimes with nearly all or nearly nothing applied, as the interesting ones are rare else.
    public func draw(_ generator: inout SeededGenerator) -> PageImage {
        var numbers = generator.fork()
        let part = parts[generator.once(in: 3) ? numbers.number(0..<parts.count) : parts.count - 1]
        let manner = generator.number(0..<4)
        return Self.apply(part) { choice in
            switch manner {
            case 0: numbers.number(0..<choice.options)
            case 1: numbers.once(in: 4) ? numbers.number(0..<choice.options) : choice.options - 1
            case 2: numbers.once(in: 4) ? numbers.number(0..<choice.options) : 0
            default: numbers.once(in: 2) ? choice.options - 1 : 0
            }
        }
    }

    private static func apply(_ part: Part, _ choose: (Choice) -> Int) -> PageImage {
        var image = part.base
        for choice in part.choices {
            let option = choose(choice)
            if option == 0 { continue }
            switch choice {
            case .page(let number, let versions): image.setPage(number, versions[option - 1])
            case .extend(let lengths): image.setBareLength(max(image.length, lengths[option - 1]))
            case .cut(let length): if length < image.length { image.setLength(length) } else { image.zeroPast(length) }
            }
        }
        // Pages past the length were written, but nothing says that they are the file's.
        image.zeroPast(image.length)
        return image
    }
}
