import SecureFileCore
import TestSupport
import Testing

/// Calls of the store that fail, further work, and then a loss of power: nothing that was there once may be lost by it.
struct FailedWriteTests {
    private static let group: Int64 = 262_144

    /// A file whose every state is judged after each action.
    private struct Watched {
        let store = CrashingByteStore()
        let faulty: FaultyByteStore
        let context: ContentContext
        let watch: CrashWatch
        var file: SecureFile
        var model = ModelFile()

        init(isStandalone: Bool = false) throws {
            var options = ContentContext.Options()
            options.writesNewDataAtOnce = true
            faulty = FaultyByteStore(store)
            context = isStandalone ? TestVault.standaloneContext(options: options) : TestVault.context(session: 1, options: options)
            file = isStandalone
                ? try SecureFile.openForWriting(faulty, context, path: "file") : try SecureFile.open(faulty, context, path: "file")
            let judge = CrashJudge(cipher: .aes256GCM, session: 2, dead: isStandalone ? [] : [1], isStandalone: isStandalone)
            let watch = CrashWatch(seed: 1, statesPerPoint: 48, confirmed: model, judge: judge)
            self.watch = watch
            store.observe { watch.judge($0) }
        }

        mutating func perform(_ actions: FileAction...) throws { for action in actions { try perform(action) } }

        /// One that may fail where a call of the store was chosen to; then the file is what it reads as.
        private mutating func perform(_ action: FileAction) throws {
            var next = model
            action.apply(to: &next)
            watch.begin(next)
            do {
                try action.perform(on: file)
                model = next
                if case .synchronize = action { watch.confirm() }
            } catch {
                if faulty.failureCount == 0 { throw error }
                model = try ModelFile(reading: file, model, or: next)
                watch.begin(model)
            }
            try watch.check()
            watch.judge(store.crashPoint)
            try watch.check()
        }

        mutating func reopen() throws { file = try SecureFile.open(faulty, context, path: "file") }

        mutating func fail(_ number: Int, of kinds: FaultyByteStore.Kinds, written: Int = 0, error: Errno = .inputOutput, _ action: FileAction) throws {
            faulty.failCall(number, of: kinds, with: .init(error, written: written, keepsPagesWhole: true))
            try perform(action)
            faulty.heal()
        }

        /// The key goes, whatever cannot be written, and comes back.
        mutating func lockByForce(failing number: Int, of kinds: FaultyByteStore.Kinds, _ error: Errno) throws {
            faulty.failCall(number, of: kinds, with: .init(error))
            try context.lock(discardingUnwritten: true)
            #expect(faulty.failureCount == 1)
            #expect(context.hasFailed, "the session must not end as clean")
            faulty.heal()
            try context.unlock(TestVault.contentKey, keyID: TestVault.keyID)
            _ = try file.knownSize()
            model = try ModelFile(reading: file, watch.allowed)
            watch.begin(model)
        }
    }

    /// The version that a failed write may have destroyed was nobody's; it must not become the one that is owed.
    @Test(arguments: [FileAction.truncate(524_288), .write(at: 262_149, count: 10, seed: 5), .synchronize])
    func anOverwriteThatFailedIsNotForgottenByTheSyncOfAnother(next: FileAction) throws {
        var file = try Watched()
        defer { file.context.forgetFiles() }
        try file.perform(.write(at: 0, count: 8192, seed: 1), .write(at: Self.group, count: 4096, seed: 2), .synchronize, .truncate(8192), .synchronize)
        try file.perform(.write(at: 8192, count: 4096, seed: 3))
        try file.fail(0, of: .write, written: 256, .write(at: 8192, count: 4096, seed: 4))
        try file.perform(next, .settle, .synchronize)
    }

    @Test(arguments: 0..<6)
    func theSameInAFileThatWasReopened(failing: Int) throws {
        var file = try Watched()
        defer { file.context.forgetFiles() }
        try file.perform(.write(at: 0, count: 8192, seed: 1), .truncate(2 * Self.group), .synchronize, .settle)
        try file.reopen()
        try file.perform(.synchronize, .write(at: Self.group - 4096, count: 4096, seed: 3))
        try file.fail(failing, of: .write, written: 256, .write(at: Self.group - 4096, count: 8192, seed: 4))
        try file.perform(.write(at: Self.group + 8192, count: 4096, seed: 5), .settle, .synchronize)
    }

    @Test(arguments: [false, true], 0..<4)
    func whatWasSyncedIsThereAfterALockByForce(isStandalone: Bool, failing: Int) throws {
        for kinds in [FaultyByteStore.Kinds.write, .synchronize] {
            for next in [FileAction.write(at: 4096, count: 4096, seed: 5), .write(at: 4096, count: 10, seed: 5), .truncate(8000), .truncate(300_000)] {
                var file = try Watched(isStandalone: isStandalone)
                defer { file.context.forgetFiles() }
                try file.perform(.write(at: 0, count: 8192, seed: 1), .write(at: Self.group, count: 8192, seed: 2), .synchronize)
                try file.perform(.truncate(Self.group + 8000), .synchronize)
                try file.perform(.write(at: 4096, count: 4096, seed: 3), .write(at: Self.group, count: 4096, seed: 4))
                // Not every kind of file has so many calls.
                if kinds == .synchronize, failing > 0 { continue }
                if kinds == .write, failing > (isStandalone ? 2 : 3) { continue }
                try file.lockByForce(failing: failing, of: kinds, kinds == .write ? .noSpace : .inputOutput)
                try file.perform(next, .settle, .write(at: Self.group, count: 4096, seed: 6), .settle, .synchronize)
            }
        }
    }

    @Test func aLockByForceNeverThrows() throws {
        var file = try Watched()
        defer { file.context.forgetFiles() }
        try file.perform(.write(at: 0, count: 12_288, seed: 1), .synchronize, .write(at: 0, count: 100, seed: 2), .settle)
        let other = try SecureFile.openUnread(file.faulty, file.context, path: "file", size: ByteCount(12_288))
        file.faulty.failCall(0, of: .synchronize, with: .init(.inputOutput, isPersistent: true))
        try file.context.lock(discardingUnwritten: true)
        #expect(file.context.isLocked)
        #expect(other.size.rawValue == 12_288)
    }

    /// Growth that could not be stored has not happened: not in memory, not in the store, not after a loss of power.
    @Test(arguments: 0..<4, [Int64(20_000), 600_000, 3000, 20_000_000])
    func growthThatFailedHasNotHappened(failing: Int, size: Int64) throws {
        for start in [Int64(0), 1000, 8192, 270_000] {
            var file = try Watched()
            defer { file.context.forgetFiles() }
            if start > 0 { try file.perform(.write(at: 0, count: Int(start), seed: 1)) }
            try file.perform(.synchronize)
            if start >= size { continue }
            try file.fail(failing, of: .changes, error: .noSpace, .truncate(size))
            guard file.faulty.failureCount > 0 else { continue }
            #expect(file.file.size.rawValue == start, "\(start) to \(size), call \(failing)")
            try file.perform(.write(at: start, count: 1, seed: 3), .settle)
            #expect(file.file.size.rawValue == start + 1)
            try file.reopen()
            #expect(file.file.size.rawValue == start + 1)
            try file.perform(.synchronize)
        }
    }
}
