/// What a guess at a passphrase costs. FORMAT section 7.
public struct Argon2Parameters: Hashable, Sendable {
    /// Memory in KiB, 8 × lanes to 4194304.
    public var memoryKiB: Int
    /// Passes over the memory, 1 to 1024.
    public var passes: Int
    /// Threads, 1 to 16.
    public var lanes: Int

    public init(memoryKiB: Int, passes: Int, lanes: Int) {
        self.memoryKiB = memoryKiB
        self.passes = passes
        self.lanes = lanes
    }

    /// 256 MiB, three passes, two threads: about half a second of two cores.
    public static let standard = Argon2Parameters(memoryKiB: 262_144, passes: 3, lanes: 2)

    /// The least there is. For tests: it keeps nobody out.
    public static let insecureMinimum = Argon2Parameters(memoryKiB: 8, passes: 1, lanes: 1)

    /// Whether the format allows them.
    public var isAllowed: Bool {
        (1...16).contains(lanes) && memoryKiB >= 8 * lanes && memoryKiB <= 4_194_304 && (1...1024).contains(passes)
    }
}
