/// SplitMix64: all that is random comes from the seed, never from what the system answers, so that a seed repeats a run.
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Generator.mixed(state)
    }

    static func mixed(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// 0 ..< bound, 0 where there is nothing else.
    mutating func below(_ bound: Int64) -> Int64 { bound <= 1 ? 0 : Int64(next() % UInt64(bound)) }

    mutating func one(in count: Int64) -> Bool { below(count) == 0 }

    mutating func pick<T>(_ values: [T]) -> T { values[Int(below(Int64(values.count)))] }
}
