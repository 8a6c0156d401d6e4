/// What the content of a file is opened for.
struct ContentUse {
    /// The user is going to read.
    var reads: Bool
    var writes: Bool
    /// The header is read before anything else. Whoever only writes is most likely about to cut the file to nothing, which the kernel says after
    /// the open: that needs none.
    var needsHeader: Bool

    init(reads: Bool, writes: Bool = false, needsHeader: Bool = true) {
        self.reads = reads
        self.writes = writes
        self.needsHeader = needsHeader
    }

    init(_ intent: OpenIntent) {
        // Whoever appends counts from the size that the kernel was told: it is confirmed first.
        self.init(
            reads: intent.reads, writes: intent.writes || intent.truncates,
            needsHeader: !intent.truncates && (intent.reads || intent.appends || !intent.writes))
    }
}
