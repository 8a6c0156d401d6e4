import SecureFileCore
import Synchronization

/// The backing file of an open content file. Its descriptor can be exchanged for one that may also write, while the content stays the same
/// object.
final class BackingFile: ByteStore {
    private let current: Mutex<PosixByteStore>

    init(_ descriptor: FileDescriptor) { current = Mutex(PosixByteStore(descriptor)) }

    private var store: PosixByteStore { current.withLock { $0 } }
    var descriptor: FileDescriptor { store.descriptor }

    /// - Parameter descriptor: Of the same inode.
    func exchange(for descriptor: FileDescriptor) { current.withLock { $0 = PosixByteStore(descriptor) } }

    func length() throws(Errno) -> Int64 { try store.length() }
    func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int {
        try store.read(at: offset, into: buffer, range)
    }
    func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(Errno) {
        try store.write(buffer, range, at: offset)
    }
    func setLength(_ length: Int64) throws(Errno) { try store.setLength(length) }
    func synchronize(attributes: Bool) throws(Errno) { try store.synchronize(attributes: attributes) }
    func punchHole(at offset: BackingOffset, count: Int64) throws(Errno) { try store.punchHole(at: offset, count: count) }
    func reserve(at offset: BackingOffset, count: Int64) throws(Errno) { try store.reserve(at: offset, count: count) }
    func nextData(at offset: BackingOffset) throws(Errno) -> BackingOffset? { try store.nextData(at: offset) }
    func modificationTime() throws(Errno) -> FileTime? { try store.modificationTime() }
    func restore(modified: FileTime) throws(Errno) { try store.restore(modified: modified) }
}

/// The content of a node's file while somebody uses it. Protected by the lock of ``Node/content``, but for the file, which has its own.
final class OpenContent: @unchecked Sendable {
    let file: SecureFile
    let backing: BackingFile
    var isWritable: Bool
    /// Open handles and operations under way.
    var users = 0

    /// The time of modification that the kernel has said last, while it is good. Under the lock of ``file``, by `excludingWrites`.
    private var toldTime: FileTime?
    private let isTimeTold = Atomic<Bool>(false)
    /// The kernel's cached data was written after that.
    private let isTimeOff = Atomic<Bool>(false)

    init(_ file: SecureFile, _ backing: BackingFile, isWritable: Bool) {
        self.file = file
        self.backing = backing
        self.isWritable = isWritable
    }

    /// Sets the times of the backing file, as the kernel has said. Not while a late write puts back the time it found: that would be the one
    /// before this change.
    func setTimes(_ change: AttributeChange) throws(Errno) {
        try file.excludingWrites { () throws(Errno) in
            try backing.descriptor.setInodeTimes(accessed: change.accessed, modified: change.modified)
            switch change.modified {
            case .to(let time):
                toldTime = time
                isTimeTold.store(true, ordering: .relaxed)
            case .now: isTimeTold.store(false, ordering: .relaxed)
            case .keep: break
            }
        }
    }

    /// After a write of what the kernel had cached. Such writes go on while the kernel says the time of modification, and behind that; it will
    /// say it again if the file was modified later. Until ``restoreToldTime()`` the backing file's time may be too late, never too early.
    func noteWriteBack() {
        if isTimeTold.load(ordering: .relaxed) { isTimeOff.store(true, ordering: .relaxed) }
    }

    /// After a write that came directly, from a program.
    func forgetToldTime() { isTimeTold.store(false, ordering: .relaxed) }

    /// What the kernel has said last holds again.
    func restoreToldTime() throws(Errno) {
        guard isTimeOff.exchange(false, ordering: .relaxed), isTimeTold.load(ordering: .relaxed) else { return }
        try file.excludingWrites { () throws(Errno) in
            if let toldTime { try backing.descriptor.setTimes(accessed: .keep, modified: .to(toldTime)) }
        }
    }
}
