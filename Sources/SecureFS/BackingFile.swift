import SecureFileCore
import Synchronization

/// The backing file of an open content file. Its descriptor can be exchanged for one that may also write, while the content stays the same
/// object.
final class BackingFile: ByteStore {
    private let current: Mutex<PosixByteStore>
    /// The time of the last change, which the kernel keeps.
    let told = Mutex(ToldTime())

    /// Of a small read that has to wait for the disk, the neighbourhood comes along: a disk takes hardly longer for eight pages than for one, and
    /// whoever reads here and there in a file comes back to them. Not to those behind a metadata page, other than the first one of a small file.
    private static let smallRead = 8192
    private static let neighbourhood: Int64 = 32768
    /// Somebody has opened the file for reading: whoever only writes has its header read, and most often has it cut to nothing then.
    private let isRead: Atomic<Bool>
    private let isInMemory: Bool

    /// - Parameters:
    ///   - isRead: Whether its content is going to be read.
    ///   - isInMemory: It lies in a filesystem that has all of it in memory: there is no neighbourhood to fetch.
    init(_ descriptor: FileDescriptor, isRead: Bool, isInMemory: Bool) {
        current = Mutex(PosixByteStore(descriptor))
        self.isRead = Atomic(isRead)
        self.isInMemory = isInMemory
    }

    func noteReader() { isRead.store(true, ordering: .relaxed) }

    private var store: PosixByteStore { current.withLock { $0 } }
    var descriptor: FileDescriptor { store.descriptor }

    /// - Parameter descriptor: Of the same inode.
    func exchange(for descriptor: FileDescriptor) { current.withLock { $0 = PosixByteStore(descriptor) } }

    func length() throws(Errno) -> Int64 { try store.length() }
    func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int {
        let store = store
        if !isInMemory, range.count <= BackingFile.smallRead, isRead.load(ordering: .relaxed), offset.rawValue == 0 || !ContentGeometry.isMetadataPage(offset) {
            let start = offset.rawValue / BackingFile.neighbourhood * BackingFile.neighbourhood
            store.descriptor.prefetch(at: start, count: BackingFile.neighbourhood)
        }
        return try store.read(at: offset, into: buffer, range)
    }
    func prefetch(at offset: BackingOffset, count: Int64) { store.prefetch(at: offset, count: count) }
    func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(Errno) {
        try store.write(buffer, range, at: offset)
    }
    func write(_ pages: [PageBuffer], _ count: Int, at offset: BackingOffset) throws(Errno) { try store.write(pages, count, at: offset) }
    func setLength(_ length: Int64) throws(Errno) { try store.setLength(length) }
    /// With the time that was told, where times are to be durable.
    func synchronize(attributes: Bool) throws(Errno) {
        let told = told.withLock { $0 }
        if attributes, told.isDisturbed, let time = told.modified { try restore(modified: time) }
        try store.synchronize(attributes: attributes)
    }
    func punchHole(at offset: BackingOffset, count: Int64) throws(Errno) { try store.punchHole(at: offset, count: count) }
    func reserve(at offset: BackingOffset, count: Int64) throws(Errno) { try store.reserve(at: offset, count: count) }
    func nextData(at offset: BackingOffset) throws(Errno) -> BackingOffset? { try store.nextData(at: offset) }
    /// As the kernel has it, where it does.
    func modificationTime() throws(Errno) -> FileTime? {
        if let time = told.withLock({ $0.modified }) { return time }
        return try store.modificationTime()
    }
    func restore(modified: FileTime) throws(Errno) {
        try store.restore(modified: modified)
        told.withLock { if $0.modified == modified { $0.isDisturbed = false } }
    }
    /// Left to ``OpenContent/restoreToldTime()``.
    func restoreLater(modified: FileTime) throws(Errno) {
        let isKept = told.withLock { told in
            // What was told meanwhile is newer than what was found.
            if told.modified != nil { told.isDisturbed = true }
            return told.modified != nil
        }
        if !isKept { try restore(modified: modified) }
    }
}

/// The content of a node's file while somebody uses it. Protected by the lock of ``Node/content``, but for the file, which has its own.
final class OpenContent: @unchecked Sendable {
    let file: SecureFile
    let backing: BackingFile
    /// What `file` writes to, where that is not `backing` itself.
    let ahead: AheadByteStore?
    var isWritable: Bool
    /// When the backing inode had changed last as the file was read anew. For a mount that only reads: ``VaultFileSystem/lookAgain(_:_:)``.
    let seenChange = Mutex<FileTime?>(nil)
    /// Open handles and operations under way.
    var users = 0

    init(_ file: SecureFile, _ backing: BackingFile, _ ahead: AheadByteStore?, isWritable: Bool) {
        self.file = file
        self.backing = backing
        self.ahead = ahead
        self.isWritable = isWritable
    }
}
