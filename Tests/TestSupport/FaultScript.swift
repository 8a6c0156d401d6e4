import SecureFileCore

/// A scripted case in which one call of the store fails.
public struct FaultScript: Sendable {
    public var script: CrashScript
    public var past: CrashScript.Past
    public var kinds: FaultyByteStore.Kinds
    public var fault: FaultyByteStore.Fault
    public var atOnce: Bool
    public var usesCrew = false
    public var cipher: CipherKind = .aes256GCM
    /// The most states judged at one sync, as what a loss of power may leave after the fault; 0: none.
    public var crashStates = 0

    public init(_ script: CrashScript, _ past: CrashScript.Past, _ kinds: FaultyByteStore.Kinds, _ fault: FaultyByteStore.Fault, atOnce: Bool) {
        (self.script, self.past, self.kinds, self.fault, self.atOnce) = (script, past, kinds, fault, atOnce)
    }

    /// Lets the 1st, 2nd, … call fail, each in a run of its own, until one runs clean. Returns the number of runs.
    public func sweep() throws(Finding) -> Int {
        for number in 0..<10_000 {
            do {
                if try !run(failing: number) { return number + 1 }
            } catch {
                throw Finding(
                    "\(script.name), \(past), at once \(atOnce), call \(number) fails with \(fault.error) after \(fault.written)/256"
                        + "\(fault.isPersistent ? ", for ever" : ""): \(error)")
            }
        }
        throw Finding("\(script.name): no end of calls")
    }

    /// Returns whether a call failed.
    private func run(failing number: Int) throws -> Bool {
        var options = ContentContext.Options()
        options.writesNewDataAtOnce = atOnce
        options.cachedGroupsPerFile = atOnce ? 2048 : 0
        options.keepsModificationTimes = atOnce
        options.crew = usesCrew ? TestVault.patientCrew : nil
        options.assumedBarrierTime = atOnce ? 0 : .max
        options.smallestBatch = 8192
        let isReopened = past != .nothingOwed && past != .sameInstance
        let prepared = isReopened ? try script.prepare(past: past, cipher: cipher, options: options) : nil
        let crashing = prepared?.store ?? CrashingByteStore()
        let (session, dead, model) = (prepared?.session ?? 1, prepared?.dead ?? [], prepared?.model ?? ModelFile())
        let store = FaultyByteStore(crashing)
        let watch = CrashWatch(
            seed: UInt64(number), statesPerPoint: max(1, crashStates), confirmed: model,
            judge: CrashJudge(cipher: cipher, session: session + 1, dead: dead.union([session])))
        let context = TestVault.context(session: session, dead: dead, cipher: cipher, options: options)
        defer {
            crashing.observe(nil)
            context.forgetFiles()
        }
        var run = FaultRun(store: store, context: context, watch: watch, model: model, expected: fault.error)
        if past == .sameInstance {
            try run.open()
            for action in script.before { try run.perform(action) }
            try run.perform(.synchronize)
        }
        if crashStates > 0 { crashing.observe { watch.judge($0) } }
        store.failCall(number, of: kinds, with: fault)
        if past != .sameInstance { try run.open() }
        if past == .nothingOwed { for action in script.before { try run.perform(action) } }
        for action in script.lost + script.actions { try run.perform(action) }
        try watch.check()
        if crashStates > 0 { watch.judge(crashing.crashPoint) }
        try watch.check()
        let hasFailed = store.failureCount > 0
        store.heal()
        try run.finish()
        // As after a clean end: strictly, in the next session (a file of a dead session stays lenient).
        let judge = CrashJudge(cipher: cipher, session: session + 1, dead: dead)
        do { try judge.judge(crashing.present, AllowedStates(confirmed: run.model)) } catch { throw Finding("reopened: \(error)") }
        return hasFailed
    }
}

/// The file of a script while calls may fail, and what it is known to read as.
struct FaultRun {
    let store: FaultyByteStore
    let context: ContentContext
    let watch: CrashWatch
    var model: ModelFile
    let expected: Errno
    private var file: SecureFile?

    init(store: FaultyByteStore, context: ContentContext, watch: CrashWatch, model: ModelFile, expected: Errno) {
        (self.store, self.context, self.watch, self.model, self.expected) = (store, context, watch, model, expected)
    }

    /// Opens the file; again, if a call fails.
    mutating func open() throws {
        do { file = try SecureFile.open(store, context, path: "file") } catch {
            try check(error)
            if store.failureCount == 0 { throw Finding("opening failed without a fault") }
            store.heal()
            file = try SecureFile.open(store, context, path: "file")
        }
    }

    mutating func perform(_ action: FileAction) throws {
        guard let file else { return }
        var next = model
        action.apply(to: &next)
        watch.begin(next)
        let failures = store.failureCount
        do {
            try action.perform(on: file, comparing: model)
            model = next
            if case .synchronize = action { watch.confirm() }
        } catch let error as Finding {
            throw error
        } catch {
            try check(error)
            if store.failureCount == failures { throw Finding("\(action) failed without a fault: \(error)") }
            do { model = try ModelFile(reading: file, model, or: next) } catch { throw Finding("after \(action) failed: \(error)") }
            watch.begin(model)
        }
        let size = file.size.rawValue
        if size != model.size { throw Finding("after \(action): size \(size), not \(model.size)") }
    }

    private func check(_ error: any Error) throws {
        guard let error = error as? SecureFileError else { throw Finding("an error of another type: \(error)") }
        let code: SecureFileError.Code = expected == .noSpace || expected.rawValue == 122 ? .noSpace : .system
        if error.code != code || error.cause != expected { throw Finding("the error is \(error.code.name), \(error), not \(code.name), \(expected)") }
    }

    /// With the fault gone all is well, and nothing is left over.
    mutating func finish() throws {
        guard let file else { return }
        do { _ = try ModelFile(reading: file, AllowedStates(confirmed: model)) } catch { throw Finding("with the fault gone: \(error)") }
        try file.synchronize()
        watch.confirm()
        do { _ = try ModelFile(reading: file, AllowedStates(confirmed: model)) } catch { throw Finding("after the sync: \(error)") }
        try file.settle()
        if file.hasPendingWrites { throw Finding("unsettled after a settle") }
        if context.pendingByteCount != 0 { throw Finding("\(context.pendingByteCount) bytes counted as pending after a settle") }
        if !context.unsettledFiles.isEmpty { throw Finding("still on the list of unsettled files") }
        try watch.check()
    }
}
