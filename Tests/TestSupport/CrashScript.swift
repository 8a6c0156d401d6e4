import SecureFileCore

/// A small case whose every possible loss of power is judged: what was there before, and what is done then.
public struct CrashScript: Sendable, CustomStringConvertible {
    public var name: String
    /// Done first, and made durable.
    public var before: [FileAction]
    /// Done next, by a session that a loss of power ends: what is judged is what the next session does with each state it may leave.
    public var lost: [FileAction] = []
    public var actions: [FileAction]
    public var description: String { name }

    /// Who did what was there before, as seen by the session in which the power goes.
    public enum Past: CaseIterable, Sendable {
        /// The same session, with the same instance open, synced.
        case sameInstance
        /// The same session; the file was opened anew.
        case sameSession
        /// A session that ended cleanly.
        case cleanSession
        /// A session that died: the file is read leniently.
        case deadSession
        /// Nothing of it was ever synced, same instance.
        case nothingOwed
    }

    private static let group: Int64 = 262_144
    private static func write(_ at: Int64, _ count: Int, _ seed: UInt64 = 7) -> FileAction { .write(at: at, count: count, seed: seed) }

    private static func appending(_ turn: Int) -> [FileAction] {
        [write(4000 + Int64(turn) * 1500, 1500, UInt64(10 + turn)), turn % 2 == 0 ? .flush : .settle]
    }

    public static let all: [CrashScript] = {
        var list: [CrashScript] = []
        func add(_ name: String, _ before: [FileAction], lost: [FileAction] = [], _ actions: [FileAction]) {
            list.append(CrashScript(name: name, before: before, lost: lost, actions: actions))
        }
        add("first write, inline", [], [write(0, 100)])
        add("first write, one block", [], [write(0, 4096), .flush])
        add("first write, three blocks", [], [write(0, 9000), .flush, .synchronize])
        add("overwrite one block", [write(0, 8192)], [write(4096, 4096, 8), .settle, .synchronize])
        add("overwrite twice", [write(0, 8192)], [write(0, 8192, 8), .settle, write(0, 8192, 9), .settle])
        add(
            "overwrite thrice, synced between", [write(0, 4096)],
            [write(0, 4096, 8), .synchronize, write(0, 4096, 9), .settle, write(1, 3, 10), .settle, .synchronize])
        add("part of a block", [write(0, 8192)], [write(5000, 10, 8), .settle, .synchronize])
        add("append inside the tail block", [write(0, 5000)], [write(5000, 100, 8), .settle, .synchronize])
        add("append over the tail block and on", [write(0, 5000)], [write(5000, 9000, 8), .flush, .settle, write(14_000, 50, 9), .settle])
        add(
            "many appends", [write(0, 4000)],
            (0..<6).flatMap(appending))
        add("inline rewritten", [write(0, 1000)], [write(0, 1000, 8), .flush, .synchronize])
        add("inline grows", [write(0, 1000)], [write(1000, 1000, 8), .settle, .synchronize])
        add("inline shrinks", [write(0, 3000)], [.truncate(10), .settle, .synchronize, .truncate(500), .settle])
        add("inline shrinks and grows", [write(0, 3000)], [.truncate(10), .truncate(3500), .settle, .synchronize])
        add("out of the inline form by a write", [write(0, 3000)], [write(3000, 6000, 8), .settle, .synchronize])
        add("out of the inline form by an overwrite", [write(0, 3000)], [write(0, 5000, 8), .settle])
        add("out of the inline form by truncate", [write(0, 3000)], [.truncate(9000), .settle])
        add("out of the inline form into group 1", [write(0, 3000)], [write(group + 10, 5000, 8), .flush, .settle])
        add(
            "out of the inline form after changes in it", [write(0, 3000)],
            [.truncate(1), write(1, 50, 8), .flush, write(100, 4000, 9), .settle])
        add("shrink within a block", [write(0, 8192)], [.truncate(5000), .settle, .synchronize])
        add(
            "shrink, write past the end, shrink again", [write(0, 12_000)],
            [.truncate(5000), write(9000, 1000, 8), .truncate(6000), .settle, .truncate(12_000), .settle])
        add("shrink to a block", [write(0, 12_288)], [.truncate(4096), .flush, .settle, .synchronize])
        add(
            "shrink across groups and grow", [write(group - 4096, 12_288)],
            [.truncate(group - 2000), .synchronize, .truncate(group + 9000), .flush, .settle])
        add(
            "shrink across groups, grow far", [write(0, 10), write(group, 4096), write(2 * group, 4096)],
            [.truncate(5000), .synchronize, .truncate(40 * group), .flush, .synchronize])
        add(
            "shrink across groups and write there again", [write(group - 4096, 12_288)],
            [.truncate(4096), write(group, 4096, 8), .flush, write(group + 4096, 100, 9), .settle])
        add("punch a block", [write(0, 12_288)], [.punch(at: 4096, count: 4096), .settle, .synchronize])
        add("punch parts", [write(0, 12_288)], [.punch(at: 1000, count: 8000), .settle, .synchronize])
        add(
            "punch and write again", [write(0, 12_288)],
            [.punch(at: 4096, count: 4096), write(4096, 4096, 8), .flush, .settle, .synchronize, write(4096, 10, 9), .settle])
        add(
            "punch in group 1", [write(group, 12_288)],
            [.punch(at: group + 4096, count: 4096), .flush, write(group + 5000, 100, 9), .settle, .synchronize])
        add("zero a range past the end", [write(0, 6000)], [.zeroRange(at: 3000, count: 9000, keepSize: false), .settle, .synchronize])
        add("truncate to 0", [write(0, 9000)], [.truncate(0), .synchronize])
        add(
            "truncate to 0 and rewrite", [write(0, 9000)],
            [.truncate(0), write(0, 9000, 8), .flush, write(0, 10, 9), .settle, .synchronize])
        add(
            "truncate to 0 and rewrite, twice", [write(0, 9000)],
            [write(0, 4096, 6), .settle, .truncate(0), write(0, 100, 8), .flush, .truncate(0), write(0, 5000, 9), .settle])
        add("a hole is filled", [.truncate(20_000)], [write(8192, 4096, 8), .flush, write(4000, 300, 9), .settle])
        add("a hole in group 1 is filled", [write(group + 16_384, 100)], [write(group + 4096, 4096, 8), .flush, .settle, .synchronize])
        add(
            "a hole is filled, and overwritten before a sync", [write(0, 1), .truncate(20_000)],
            [write(8192, 4096, 8), .flush, write(8192, 4096, 9), .flush, .settle])
        add(
            "across groups", [write(group - 4096, 8192)],
            [write(group - 4096, 8192, 8), .settle, write(group - 100, 200, 9), .settle, .synchronize])
        add("append across groups", [write(0, 1), .truncate(group - 100)], [write(group - 100, 5000, 8), .flush, .settle])
        let manyGroups = (0..<6).map { write(Int64($0) * group + 4096, 8192) }
        let manyGroupsAgain = (0..<6).map { write(Int64($0) * group + 4096, 4096, UInt64(20 + $0)) }
        add(
            "overwrites in many groups", manyGroups,
            manyGroupsAgain + [.settle] + (0..<6).map { write(Int64($0) * group + 5000, 10, UInt64(30 + $0)) } + [.settle])
        add(
            "overwrites and punches in many groups", manyGroups,
            manyGroupsAgain + [.flush] + (0..<6).map { .punch(at: Int64($0) * group + 8192, count: 4096) } + [.flush]
                + (0..<6).map { write(Int64($0) * group + 8192, 4096, UInt64(40 + $0)) } + [.settle])
        add(
            "a sparse file", [write(0, 100), .truncate(60 * group)],
            [write(40 * group, 4096, 8), .flush, write(40 * group + 5, 10, 9), .settle, .truncate(50), .settle])
        let tail = [write(0, 10), write(group, 12_288)]
        add(
            "a shrink in group 1 is lost in part, then growth", tail, lost: [.truncate(group + 5000), .flush],
            [.truncate(group + 9000), .flush, .settle])
        add(
            "a cut at a block in group 1 is lost in part, then growth", tail, lost: [.truncate(group + 4096), .flush],
            [write(group + 9000, 100, 9), .flush, .settle])
        add(
            "a shrink across groups is lost in part, then growth", tail, lost: [.truncate(5000), .synchronize, .truncate(100), .flush],
            [.truncate(3 * group), .flush, write(2 * group, 4096, 9), .settle])
        add(
            "growth into group 1 is lost in part, then growth", [write(0, 5000)], lost: [write(group, 12_288, 8), .flush],
            [.truncate(group + 5000), .flush, .settle])
        add(
            "an append is lost in part, then an overwrite", [write(0, 5000)], lost: [write(5000, 5000, 8), .settle],
            [write(4096, 4096, 9), .settle, write(4096, 10, 10), .settle])
        add(
            "an overwrite is lost in part, then others", [write(0, 8192)], lost: [write(0, 8192, 8), .settle, write(0, 8192, 9), .settle],
            [write(0, 4096, 10), write(5000, 10, 11), .settle, .punch(at: 0, count: 4096), .settle])
        add(
            "leaving the inline form is lost in part, then growth", [write(0, 3000)], lost: [write(group, 5000, 8), .flush],
            [write(3000, 3000, 9), .flush, .truncate(2 * group), .flush, .settle])
        add(
            "a rewrite is lost in part, then others", [write(0, 9000)], lost: [.truncate(0), write(0, 9000, 8), .flush, write(0, 100, 9), .settle],
            [write(4096, 8192, 10), .settle, .truncate(3), .settle])
        add(
            "everything at once", [write(0, 12_000)],
            [write(4096, 4096, 8), write(12_000, 600, 9), .punch(at: 0, count: 4096), .settle, .truncate(5000), .settle])
        return list
    }()

    /// Runs the case and judges everything a loss of power may leave; at a sync with more than `limit` states a sample of so many.
    /// Returns the number of states judged.
    @discardableResult
    public func run(past: Past, cipher: CipherKind, atOnce: Bool, limit: Int) throws -> Int {
        var options = ContentContext.Options()
        options.writesNewDataAtOnce = atOnce
        options.cachedGroupsPerFile = atOnce ? 2048 : 0
        let prepared = try prepare(past: past, cipher: cipher, options: options)
        defer { prepared.context.forgetFiles() }
        if lost.isEmpty { return try judge(prepared, cipher, limit) }

        let file = try prepared.file ?? SecureFile.open(prepared.store, prepared.context, path: name)
        var allowed = AllowedStates(confirmed: prepared.confirmed)
        allowed.add(prepared.model)
        var model = prepared.model
        for action in lost {
            try action.perform(on: file)
            action.apply(to: &model)
            allowed.add(model)
            if case .synchronize = action { allowed.confirm() }
        }
        return try judgeContinuations(of: prepared, allowed, cipher, options, limit)
    }

    /// Each state that the session after ``lost`` may find, or a sample, is the past of ``actions``.
    private func judgeContinuations(
        of prepared: Prepared, _ allowed: AllowedStates, _ cipher: CipherKind, _ options: ContentContext.Options, _ limit: Int
    ) throws -> Int {
        let states = CrashStates(prepared.store.crashPoint)
        var generator = SeededGenerator(seed: 1)
        let (session, dead) = (prepared.session + 1, prepared.dead.union([prepared.session]))
        let count = min(states.count, limit, 64)
        var judged = 0
        for number in 0..<count {
            let image = states.count == count ? states.state(number) : states.draw(&generator)
            let found = try CrashJudge(cipher: cipher, session: session, dead: dead).judge(image, allowed)
            var next = prepared
            next.store = CrashingByteStore(image)
            next.context = TestVault.context(session: session, dead: dead, cipher: cipher, options: options)
            defer { next.context.forgetFiles() }
            (next.file, next.session, next.dead, next.model, next.confirmed) = (nil, session, dead, found, found)
            do { judged += try judge(next, cipher, max(1, limit / count)) } catch { throw Finding("after state \(number) of \(count): \(error)") }
        }
        return judged
    }

    private func judge(_ prepared: Prepared, _ cipher: CipherKind, _ limit: Int) throws -> Int {
        let (store, session) = (prepared.store, prepared.session)
        let file = try prepared.file ?? SecureFile.open(store, prepared.context, path: name)
        var model = prepared.model
        let watch = CrashWatch(
            seed: 1, statesPerPoint: limit, confirmed: prepared.confirmed,
            judge: CrashJudge(cipher: cipher, session: session + 1, dead: prepared.dead.union([session])))
        watch.begin(model)
        store.observe { watch.judge($0) }
        defer { store.observe(nil) }
        for action in actions {
            action.apply(to: &model)
            watch.begin(model)
            try action.perform(on: file)
            if case .synchronize = action { watch.confirm() }
            try watch.check()
        }
        watch.judge(store.crashPoint)
        try watch.check()
        return watch.states
    }

    /// A file on which ``before`` was done.
    struct Prepared {
        var store: CrashingByteStore
        var context: ContentContext
        /// The instance, where it is to be used further.
        var file: SecureFile?
        var session: Int
        var dead: Set<Int>
        var model: ModelFile
        var confirmed: ModelFile
    }

    func prepare(past: Past, cipher: CipherKind, options: ContentContext.Options) throws -> Prepared {
        let store = CrashingByteStore()
        let context = TestVault.context(session: 1, cipher: cipher, options: options)
        let file = try SecureFile.open(store, context, path: name)
        var model = ModelFile()
        for action in before {
            try action.perform(on: file)
            action.apply(to: &model)
        }
        var prepared = Prepared(store: store, context: context, file: file, session: 1, dead: [], model: model, confirmed: model)
        if past == .nothingOwed {
            prepared.confirmed = ModelFile()
            return prepared
        }
        try file.synchronize()
        if past == .sameInstance { return prepared }
        try file.settle()
        prepared.file = nil
        if past == .sameSession { return prepared }
        prepared.store = CrashingByteStore(store.present)
        prepared.session = 2
        prepared.dead = past == .deadSession ? [1] : []
        context.forgetFiles()
        prepared.context = TestVault.context(session: 2, dead: prepared.dead, cipher: cipher, options: options)
        return prepared
    }
}
