import SecureFileCore
import Synchronization

/// A random history of one file over several sessions, each of which ends cleanly or by a loss of power, with all that a loss of power could
/// have left judged at every sync.
public struct CrashHistory {
    /// What is counted over a run.
    public struct Tally: Sendable {
        public var states = 0
        public var points = 0
        public init() {}
    }

    private var generator: SeededGenerator
    private let seed: UInt64
    private let statesPerPoint: Int
    private let limit: Int64
    private var mixture: ActionMixture
    private let cipher: CipherKind
    /// The file is outside of a vault.
    private let isStandalone: Bool
    private var options = ContentContext.Options()
    /// Something was given up by a lock by force: the session does not end as clean.
    private var hasGivenUp = false
    /// Lies over the store in half of the sessions in a vault.
    private var ahead: AheadByteStore?
    private var session = 0
    private var dead: Set<Int> = []
    private var image = PageImage()
    private var model = ModelFile()
    private var trace: [String] = []
    private var tally = Tally()

    /// `statesPerPoint`: the most states that are judged at one sync.
    public init(seed: UInt64, statesPerPoint: Int) {
        self.seed = seed
        self.statesPerPoint = statesPerPoint
        generator = SeededGenerator(seed: seed)
        limit = generator.pick([4500, 13_000, 280_000, 540_000, 1_600_000])
        mixture = ActionMixture(&generator, limit: limit, reads: false)
        cipher = generator.pick(CipherKind.allCases)
        isStandalone = generator.once(in: 3)
    }

    private var judge: CrashJudge { CrashJudge(cipher: cipher, session: session + 1, dead: dead, isStandalone: isStandalone) }

    /// Runs 1 to 5 sessions.
    public mutating func run() throws(Finding) -> Tally {
        do {
            for _ in 0..<generator.number(1..<6) { try runSession() }
            // Whatever happened: a checker settles it, and strict reading with no session dead gives the same.
            try judge.judge(image, AllowedStates(confirmed: model), settling: true)
        } catch {
            throw Finding("SEED=\(seed): \(error)\n  " + trace.suffix(40).joined(separator: "\n  "))
        }
        return tally
    }

    private mutating func runSession() throws {
        session += 1
        options.writesNewDataAtOnce = generator.once(in: 2)
        options.pendingLimitPerFile = generator.pick([0, 8192, 64 << 20, 64 << 20])
        options.cachedGroupsPerFile = generator.pick([0, 1, 2048])
        options.crew = generator.pick([nil, TestVault.patientCrew])
        options.assumedBarrierTime = generator.pick([0, .max])
        options.smallestBatch = generator.pick([8192, 4 << 20])
        hasGivenUp = false
        trace.append("session \(session)\(isStandalone ? ", outside of a vault" : "")")
        let store = CrashingByteStore(image)
        if generator.once(in: 3) { store.powerOff(after: generator.number(0..<40)) }
        let faulty = FaultyByteStore(store)
        if generator.once(in: 3) { failOneCall(of: faulty) }
        let watch = CrashWatch(
            seed: generator.next(), statesPerPoint: statesPerPoint, confirmed: model,
            judge: CrashJudge(cipher: cipher, session: session + 1, dead: dead.union([session]), isStandalone: isStandalone))
        store.observe { point in watch.judge(point) }
        defer { store.observe(nil) }
        let context = isStandalone
            ? TestVault.standaloneContext(cipher: cipher, options: options)
            : TestVault.context(session: session, dead: dead, cipher: cipher, options: options)
        defer { context.forgetFiles() }
        ahead = !isStandalone && generator.once(in: 2) ? AheadByteStore(faulty, length: image.length, TestVault.growth()) : nil
        defer { ahead = nil }
        do {
            var file = try opened(faulty, context)
            for _ in 0..<generator.number(1..<12) { try act(&file, faulty, store, context, watch) }
            faulty.heal()
            try end(file, store, watch)
        } catch let error as Finding {
            throw error
        } catch {
            guard store.isOff else { throw error }
            try watch.check()
            try crash(store, watch)
        }
        tally.states += watch.states
        tally.points += watch.points
    }

    private mutating func failOneCall(of store: FaultyByteStore) {
        let fault = FaultyByteStore.Fault(
            generator.pick([.inputOutput, .noSpace]), written: generator.number(0..<257), keepsPagesWhole: true,
            isPersistent: generator.once(in: 4))
        let number = generator.number(0..<25)
        trace.append("call \(number) will fail with \(fault.error)\(fault.isPersistent ? ", for ever" : "")")
        store.failCall(number, of: fault.isPersistent ? .changes : .all, with: fault)
    }

    private mutating func opened(_ store: FaultyByteStore, _ context: ContentContext) throws -> SecureFile {
        // As a mount does for a program that only writes.
        if !isStandalone, dead.isEmpty, generator.once(in: 2) {
            trace.append("  unread")
            return try SecureFile.openUnread(ahead ?? store, context, path: "file", size: ByteCount(model.size))
        }
        do { return try open(store, context) } catch {
            if store.failureCount == 0 { throw error }
            store.heal()
            return try open(store, context)
        }
    }

    private func open(_ store: FaultyByteStore, _ context: ContentContext) throws -> SecureFile {
        isStandalone ? try SecureFile.openForWriting(store, context, path: "file") : try SecureFile.open(ahead ?? store, context, path: "file")
    }

    /// The key goes and comes back. Locked, the file is durable as it is.
    private mutating func lockAndUnlock(_ store: FaultyByteStore, _ context: ContentContext, _ watch: CrashWatch) throws {
        trace.append("lock and unlock")
        // Without one sync for all, each file is synced by itself.
        try context.lock(barrier: generator.once(in: 2) && !isStandalone ? { () throws(Errno) in try store.synchronize(attributes: false) } : nil)
        watch.confirm()
        try context.unlock(TestVault.contentKey, keyID: TestVault.keyID)
        try watch.check()
    }

    /// The same, where what cannot be written is given up: the file is then what is in the store, which must be something it was since.
    private mutating func lockByForce(
        _ file: SecureFile, _ store: FaultyByteStore, _ crashing: CrashingByteStore, _ context: ContentContext, _ watch: CrashWatch
    ) throws {
        trace.append("lock by force and unlock")
        let failures = store.failureCount
        try context.lock(
            discardingUnwritten: true,
            barrier: generator.once(in: 2) && !isStandalone ? { () throws(Errno) in try store.synchronize(attributes: false) } : nil)
        if crashing.isOff { throw Errno.inputOutput }
        if store.failureCount == failures { watch.confirm() } else { hasGivenUp = true }
        store.heal()
        try context.unlock(TestVault.contentKey, keyID: TestVault.keyID)
        do {
            _ = try file.knownSize()
            model = try ModelFile(reading: file, watch.allowed)
        } catch {
            if crashing.isOff { throw Errno.inputOutput }
            // Outside of a vault a first page that was never written is no file of ours: the program makes it anew.
            guard isStandalone, judge.isMissing(crashing.present, watch.allowed) else { throw Finding("after a lock by force: \(error)") }
            try file.truncate(to: .zero)
            model = ModelFile()
        }
        watch.begin(model)
        try watch.check()
    }

    private mutating func act(
        _ file: inout SecureFile, _ store: FaultyByteStore, _ crashing: CrashingByteStore, _ context: ContentContext, _ watch: CrashWatch
    ) throws {
        let failures = store.failureCount
        if generator.once(in: 10) {
            trace.append("reopen in the same session")
            do {
                if isStandalone { try file.closeStandalone() } else { try file.settle() }
                if let old = ahead {
                    try old.endAhead()
                    ahead = AheadByteStore(store, length: try store.length(), TestVault.growth())
                }
                file = try opened(store, context)
            } catch { if store.failureCount == failures { throw error } }
            return
        }
        if generator.once(in: 20) { return try lockByForce(file, store, crashing, context, watch) }
        if generator.once(in: 10) {
            do { try lockAndUnlock(store, context, watch) } catch {
                if error is Finding || store.failureCount == failures { throw error }
            }
            return
        }
        let action = mixture.next(&generator, size: model.size)
        trace.append(action.description)
        var next = model
        action.apply(to: &next)
        watch.begin(next)
        do {
            try action.perform(on: file)
            model = next
            if case .synchronize = action { watch.confirm() }
        } catch {
            if store.failureCount == failures { throw error }
            trace.append("  failed: \(error)")
            model = try ModelFile(reading: file, model, or: next)
            watch.begin(model)
        }
        try watch.check()
    }

    private mutating func end(_ file: SecureFile, _ store: CrashingByteStore, _ watch: CrashWatch) throws {
        if generator.once(in: 2) {
            trace.append("power off")
            return try crash(store, watch)
        }
        trace.append("clean end")
        if isStandalone {
            try file.closeStandalone()
        } else {
            try file.synchronize()
            watch.confirm()
            try file.settle()
            try ahead?.endAhead()
        }
        store.becomeDurable()
        try watch.check()
        image = store.present
        if hasGivenUp, !isStandalone { dead.insert(session) }
        // Nothing is pending: under the rules of the next session it is what it was, strictly where no dead session is named.
        try judge.judge(image, AllowedStates(confirmed: model))
    }

    /// The power goes; the session after it finds one of the possible states, and syncs it once.
    private mutating func crash(_ store: CrashingByteStore, _ watch: CrashWatch) throws {
        watch.judge(store.crashPoint)
        try watch.check()
        dead.insert(session)
        image = CrashStates(store.crashPoint).draw(&generator)
        model = try judge.judge(image, watch.allowed)
        if isStandalone, model.size == 0 { image = PageImage() }  // what cannot be opened has been removed
        trace.append("power off; the file has \(model.size) bytes, the backing \(image.length)")
        if !isStandalone, generator.once(in: 4) {
            session += 1
            trace.append("settled by a checker in session \(session)")
            let settled = MemoryByteStore(image)
            try SecureFile.open(settled, TestVault.context(session: session, dead: dead, cipher: cipher), path: "file").settleForGood()
            image = settled.image
            dead = []
        }
    }
}

/// Judges crash points while a history runs; called from inside the engine's syncs.
public final class CrashWatch: Sendable {
    private struct State {
        var generator: SeededGenerator
        var allowed: AllowedStates
        var failure: Finding?
        var states = 0
        var points = 0
        /// Of the last confirmed state; nil: to be found in the durable state, which is the confirmed one.
        var stale: StaleEntries?
    }
    private let state: Mutex<State>
    private let judge: CrashJudge
    private let statesPerPoint: Int

    public init(seed: UInt64, statesPerPoint: Int, confirmed: ModelFile, judge: CrashJudge) {
        state = Mutex(State(generator: SeededGenerator(seed: seed), allowed: AllowedStates(confirmed: confirmed)))
        self.judge = judge
        self.statesPerPoint = statesPerPoint
    }

    public var states: Int { state.withLock { $0.states } }
    public var points: Int { state.withLock { $0.points } }
    public var allowed: AllowedStates { state.withLock { $0.allowed } }

    public func begin(_ next: ModelFile) { state.withLock { $0.allowed.add(next) } }
    public func confirm() {
        state.withLock {
            $0.allowed.confirm()
            $0.stale = nil
        }
    }

    /// Throws what was found since.
    public func check() throws(Finding) { if let failure = state.withLock({ $0.failure }) { throw failure } }

    /// Judges all states of `point`, or a sample of them.
    public func judge(_ point: CrashPoint) {
        state.withLock { state in
            if state.failure != nil { return }
            state.points += 1
            do throws(Finding) { try checkStaleEntries(point, &state) } catch {
                state.failure = error
                return
            }
            let possible = CrashStates(point)
            let all = possible.count <= statesPerPoint
            for number in 0..<(all ? possible.count : statesPerPoint) {
                let image = all ? possible.state(number) : possible.draw(&state.generator)
                state.states += 1
                do {
                    try judge.judge(image, state.allowed, settling: state.states % 16 == 0)
                } catch {
                    state.failure = Finding("state \(number) of \(possible.count), \(point.effectCount) effects: \(error)")
                    return
                }
            }
        }
    }

    private func checkStaleEntries(_ point: CrashPoint, _ state: inout State) throws(Finding) {
        let stale = state.stale ?? StaleEntries(in: point.durable, judge)
        state.stale = stale
        try stale.check(point)
    }
}
