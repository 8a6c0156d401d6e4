import SecureFileCore
import Synchronization
import TestSupport
import Testing

/// Files that are opened without being looked at.
struct UnreadTests {
    private let store = MemoryByteStore()
    private let counting: CountingByteStore
    init() { counting = CountingByteStore(store) }

    /// A file of a session that ended cleanly.
    private func prepare(_ count: Int) throws -> [UInt8] {
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        let content = try file.write(count, at: 0, seed: 1)
        try file.synchronize()
        return content
    }

    private func openUnread(_ size: Int, _ context: ContentContext = TestVault.context(session: 2)) throws -> SecureFile {
        try SecureFile.openUnread(counting, context, path: "file", size: ByteCount(Int64(size)))
    }

    @Test(arguments: [1, 100, 4000, 300_000])
    func nothingIsReadOfAFileThatIsCutToNothing(size: Int) throws {
        _ = try prepare(size)
        let file = try openUnread(size)
        #expect(file.size.rawValue == Int64(size))
        #expect(!file.hasPendingWrites)
        try file.truncate(to: .zero)
        #expect(file.size == .zero)
        #expect(store.length() == 0)
        let content = try file.write(10_000, at: 0, seed: 2)
        try file.flush()
        #expect(counting.reads == 0)
        #expect(try file.allBytes == content)
        #expect(try SecureFile.open(store, TestVault.context(session: 3), path: "file").allBytes == content)
    }

    @Test(arguments: [100, 5000, 300_000])
    func theContentIsReadWhenItIsNeeded(size: Int) throws {
        var content = try prepare(size)
        let file = try openUnread(size)
        #expect(counting.reads == 0)
        content.replaceSubrange(10..<20, with: try file.write(10, at: 10, seed: 3))
        #expect(counting.reads > 0)
        #expect(try file.allBytes == content)
        #expect(!file.isMisjudged)
        let other = try openUnread(size)
        #expect(try other.knownSize().rawValue == Int64(size))
    }

    @Test(arguments: [99, 101, 0])
    func whatWasToldOfTheSizeHasToBeRight(told: Int) throws {
        let content = try prepare(100)
        let file = try openUnread(told)
        for _ in 0..<2 {
            for action in [FileAction.read(at: 0, count: 1), .write(at: 50, count: 1, seed: 1), .truncate(7), .flush, .synchronize, .punch(at: 0, count: 1)] {
                do {
                    try action.perform(on: file)
                    Issue.record("\(action) was done")
                } catch let error as SecureFileError {
                    #expect(error.code == .system && error.cause == .stale, "\(action): \(error)")
                }
                #expect(file.isMisjudged)
            }
        }
        #expect(file.size.rawValue == Int64(told), "what others were told")
        #expect(!file.hasPendingWrites)
        #expect(try SecureFile.open(store, TestVault.context(session: 3), path: "file").allBytes == content)
        try file.truncate(to: .zero)
        #expect(!file.isMisjudged)
        #expect(try file.write(5, at: 0, seed: 2) == file.allBytes)
    }

    @Test func damageIsFoundWithTheFirstCallAndGoesWithACut() throws {
        _ = try prepare(100)
        var image = store.image
        image.setPage(0, nil)
        store.image = image
        let file = try openUnread(100)
        for _ in 0..<2 { expectError(.damaged) { try file.bytes(at: 0, count: 1) } }
        expectError(.damaged) { try file.write(1, at: 0, seed: 1) }
        expectError(.damaged) { try file.truncate(to: ByteCount(50)) }
        #expect(!file.isMisjudged)
        try file.truncate(to: .zero)
        #expect(try file.write(5, at: 0, seed: 2) == file.allBytes)
    }

    @Test func noneIsOpenedOrCutWhileTheKeyIsAway() throws {
        _ = try prepare(100)
        let context = TestVault.context(session: 2)
        let file = try openUnread(100, context)
        try context.lock()
        expectError(.keyNotAvailable) { try openUnread(100, context) }
        expectError(.keyNotAvailable) { try file.truncate(to: .zero) }
        expectError(.keyNotAvailable) { try file.bytes(at: 0, count: 1) }
        #expect(store.length() == 356)
        try context.unlock(TestVault.contentKey, keyID: TestVault.keyID)
        try file.truncate(to: .zero)
        #expect(store.length() == 0)
    }

    @Test func aCutThatFailsLeavesTheFileAsItWas() throws {
        let content = try prepare(5000)
        let faulty = FaultyByteStore(store)
        let file = try SecureFile.openUnread(faulty, TestVault.context(session: 2), path: "file", size: ByteCount(5000))
        for call in 0..<2 {
            faulty.failCall(call, of: .all, with: FaultyByteStore.Fault(.inputOutput, written: 0, keepsPagesWhole: true))
            expectError(.system) { try file.truncate(to: .zero) }
            faulty.heal()
            #expect(file.size.rawValue == 5000)
        }
        #expect(try file.allBytes == content)
    }
}

/// Counts how often its store is read.
private final class CountingByteStore: ByteStore {
    private let inner: MemoryByteStore
    private let count = Atomic<Int>(0)
    var reads: Int { count.load(ordering: .relaxed) }

    init(_ inner: MemoryByteStore) { self.inner = inner }

    func read(at offset: BackingOffset, into buffer: PageBuffer, _ range: Range<Int>) throws(Errno) -> Int {
        count.add(1, ordering: .relaxed)
        return inner.read(at: offset, into: buffer, range)
    }
    func length() throws(Errno) -> Int64 { inner.length() }
    func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: BackingOffset) throws(Errno) { inner.write(buffer, range, at: offset) }
    func setLength(_ length: Int64) throws(Errno) { try inner.setLength(length) }
    func synchronize(attributes: Bool) throws(Errno) { inner.synchronize(attributes: attributes) }
    func punchHole(at offset: BackingOffset, count: Int64) throws(Errno) { try inner.punchHole(at: offset, count: count) }
    func reserve(at offset: BackingOffset, count: Int64) throws(Errno) { try inner.reserve(at: offset, count: count) }
    func nextData(at offset: BackingOffset) throws(Errno) -> BackingOffset? { inner.nextData(at: offset) }
    func modificationTime() throws(Errno) -> FileTime? { inner.modificationTime() }
    func restore(modified: FileTime) throws(Errno) { inner.restore(modified: modified) }
}
