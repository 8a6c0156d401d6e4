import SecureFileCore
import Synchronization

/// A store in front of another, in which a chosen call fails.
///
/// Calls of the chosen kinds are counted from 0 over the life of the store; ``failCall(_:with:)`` says which of them fails and how. What a
/// failing call leaves behind is said by ``Fault``.
public final class FaultyByteStore: ByteStore {
    public struct Kinds: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let length = Kinds(rawValue: 1)
        public static let read = Kinds(rawValue: 2)
        public static let write = Kinds(rawValue: 4)
        public static let setLength = Kinds(rawValue: 8)
        public static let synchronize = Kinds(rawValue: 16)
        public static let punchHole = Kinds(rawValue: 32)
        public static let reserve = Kinds(rawValue: 64)
        public static let nextData = Kinds(rawValue: 128)
        public static let times = Kinds(rawValue: 256)
        public static let changes: Kinds = [.write, .setLength, .synchronize, .punchHole, .reserve]
        public static let all = Kinds(rawValue: 511)
    }

    /// How a call fails.
    public struct Fault: Sendable {
        public var error: Errno
        /// A failing write leaves its first bytes behind: this share of them, in 1/256, or of its whole pages with ``keepsPagesWhole``.
        public var written: Int
        /// No page is written in part: what FORMAT section 9 assumes of a page that is written when the power goes.
        public var keepsPagesWhole: Bool
        /// Every later call of the kinds fails, too.
        public var isPersistent: Bool
        public init(_ error: Errno, written: Int = 0, keepsPagesWhole: Bool = false, isPersistent: Bool = false) {
            (self.error, self.written, self.keepsPagesWhole, self.isPersistent) = (error, written, keepsPagesWhole, isPersistent)
        }
    }

    private struct State {
        var kinds: Kinds = []
        var calls = 0
        var failing = Int.max
        var fault = Fault(.inputOutput)
        var failures = 0
    }
    private let state = Mutex(State())
    public let base: any ByteStore

    public init(_ base: any ByteStore) { self.base = base }

    /// From now on calls of `kinds` are counted, from 0; the one of `number` fails.
    public func failCall(_ number: Int, of kinds: Kinds, with fault: Fault) {
        state.withLock { $0 = State(kinds: kinds, failing: number, fault: fault) }
    }

    /// Nothing fails any more.
    public func heal() { state.withLock { $0.failing = Int.max } }

    /// How many calls have failed.
    public var failureCount: Int { state.withLock { $0.failures } }
    public var callCount: Int { state.withLock { $0.calls } }

    private func fault(_ kind: Kinds) -> Fault? {
        state.withLock { state in
            guard state.kinds.contains(kind) else { return nil }
            defer { state.calls += 1 }
            guard state.calls == state.failing || (state.fault.isPersistent && state.calls > state.failing) else { return nil }
            state.failures += 1
            return state.fault
        }
    }

    private func pass(_ kind: Kinds) throws(Errno) { if let fault = fault(kind) { throw fault.error } }

    // MARK: ByteStore

    public func length() throws(Errno) -> Int64 {
        try pass(.length)
        return try base.length()
    }

    public func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int {
        try pass(.read)
        return try base.read(at: offset, into: buffer, range)
    }

    public func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(Errno) {
        guard let fault = fault(.write) else { return try base.write(buffer, range, at: offset) }
        var count = range.count * fault.written / 256
        if fault.keepsPagesWhole { count = max(0, Int((offset.rawValue + Int64(count)) / 4096 * 4096 - offset.rawValue)) }
        if count > 0 { try base.write(buffer, range.lowerBound..<range.lowerBound + count, at: offset) }
        throw fault.error
    }

    public func setLength(_ length: Int64) throws(Errno) {
        try pass(.setLength)
        try base.setLength(length)
    }

    public func synchronize(attributes: Bool) throws(Errno) {
        try pass(.synchronize)
        try base.synchronize(attributes: attributes)
    }

    public func punchHole(at offset: BackingOffset, count: Int64) throws(Errno) {
        try pass(.punchHole)
        try base.punchHole(at: offset, count: count)
    }

    public func reserve(at offset: BackingOffset, count: Int64) throws(Errno) {
        try pass(.reserve)
        try base.reserve(at: offset, count: count)
    }

    public func nextData(at offset: BackingOffset) throws(Errno) -> BackingOffset? {
        try pass(.nextData)
        return try base.nextData(at: offset)
    }

    public func modificationTime() throws(Errno) -> FileTime? {
        try pass(.times)
        return try base.modificationTime()
    }

    public func restore(modified: FileTime) throws(Errno) {
        try pass(.times)
        try base.restore(modified: modified)
    }
}
