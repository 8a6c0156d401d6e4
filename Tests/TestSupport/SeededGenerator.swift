/// SplitMix64: the same seed gives the same numbers everywhere. Every random test draws from one of these and prints its seed.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number from `range`.
    public mutating func number(_ range: Range<Int>) -> Int { range.lowerBound + Int(next() % UInt64(range.count)) }
    public mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    /// True once in `n` times.
    public mutating func once(in n: Int) -> Bool { number(0..<n) == 0 }

    public mutating func pick<T>(_ choices: [T]) -> T { choices[number(0..<choices.count)] }

    /// A generator of its own for part of a test: what the part draws does not change what follows.
    public mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }
}
