import SecureFileCore
import TestSupport
import Testing

/// The random histories, in small; scripts/crash-campaign runs them for long. SEED= runs one seed, MODEL_STEPS= longer model histories.
struct HistoryTests {
    @Test func againstTheModel() throws {
        let steps = environmentNumber("MODEL_STEPS").map { Int($0) } ?? 100
        for seed in seeds(from: 1, count: 60) {
            var history = ModelHistory(seed: seed)
            try history.run(steps: steps)
        }
    }

    @Test func lossesOfPower() throws {
        var states = 0
        for seed in seeds(from: 1, count: 400) {
            var history = CrashHistory(seed: seed, statesPerPoint: 12)
            states += try history.run().states
        }
        #expect(states > 1000 || environmentNumber("SEED") != nil, "the histories judge hardly anything")
    }

    @Test func lossesOfPowerWithSeveralFilesSettledTogether() throws {
        for seed in seeds(from: 1, count: 60) {
            var history = try CrowdHistory(seed: seed, statesPerPoint: 8)
            _ = try history.run()
        }
    }

    @Test(arguments: CrashScript.all)
    func everyLossOfPowerInASmallCase(script: CrashScript) throws {
        for past in CrashScript.Past.allCases {
            for atOnce in [false, true] {
                do { try script.run(past: past, cipher: .aes256GCM, atOnce: atOnce, limit: 128) } catch {
                    Issue.record("\(script.name), \(past), new data at once: \(atOnce): \(error)")
                }
            }
        }
    }
}

/// Every call of the store fails once, in every small case.
struct FaultTests {
    private static let faults: [FaultyByteStore.Fault] = [
        .init(.inputOutput), .init(.noSpace, written: 128, keepsPagesWhole: true), .init(.inputOutput, written: 100),
        .init(.noSpace, written: 256, isPersistent: true), .init(Errno(rawValue: 122), isPersistent: true), .init(.interrupted, written: 30),
    ]

    @Test(arguments: CrashScript.all)
    func everyCallFails(script: CrashScript) throws {
        for (number, fault) in Self.faults.enumerated() {
            // Not every past with every fault here: the campaign does that.
            let pasts = CrashScript.Past.allCases
            var run = FaultScript(
                script, pasts[number % pasts.count], fault.isPersistent ? .changes : .all, fault, atOnce: number % 2 == 0)
            run.usesCrew = number % 3 > 0
            // What a torn page leaves is nothing the format promises to survive together with a loss of power.
            run.crashStates = fault.keepsPagesWhole || fault.written == 0 ? 4 : 0
            do { _ = try run.sweep() } catch { Issue.record("\(error)") }
        }
    }

    @Test func aFailingSyncIsReportedAndNoted() throws {
        let store = FaultyByteStore(MemoryByteStore())
        let context = TestVault.context(session: 1)
        let file = SecureFile.create(store, context, path: "file")
        let content = try file.write(5000, at: 0, seed: 1)
        store.failCall(0, of: .synchronize, with: .init(.inputOutput))
        expectError(.system) { try file.synchronize() }
        #expect(context.hasFailed, "the session must not end as clean")
        #expect(try file.allBytes == content)
        try file.synchronize()
        #expect(try file.allBytes == content)
    }

    @Test func aFullDiskIsNotedAsHarmless() throws {
        let store = FaultyByteStore(MemoryByteStore())
        let context = TestVault.context(session: 1)
        let file = SecureFile.create(store, context, path: "file")
        try file.write(100, at: 0, seed: 1)
        store.failCall(0, of: .write, with: .init(.noSpace))
        expectError(.noSpace) { try file.synchronize() }
        #expect(!context.hasFailed)
        try file.synchronize()
    }

    @Test func aReadThatFailsReleasesNothing() throws {
        let store = FaultyByteStore(MemoryByteStore())
        let file = SecureFile.create(store, TestVault.context(session: 1), path: "file")
        try file.write(20_000, at: 0, seed: 1)
        try file.synchronize()
        let buffer = PageBuffer(count: 20_000)
        buffer.fill(0..<20_000, seed: 5)
        store.failCall(1, of: .read, with: .init(.inputOutput))
        expectError(.system) { try file.read(at: ByteOffset(100), count: 19_000, into: buffer) }
        #expect(buffer.isZero(0..<19_000))
    }
}
