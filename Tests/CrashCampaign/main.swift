// The long campaigns: what `swift test` does in small, in a release build. scripts/crash-campaign builds and runs this.
//
// usage: crash-campaign crash|crowd|model|scripts|faults [SEED [COUNT [STEPS]]]     exit 1: a violation was found; the first five are printed
import Glibc
import SecureFileCore
import TestSupport

struct Campaign {
    private(set) var failures = 0
    private(set) var steps = 0
    private(set) var runs = 0

    mutating func attempt(_ body: () throws -> Int) {
        runs += 1
        do { steps += try body() } catch {
            failures += 1
            if failures <= 5 { print(error) }
        }
    }

    /// Every call of every script fails once, in every way; what a loss of power may leave at any later sync is judged, too.
    mutating func runFaults() {
        let faults: [FaultyByteStore.Fault] = [
            .init(.inputOutput), .init(.noSpace, written: 128, keepsPagesWhole: true), .init(.inputOutput, written: 256),
            .init(.inputOutput, written: 200, keepsPagesWhole: true, isPersistent: true), .init(.noSpace, isPersistent: true),
        ]
        for script in CrashScript.all {
            for past in CrashScript.Past.allCases {
                for fault in faults {
                    for atOnce in [false, true] {
                        attempt {
                            var run = FaultScript(script, past, fault.isPersistent ? .changes : .all, fault, atOnce: atOnce)
                            run.crashStates = 64
                            run.usesCrew = atOnce != (fault.error == .noSpace)
                            return try run.sweep()
                        }
                    }
                }
            }
        }
    }

    mutating func runScripts() {
        for script in CrashScript.all {
            for past in CrashScript.Past.allCases {
                for atOnce in [false, true] {
                    attempt {
                        do { return try script.run(past: past, cipher: .aes256GCM, atOnce: atOnce, limit: 1 << 14) } catch {
                            throw Finding("\(script.name), \(past), new data at once \(atOnce): \(error)")
                        }
                    }
                }
            }
        }
    }
}

let arguments = CommandLine.arguments.dropFirst()
let kind = arguments.first ?? "crash"
let seed = UInt64(arguments.dropFirst().first ?? "1") ?? 1
let count = UInt64(arguments.dropFirst(2).first ?? "1000") ?? 1000
let steps = Int(arguments.dropFirst(3).first ?? "200") ?? 200
var campaign = Campaign()

switch kind {
case "crash":
    for seed in seed..<seed + count {
        campaign.attempt {
            var history = CrashHistory(seed: seed, statesPerPoint: 64)
            return try history.run().states
        }
    }
case "crowd":
    for seed in seed..<seed + count {
        campaign.attempt {
            var history = try CrowdHistory(seed: seed, statesPerPoint: 32)
            return try history.run()
        }
    }
case "model":
    for seed in seed..<seed + count {
        campaign.attempt {
            var history = ModelHistory(seed: seed)
            try history.run(steps: steps)
            return steps
        }
    }
case "faults": campaign.runFaults()
default: campaign.runScripts()
}
print("\(kind): \(campaign.runs) runs from seed \(seed), \(campaign.steps) states or steps, \(campaign.failures) with a violation")
exit(campaign.failures == 0 ? 0 : 1)
