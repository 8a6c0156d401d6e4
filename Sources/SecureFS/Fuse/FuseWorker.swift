import CFuse
import Glibc
import SecureFileCore
import Synchronization

/// What one thread of the loop keeps: the request it works on, and the memory replies are made in.
final class FuseWorker: @unchecked Sendable {
    /// Bytes of the largest request: 1 MiB of data and the headers before it.
    static let largestData = 1 << 20
    static let inputBytes = largestData + 4096

    let input = PageBuffer(uninitialized: FuseWorker.inputBytes)
    private(set) lazy var output = {
        hasOutput = true
        return PageBuffer(uninitialized: FuseWorker.largestData)
    }()
    private var hasOutput = false
    /// For replies that are made here.
    let small = PageBuffer(count: 4096)
    /// How much of each buffer was used since it was wiped.
    private var (inputUsed, outputUsed) = (0, 0)
    /// The thread is at work on a request, or whoever wipes has the buffers.
    private let busy = Atomic<Bool>(false)
    /// What libfuse 3.14 does not pass on of the request in hand.
    var request = RawRequest()
    /// Replies that wait for those of the next requests.
    let replies = HeldReplies()

    /// Called by the thread before it takes a request: the buffers are its own until ``beIdle()``.
    @inline(__always)
    func beBusy() { while busy.exchange(true, ordering: .acquiring) { sched_yield() } }

    @inline(__always)
    func beIdle() { busy.store(false, ordering: .releasing) }

    /// Runs `body` while the thread is not at work; waits for the request it has in hand.
    func whileIdle(_ body: () -> Void) {
        while busy.exchange(true, ordering: .acquiring) { usleep(50) }
        body()
        beIdle()
    }

    /// The device has put `count` bytes into ``input``.
    func noteInput(_ count: Int) { inputUsed = max(inputUsed, count) }

    /// Leaves nothing of earlier requests in the buffers.
    func wipe() {
        input.zero(0..<inputUsed)
        if hasOutput { output.zero(0..<outputUsed) }
        (inputUsed, outputUsed) = (0, 0)
    }

    func output(atLeast count: Int) -> PageBuffer {
        guard count <= output.count else { return PageBuffer(uninitialized: count) }
        outputUsed = max(outputUsed, count)
        return output
    }
}

/// The parts of a request that are read before libfuse sees it. See /usr/include/linux/fuse.h.
struct RawRequest {
    var opcode: UInt32 = 0
    var unique: UInt64 = 0
    /// The caller may not keep the set-id bits of the file it changes (FUSE_HANDLE_KILLPRIV_V2).
    var killsPrivileges = false
    /// A write of data that the kernel had cached (FUSE_WRITE_CACHE): it may be any caller's.
    var isWriteBack = false
    /// A create that is a FUSE_TMPFILE in truth.
    var isUnnamed = false
    /// May take long: moves much data, or waits for the disk.
    var isSlow = false
    var isWrite = false
    /// An fsync: slow on a disk, quick in memory.
    var isSync = false
    /// Most often the kernel's own, of a removed file (``FuseRemovedTimes``): who waits has not yet gone to sleep.
    var isQuick = false
    /// Nobody waits for it.
    var isBackground = false
    /// Data the kernel had cached, and nothing but that: the reply may be late.
    var isPatient: Bool { isWriteBack && !killsPrivileges }
}

extension RawRequest {
    // Opcodes, and the offsets of fields behind the 40-byte header.
    private static let header = 40
    private static let tmpfile: UInt32 = 51
    private static let smallData = 128 << 10

    /// Looks at the `count` bytes the device gave; turns FUSE_TMPFILE, which libfuse 3.14 does not know, into a create.
    init(reading input: PageBuffer, count: Int) {
        guard count >= RawRequest.header else { return }
        opcode = input.load(at: 4)
        unique = input.load(at: 8)
        switch fuse_opcode(rawValue: opcode) {
        case FUSE_WRITE where count >= 80:
            isWrite = true
            let flags: UInt32 = input.load(at: 40 + 20)
            killsPrivileges = flags & UInt32(FUSE_WRITE_KILL_SUIDGID) != 0
            isWriteBack = flags & UInt32(FUSE_WRITE_CACHE) != 0
            isSlow = count > RawRequest.smallData
        case FUSE_SETATTR where count >= 48:
            let valid: UInt32 = input.load(at: 40)
            killsPrivileges = valid & UInt32(FATTR_KILL_SUIDGID) != 0
            isQuick = FuseRemovedTimes.isCandidate(input, count: count)
        case FUSE_OPEN where count >= 48:
            killsPrivileges = input.load(at: 44, as: UInt32.self) & UInt32(FUSE_OPEN_KILL_SUIDGID) != 0
        case FUSE_CREATE where count >= 56:
            killsPrivileges = input.load(at: 52, as: UInt32.self) & UInt32(FUSE_OPEN_KILL_SUIDGID) != 0
        case FUSE_READ where count >= 64:
            isSlow = input.load(at: 56, as: UInt32.self) > UInt32(RawRequest.smallData)
        case FUSE_FSYNC:
            isSlow = true
            isSync = true
        case FUSE_FSYNCDIR, FUSE_FALLOCATE, FUSE_COPY_FILE_RANGE, FUSE_LSEEK:
            isSlow = true
        case FUSE_RELEASE, FUSE_RELEASEDIR, FUSE_FORGET, FUSE_BATCH_FORGET, FUSE_INTERRUPT:
            isBackground = true
        default:
            if opcode == RawRequest.tmpfile {
                isUnnamed = true
                input.store(FUSE_CREATE.rawValue, at: 4)
            }
        }
    }
}
