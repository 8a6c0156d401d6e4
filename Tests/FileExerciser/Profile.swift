/// How large a file becomes, and at which places it is worked on.
enum Profile: Int, CaseIterable {
    case inline, blocks, groups, large, sparse, mixed

    var name: String { "\(self)" }

    /// The file never grows beyond.
    var limit: Int64 {
        switch self {
        case .inline: 4000
        case .blocks: 50_000
        case .groups: 1_200_000
        case .large: 8 << 20
        case .sparse: 1 << 40
        case .mixed: 300_000
        }
    }

    private var edges: [Int64] {
        switch self {
        case .inline: [0, 1, 3838, 3839, 3840, 4000]
        case .blocks, .mixed: [0, 3839, 4096, 8192, 12288, 16384, 40960]
        case .groups: [0, 262_144, 524_288, 786_432, 1_048_576, 258_048, 266_240]
        case .large: [0, 1 << 20, 2 << 20, 4 << 20, 262_144]
        case .sparse: [0, 262_144, 1 << 22, 1 << 30, 1 << 31, 1 << 32, 1 << 36, 1 << 39, (1 << 40) - 300_000]
        }
    }

    func place(_ generator: inout Generator, size: Int64) -> Int64 {
        let near: Int64
        switch generator.below(5) {
        case 0: near = size
        case 1, 2: near = generator.pick(edges) + (self == .sparse ? generator.below(70_000) : 0)
        case 3: near = self == .sparse ? generator.pick(edges) : generator.below(limit / 4096) * 4096
        default: near = self == .sparse ? generator.pick(edges) + generator.below(300_000) : generator.below(limit)
        }
        return min(max(0, near + generator.below(9) - 4), limit - 1)
    }

    func length(_ generator: inout Generator) -> Int {
        let most = min(limit, 1 << 20)
        switch generator.below(16) {
        case 0: return 1
        case 1...4: return Int(1 + generator.below(min(most, 100)))
        case 5...7: return Int(min(most, generator.pick([4095, 4096, 4097, 8192, 512, 2048])))
        case 8...14: return Int(1 + generator.below(min(most, 9000)))
        default: return Int(1 + generator.below(min(most, generator.one(in: 4) ? 1 << 20 : 70_000)))
        }
    }
}
