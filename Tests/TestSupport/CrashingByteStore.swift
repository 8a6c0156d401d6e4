import SecureFileCore
import Synchronization

// The fault model, in words. It is meant to be no kinder than a real filesystem on a real disk, and no more than FORMAT section 9 assumes.
//
// A file has a durable state and a present state. Reads see the present one. Everything that changed since the last sync is *pending*:
//
// - A write is cut at page edges. Each page of it is one effect, the content the page has after the write (a cache writes pages, not calls).
//   A page reaches the disk whole or not at all. Of several effects on one page any one, or none, may be what the disk has: a later one
//   holds what the earlier ones did.
// - A write past the end is, beside its pages, one change of length a page. A page that reaches the disk without its change of length is
//   there up to the length the disk has, and comes to light when another change of length covers it. A change of length without its page
//   gives zeros (or what was there before).
// - setLength is one change of length. Lengthening gives zeros. A cut takes away, for good, what lies past it: also from earlier pending pages.
// - Any subset of the effects may be on the disk: pages of one file and its changes of length are not ordered among each other, nor are files.
//   Changes of length keep their order among themselves (one field of one inode).
// - A cut to length 0 reaches the disk before anything done to the same file later. This the protocol relies on; nothing else.
// - A punched range is zeroed page by page, each an effect like a write of zeros.
// - At a sync everything pending becomes durable.
//
// What is not modelled: pages torn inside, bits that rot, a disk that lies about syncs, a failed sync that forgets data.

/// One change that is not durable yet.
enum StoreEffect {
    case page(Int64, PageBuffer?)
    case extend(Int64)
    case cut(Int64)
}

/// What a loss of power may leave of one file: its durable state and the effects since.
public struct CrashPoint: Sendable {
    let durable: PageImage
    let effects: [StoreEffect]

    public var effectCount: Int { effects.count }
}

/// A backing file whose power can go at any moment: the test double of crashes. See the fault model above.
public final class CrashingByteStore: ByteStore {
    private struct State {
        var durable: PageImage
        var present: PageImage
        var effects: [StoreEffect] = []
        var calls = 0
        var powerOffAfter = Int.max
        var modified = FileTime(seconds: 1, nanoseconds: 0)
    }
    private let state: Mutex<State>
    /// Told what a loss of power may leave, right before each sync: all that may be left at an earlier moment since the last sync is among it.
    private let beforeSync: Mutex<(@Sendable (CrashPoint) -> Void)?> = Mutex(nil)

    public init(_ durable: PageImage = PageImage()) { state = Mutex(State(durable: durable, present: durable)) }

    public func observe(_ body: (@Sendable (CrashPoint) -> Void)?) { beforeSync.withLock { $0 = body } }

    /// After `count` more changes every call fails: the power is off.
    public func powerOff(after count: Int) { state.withLock { $0.powerOffAfter = $0.calls + count } }
    public var isOff: Bool { state.withLock { $0.calls >= $0.powerOffAfter } }

    public var crashPoint: CrashPoint { state.withLock { CrashPoint(durable: $0.durable, effects: $0.effects) } }
    public var present: PageImage { state.withLock { $0.present } }

    /// All that is pending becomes durable, without a call to ``synchronize(attributes:)`` (a sync of the whole filesystem).
    public func becomeDurable() {
        let point = crashPoint
        beforeSync.withLock { $0 }?(point)
        state.withLock {
            $0.durable = $0.present
            $0.effects.removeAll()
        }
    }

    // MARK: ByteStore

    private func change(_ body: (inout State) -> Void) throws(Errno) {
        let isOff = state.withLock { state in
            if state.calls >= state.powerOffAfter { return true }
            state.calls += 1
            body(&state)
            return false
        }
        if isOff { throw .inputOutput }
    }

    public func length() throws(Errno) -> Int64 { state.withLock { $0.present.length } }

    public func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int {
        state.withLock { $0.present }.read(at: offset.rawValue, into: buffer, range)
    }

    public func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(Errno) {
        try change { state in
            var done = 0
            while done < range.count {
                let at = offset.rawValue + Int64(done)
                let here = min(4096 - Int(at & 4095), range.count - done)
                let from = range.lowerBound + done
                let page = state.present.page(at >> 12, patchedWith: buffer, from..<from + here, at: Int(at & 4095))
                state.present.setPage(at >> 12, page)
                state.effects.append(.page(at >> 12, page))
                done += here
                if at + Int64(here) > state.present.length {
                    state.present.setLength(at + Int64(here))
                    state.effects.append(.extend(at + Int64(here)))
                }
            }
            state.modified.seconds += 1
        }
    }

    public func setLength(_ length: Int64) throws(Errno) {
        if length < 0 { throw .invalidArgument }
        try change { state in
            if length == state.present.length { return }
            state.effects.append(length < state.present.length ? .cut(length) : .extend(length))
            state.present.setLength(length)
            state.modified.seconds += 1
        }
    }

    public func synchronize(attributes: Bool) throws(Errno) {
        if isOff { throw .inputOutput }
        becomeDurable()
        try change { _ in }
    }

    public func punchHole(at offset: BackingOffset, count: Int64) throws(Errno) {
        try change { state in
            let end = min(offset.rawValue + count, state.present.length)
            state.present.punch(at: offset.rawValue, count: count)
            if offset.rawValue >= end { return }
            for page in offset.rawValue >> 12...(end - 1) >> 12 { state.effects.append(.page(page, state.present.pages[page])) }
        }
    }

    public func reserve(at offset: BackingOffset, count: Int64) throws(Errno) { try change { _ in } }

    public func nextData(at offset: BackingOffset) throws(Errno) -> BackingOffset? {
        state.withLock { $0.present }.nextData(at: offset.rawValue).map { BackingOffset($0) }
    }

    public func modificationTime() throws(Errno) -> FileTime? { state.withLock { $0.modified } }

    public func restore(modified: FileTime) throws(Errno) { state.withLock { $0.modified = modified } }
}
