import Synchronization

/// A key of 1 to 64 bytes in memory that is locked (where the limit allows), left out of core dumps, and wiped when the last reference goes.
///
/// It has no description and cannot be compared. Immutable after its making: safe to use from several threads.
@safe
public final class SecretKey: @unchecked Sendable {
    public let count: Int
    private let slot: UnsafeMutableRawPointer

    /// A key of `count` bytes that `fill` writes; they are zero before.
    init<E: Error>(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        precondition(count > 0 && count <= SecretArena.slotSize)
        self.count = count
        unsafe slot = SecretArena.take()
        unsafe try fill(UnsafeMutableRawBufferPointer(start: slot, count: count))
    }

    /// A copy of `bytes`; the caller's own copy is the caller's to wipe.
    public convenience init(copying bytes: [UInt8]) {
        unsafe self.init(count: bytes.count) { destination in unsafe destination.copyBytes(from: bytes) }
    }

    deinit { unsafe SecretArena.giveBack(slot) }

    /// The key's bytes; the pointer is good until the closure returns.
    @inline(__always)
    @unsafe
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(start: slot, count: count))
    }

    /// The bytes of the key in ordinary memory, for showing it to its owner or wrapping it by hand. The caller wipes them.
    package func exposedBytes() -> [UInt8] { unsafe withBytes { unsafe Array($0) } }

    /// Whether memory could be locked so far; false means that keys may reach swap space.
    public static var isMemoryLocked: Bool { SecretArena.isLocked }
}

/// Slots of 64 bytes in locked pages, shared by all keys.
@safe
private enum SecretArena {
    static let slotSize = 64
    private static let chunkSize = 65536

    @safe private struct State: @unchecked Sendable {
        var free: [UnsafeMutableRawPointer] = unsafe []
        var isLocked = true
    }
    private static let state = Mutex(State())

    static var isLocked: Bool { state.withLock { $0.isLocked } }

    static func take() -> UnsafeMutableRawPointer {
        unsafe state.withLock { state in
            if unsafe state.free.isEmpty {
                guard let chunk = unsafe LockedMemory.allocate(chunkSize) else { preconditionFailure("out of memory for keys") }
                unsafe state.isLocked = state.isLocked && chunk.isLocked
                for offset in stride(from: 0, to: chunkSize, by: slotSize) { unsafe state.free.append(chunk.pointer + offset) }
            }
            return unsafe state.free.removeLast()
        }
    }

    static func giveBack(_ slot: UnsafeMutableRawPointer) {
        unsafe wipe(slot, slotSize)
        state.withLock { unsafe $0.free.append(slot) }
    }
}
