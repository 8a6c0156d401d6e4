import SecureFileCore
import TestSupport
import Testing

/// Entries whose data a loss of power has taken: their blocks read as zeros, and stay so. FORMAT section 9, what reads as a hole.
struct StaleEntryTests {
    /// Block 2 has an entry; its data page, which is page 3 of the backing file, never reached the disk.
    private func image(bytes: Int, length: Int64) throws -> PageImage {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        try file.write(8192, at: 0, seed: 1)
        try file.synchronize()
        // Once in 256 times a version of one byte opens over the zero that is there instead of it: then it counts.
        repeat {
            try file.write(bytes, at: 8192, seed: 2)
            try file.flush()
        } while store.image.bytes()[12_288] == 0
        var image = store.image
        image.setPage(3, nil)
        image.setLength(length)
        return image
    }

    private struct Session {
        var store: CrashingByteStore
        var faulty: FaultyByteStore
        var context: ContentContext
        var file: SecureFile
        var model: ModelFile
        var watch: CrashWatch
    }

    /// The session after: it has read `image`, and confirmed by a sync what it read.
    private func session(on image: PageImage, size: Int64) throws -> Session {
        var options = ContentContext.Options()
        options.writesNewDataAtOnce = true
        let store = CrashingByteStore(image)
        let faulty = FaultyByteStore(store)
        let context = TestVault.context(session: 2, dead: [1], options: options)
        let file = try SecureFile.open(faulty, context, path: "file")
        var model = ModelFile()
        FileAction.write(at: 0, count: 8192, seed: 1).apply(to: &model)
        model.truncate(to: size)
        #expect(file.size.rawValue == size)
        #expect(try file.bytes(at: 8192, count: 4096).allSatisfy { $0 == 0 })
        try file.synchronize()
        let watch = CrashWatch(
            seed: 1, statesPerPoint: 256, confirmed: model, judge: CrashJudge(cipher: .aes256GCM, session: 3, dead: [1, 2]))
        store.observe { watch.judge($0) }
        return Session(store: store, faulty: faulty, context: context, file: file, model: model, watch: watch)
    }

    private func perform(_ action: FileAction, in session: inout Session) throws {
        action.apply(to: &session.model)
        session.watch.begin(session.model)
        try action.perform(on: session.file)
        if case .synchronize = action { session.watch.confirm() }
        session.watch.judge(session.store.crashPoint)
        try session.watch.check()
    }

    @Test(arguments: [
        FileAction.write(at: 8192, count: 1, seed: 3), .write(at: 8192, count: 4096, seed: 3), .write(at: 8200, count: 9000, seed: 3),
        .punch(at: 8192, count: 1), .zeroRange(at: 8192, count: 4096, keepSize: false), .truncate(20_000), .truncate(8192),
    ])
    func aBlockThatReadsAsAHoleIsOneOnTheDiskBeforeItIsWritten(action: FileAction) throws {
        for bytes in [1, 2, 4096] {
            var session = try session(on: image(bytes: bytes, length: 12_288 + Int64(bytes)), size: 8192 + Int64(bytes))
            defer { session.context.forgetFiles() }
            let rest: [FileAction] = [.settle, .write(at: 8192, count: 1, seed: 4), .settle, .truncate(16_384), .settle, .synchronize]
            for next in [action] + rest { try perform(next, in: &session) }
        }
    }

    /// A version that is longer than the file would open by chance where zeros come behind the little of it that is there.
    @Test(arguments: [0, 1, 2, 3])
    func aSyncThatFailsDoesNotLetTheFileGrowOverIt(failing: Int) throws {
        var session = try session(on: image(bytes: 100, length: 12_289), size: 8193)
        defer { session.context.forgetFiles() }
        session.faulty.failCall(failing, of: .changes, with: .init(.inputOutput))
        // The sync that comes before the growth fails, or what comes before that; then all goes well.
        do { try session.file.truncate(to: ByteCount(9000)) } catch { #expect([8193, 9000].contains(session.file.size.rawValue)) }
        session.faulty.heal()
        for next in [FileAction.truncate(9000), .settle, .write(at: 8990, count: 3000, seed: 5), .settle, .synchronize] {
            try perform(next, in: &session)
        }
    }

    /// What the next instance of the session cannot know is durable when the one before it is given up.
    @Test func aChangedEndIsDurableBeforeTheFileIsClosed() throws {
        var session = try session(on: image(bytes: 100, length: 12_289), size: 8193)
        defer { session.context.forgetFiles() }
        session.faulty.failCall(0, of: .synchronize, with: .init(.inputOutput))
        expectError(.system) { try session.file.truncate(to: ByteCount(9000)) }
        session.faulty.heal()
        #expect(session.file.hasPendingWrites)
        try session.file.settle()
        session.file = try SecureFile.open(session.faulty, session.context, path: "file")
        for next in [FileAction.truncate(9000), .settle, .synchronize] { try perform(next, in: &session) }
    }

    /// Session 1 ended cleanly; session 2 died while the file grew by groups, and only their pages reached the disk.
    private func imageWithGroupsPastItsEnd() throws -> PageImage {
        let store = MemoryByteStore()
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        try file.write(8192, at: 0, seed: 1)
        try file.synchronize()
        let before = store.image
        let next = try SecureFile.open(store, TestVault.context(session: 2), path: "file")
        try next.write(20_000, at: 262_144, seed: 2)
        try next.flush()
        var image = store.image
        image.setPage(0, before.pages[0])
        return image
    }

    /// The cut may be lost, and an instance that is opened later in the session must know that: page 0 names the session, or the cut is durable.
    @Test(arguments: 0..<8)
    func groupsPastTheEndDoNotComeBackWhereACallFailedAfterTheirCut(failing: Int) throws {
        let store = CrashingByteStore(try imageWithGroupsPastItsEnd())
        let faulty = FaultyByteStore(store)
        let context = TestVault.context(session: 3, dead: [2])
        defer { context.forgetFiles() }
        var model = ModelFile()
        FileAction.write(at: 0, count: 8192, seed: 1).apply(to: &model)
        let watch = CrashWatch(
            seed: 1, statesPerPoint: 256, confirmed: model, judge: CrashJudge(cipher: .aes256GCM, session: 4, dead: [2, 3]))
        store.observe { watch.judge($0) }
        let file = try SecureFile.open(faulty, context, path: "file")
        #expect(file.size.rawValue == 8192)
        faulty.failCall(failing, of: .changes, with: .init(.inputOutput))
        for _ in 0..<2 { do { try file.settle() } catch { faulty.heal() } }
        faulty.heal()
        let again = try SecureFile.open(faulty, context, path: "file")
        for action in [FileAction.truncate(600_000), .flush, .settle, .synchronize] {
            action.apply(to: &model)
            watch.begin(model)
            try action.perform(on: again)
            watch.judge(store.crashPoint)
            try watch.check()
        }
    }
}
