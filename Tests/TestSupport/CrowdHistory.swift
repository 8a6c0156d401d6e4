import SecureFileCore

/// A random history of several files that are settled together, with one sync of the whole filesystem for all of them; what a loss of power
/// may leave of each is judged at every sync.
public struct CrowdHistory {
    private struct Member {
        let store: CrashingByteStore
        let faulty: FaultyByteStore
        let watch: CrashWatch
        let file: SecureFile
        let mixture: ActionMixture
        var model = ModelFile()
    }

    private var generator: SeededGenerator
    private let seed: UInt64
    private var members: [Member] = []
    private let context: ContentContext
    /// Half of the files are lengthened ahead.
    private let growth = TestVault.growth()
    private var trace: [String] = []

    public init(seed: UInt64, statesPerPoint: Int) throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        var options = ContentContext.Options()
        options.writesNewDataAtOnce = generator.once(in: 2)
        options.cachedGroupsPerFile = generator.pick([0, 2048])
        options.keepsModificationTimes = generator.once(in: 2)
        options.crew = generator.pick([nil, TestVault.patientCrew])
        options.assumedBarrierTime = generator.pick([0, .max])
        options.smallestBatch = generator.pick([8192, 4 << 20])
        let past = TestVault.context(session: 1)
        context = TestVault.context(session: 2, options: options)
        for _ in 0..<generator.number(2..<6) {
            // Files of a session that ended cleanly.
            let memory = MemoryByteStore()
            let first = SecureFile.create(memory, past, path: "file")
            var model = ModelFile()
            let before = FileAction.write(at: 0, count: generator.pick([1, 100, 5000, 300_000]), seed: generator.next())
            try before.perform(on: first)
            before.apply(to: &model)
            try first.synchronize()
            let store = CrashingByteStore(memory.image)
            let faulty = FaultyByteStore(store)
            let watch = CrashWatch(
                seed: generator.next(), statesPerPoint: statesPerPoint, confirmed: model,
                judge: CrashJudge(cipher: .aes256GCM, session: 3, dead: [2]))
            store.observe { watch.judge($0) }
            let layer: any ByteStore = generator.once(in: 2) ? AheadByteStore(faulty, length: memory.length(), growth) : faulty
            let mixture = ActionMixture(&generator, limit: generator.pick([4500, 13_000, 540_000]), reads: true)
            members.append(
                Member(
                    store: store, faulty: faulty, watch: watch, file: try SecureFile.open(layer, context, path: "file"),
                    mixture: mixture, model: model))
        }
    }

    /// Returns the number of states judged.
    public mutating func run() throws(Finding) -> Int {
        do {
            for _ in 0..<generator.number(5..<40) {
                if generator.once(in: 6) { try settleAll() } else { try act() }
            }
            for member in members { member.faulty.heal() }
            try settleAll()
            try end()
        } catch { throw Finding("SEED=\(seed): \(error)\n  " + trace.suffix(40).joined(separator: "\n  ")) }
        return members.reduce(0) { $0 + $1.watch.states }
    }

    private mutating func act() throws {
        let number = generator.number(0..<members.count)
        let member = members[number]
        if generator.once(in: 40) {
            let fault = FaultyByteStore.Fault(.inputOutput, written: generator.number(0..<257), keepsPagesWhole: true)
            member.faulty.failCall(generator.number(0..<8), of: .changes, with: fault)
            trace.append("file \(number): a call will fail")
        }
        let action = member.mixture.next(&generator, size: member.model.size)
        trace.append("file \(number): \(action)")
        var next = member.model
        action.apply(to: &next)
        member.watch.begin(next)
        let failures = member.faulty.failureCount
        do {
            try action.perform(on: member.file, comparing: member.model)
            members[number].model = next
            if case .synchronize = action { member.watch.confirm() }
        } catch {
            if error is Finding || member.faulty.failureCount == failures { throw error }
            try observe(number, or: next)
        }
        try member.watch.check()
    }

    private mutating func observe(_ number: Int, or next: ModelFile) throws {
        members[number].model = try ModelFile(reading: members[number].file, members[number].model, or: next)
        members[number].watch.begin(members[number].model)
    }

    private mutating func settleAll() throws {
        let stores = members.map(\.store)
        let fails = generator.once(in: 6)
        let failures = members.reduce(0) { $0 + $1.faulty.failureCount }
        trace.append(fails ? "settle all; the second sync fails" : "settle all")
        var count = 0
        do {
            try context.settleAll { () throws(Errno) in
                count += 1
                if fails && count == 2 { throw .inputOutput }
                for store in stores { store.becomeDurable() }
            }
        } catch {
            if !(fails && count == 2) && members.reduce(0, { $0 + $1.faulty.failureCount }) == failures { throw error }
        }
        for (number, member) in members.enumerated() {
            try member.watch.check()
            do { _ = try ModelFile(reading: member.file, AllowedStates(confirmed: member.model)) } catch {
                throw Finding("file \(number) after all were settled: \(error)")
            }
        }
    }

    private mutating func end() throws {
        try growth.end()
        try context.settleAll { () throws(Errno) in for member in members { member.store.becomeDurable() } }
        if !context.unsettledFiles.isEmpty { throw Finding("\(context.unsettledFiles.count) files are unsettled after a settle") }
        if context.pendingByteCount != 0 { throw Finding("\(context.pendingByteCount) bytes counted as pending after a settle") }
        for member in members {
            member.watch.judge(member.store.crashPoint)
            try member.watch.check()
            member.store.observe(nil)
            // A clean end: strict in the next session.
            try CrashJudge(cipher: .aes256GCM, session: 3, dead: []).judge(member.store.present, AllowedStates(confirmed: member.model))
            let again = try SecureFile.open(MemoryByteStore(member.store.present), TestVault.context(session: 3), path: "file")
            if again.backingDisagreed { throw Finding("a backing file does not have its length") }
        }
        context.forgetFiles()
    }
}
