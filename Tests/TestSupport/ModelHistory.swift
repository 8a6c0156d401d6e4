import SecureFileCore

/// A random history of one file against its model: actions, and reopening in every way that loses nothing.
public struct ModelHistory {
    private var generator: SeededGenerator
    private let seed: UInt64
    private let limit: Int64
    private let mixture: ActionMixture
    private let store = MemoryByteStore()
    private let growth = TestVault.growth()
    /// Lies over the store in half of the histories.
    private var ahead: AheadByteStore?
    private var model = ModelFile()
    private var file: SecureFile
    private var context: ContentContext
    private var session = 1
    /// The session page 0 may name, if it ended badly.
    private var dead: Set<Int> = []
    private let cipher: CipherKind
    private let options: ContentContext.Options
    /// The file is outside of a vault.
    private let isStandalone: Bool
    public private(set) var trace: [String] = []

    public init(seed: UInt64) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        limit = generator.pick([5000, 20_000, 300_000, 800_000, 25 * 262_144])
        mixture = ActionMixture(&generator, limit: limit, reads: true)
        cipher = generator.pick(CipherKind.allCases)
        var options = ContentContext.Options()
        options.pendingLimitPerFile = generator.pick([0, 4096, 20_000, 64 << 20])
        options.cachedGroupsPerFile = generator.pick([0, 1, 2, 2048])
        options.writesNewDataAtOnce = generator.once(in: 2)
        options.keepsModificationTimes = generator.once(in: 4)
        options.crew = generator.pick([nil, nil, TestVault.patientCrew, TestVault.crew])
        options.assumedBarrierTime = generator.pick([0, .max])
        options.smallestBatch = generator.pick([8192, 4 << 20])
        self.options = options
        isStandalone = generator.once(in: 3)
        context = isStandalone
            ? TestVault.standaloneContext(cipher: cipher, options: options)
            : TestVault.context(session: 1, cipher: cipher, options: options)
        if !isStandalone, generator.once(in: 2) { ahead = AheadByteStore(store, length: 0, growth) }
        file = SecureFile.create(ahead ?? store, context, path: "model")
    }

    /// Runs `steps` actions; the error says seed, step and the last actions.
    public mutating func run(steps: Int) throws(Finding) {
        for step in 0..<steps {
            do {
                if generator.once(in: 12) { try reopen() } else { try act() }
                if file.size.rawValue != model.size { throw Finding("size \(file.size.rawValue), expected \(model.size)") }
                if generator.once(in: 8) { try compareAll() }
            } catch {
                throw Finding("SEED=\(seed) step \(step): \(error)\n  " + trace.suffix(25).joined(separator: "\n  "))
            }
        }
        do {
            try compareAll()
            try file.synchronize()
            try file.settle()
            if file.hasPendingWrites { throw Finding("unsettled after a settle") }
            if context.pendingByteCount != 0 { throw Finding("\(context.pendingByteCount) bytes counted as pending after a settle") }
        } catch { throw Finding("SEED=\(seed) at the end: \(error)\n  " + trace.suffix(25).joined(separator: "\n  ")) }
    }

    private mutating func act() throws {
        let action = mixture.next(&generator, size: model.size)
        trace.append(action.description)
        try action.perform(on: file, comparing: model)
        action.apply(to: &model)
    }

    private mutating func reopen() throws {
        if generator.once(in: 3) { return try lockAndUnlock() }
        if isStandalone { return try reopenStandalone() }
        switch generator.number(0..<4) {
        case 0:  // the node was forgotten by the kernel
            trace.append("reopen in the same session")
            try file.settle()
            try ahead?.endAhead()
        case 1:
            trace.append("reopen after a clean end")
            try file.synchronize()
            try file.settle()
            try ahead?.endAhead()
            session += 1
        case 2:  // killed after everything was settled
            trace.append("reopen after the process died")
            try file.settle()
            dead.insert(session)
            session += 1
        default:
            trace.append("reopen after a check")
            try file.settle()
            let all = dead.union([session])
            session += 1
            try SecureFile.open(store, makeContext(all), path: "model").settleForGood()
            dead = []
        }
        if context.pendingByteCount != 0 { throw Finding("\(context.pendingByteCount) bytes counted as pending after a settle") }
        context = makeContext(dead)
        if ahead != nil { ahead = AheadByteStore(store, length: store.length(), growth) }
        // As a mount does for a program that only writes.
        let isUnread = dead.isEmpty && generator.once(in: 2)
        if isUnread { trace.append("  unread") }
        file = isUnread
            ? try SecureFile.openUnread(ahead ?? store, context, path: "model", size: ByteCount(model.size))
            : try SecureFile.open(ahead ?? store, context, path: "model")
        if dead.isEmpty, file.backingDisagreed { throw Finding("the backing file does not have its length") }
    }

    /// The key goes and comes back; the file goes on.
    private mutating func lockAndUnlock() throws {
        let isTogether = generator.once(in: 2)
        trace.append(isTogether ? "lock and unlock, one sync for all files" : "lock and unlock")
        let store = store
        try context.lock(barrier: isTogether ? { () throws(Errno) in store.synchronize(attributes: false) } : nil)
        if context.pendingByteCount != 0 { throw Finding("\(context.pendingByteCount) bytes counted as pending while locked") }
        if file.size.rawValue != model.size { throw Finding("size \(file.size.rawValue) while locked, expected \(model.size)") }
        for action in [FileAction.read(at: 0, count: 1), .write(at: 0, count: 1, seed: 1), .truncate(1), .truncate(0), .flush, .synchronize, .punch(at: 0, count: 1)] {
            do {
                try action.perform(on: file)
                throw Finding("\(action) of a locked file")
            } catch let error as SecureFileError {
                if error.code != .keyNotAvailable { throw error }
            }
        }
        if isStandalone, try SecureFile.open(store, TestVault.standaloneContext(cipher: cipher), path: "model").isOfOtherSession {
            throw Finding("a locked file counts as open for writing")
        }
        try context.unlock(TestVault.contentKey, keyID: TestVault.keyID)
    }

    private mutating func reopenStandalone() throws {
        if generator.once(in: 2) {
            trace.append("close and open")
            try file.closeStandalone()
            if try SecureFile.open(store, TestVault.standaloneContext(cipher: cipher), path: "model").isOfOtherSession {
                throw Finding("a closed file counts as open for writing")
            }
        } else {
            trace.append("open after the process died")
            try file.settle()
        }
        if context.pendingByteCount != 0 { throw Finding("\(context.pendingByteCount) bytes counted as pending after a settle") }
        context = TestVault.standaloneContext(cipher: cipher, options: options)
        file = try SecureFile.openForWriting(store, context, path: "model")
        if file.isOfOtherSession { throw Finding("a file is not settled when it is opened for writing") }
    }

    private func makeContext(_ dead: Set<Int>) -> ContentContext {
        TestVault.context(session: session, dead: dead, cipher: cipher, options: options)
    }

    /// The whole content, and the map of data and holes as far as it must be so.
    private func compareAll() throws {
        var at: Int64 = 0
        let buffer = PageBuffer(count: 262_144)
        while at < model.size {
            let got = try file.read(at: ByteOffset(at), count: buffer.count, into: buffer)
            if let wrong = model.mismatch(buffer, got: got, at: at, count: buffer.count) { throw Finding(wrong) }
            at += Int64(buffer.count)
        }
        try compareMap()
    }

    private func compareMap() throws {
        var at = ByteOffset(0)
        while at.rawValue < model.size {
            guard let data = try file.nextData(at: at) else {
                try expectZero(from: at.rawValue, to: model.size)
                return
            }
            try expectZero(from: at.rawValue, to: data.rawValue)
            guard let hole = try file.nextHole(at: data), hole > data else { throw Finding("no hole after the data at \(data.rawValue)") }
            if hole.rawValue > model.size { throw Finding("a hole past the end at \(hole.rawValue)") }
            at = hole
        }
        if try file.nextData(at: ByteOffset(model.size)) != nil { throw Finding("data at the end of the file") }
    }

    private func expectZero(from: Int64, to: Int64) throws {
        for number in model.blocks.keys where number * 4096 < to && (number + 1) * 4096 > from {
            let range = Int(max(0, from - number * 4096))..<Int(min(4096, to - number * 4096))
            if !model.block(number).buffer.isZero(range) { throw Finding("block \(number) has data but is called a hole") }
        }
    }
}
