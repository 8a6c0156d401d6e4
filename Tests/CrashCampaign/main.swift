import SecureFileCore
import TestSupport
var failures = 0
let kind = CommandLine.arguments[1]
let first = UInt64(CommandLine.arguments.dropFirst(2).first ?? "1") ?? 1
let number = UInt64(CommandLine.arguments.dropFirst(3).first ?? "2000") ?? 1
var states = 0
for seed in first..<first + number {
    do {
        if kind == "model" {
            var history = ModelHistory(seed: seed)
            try history.run(steps: 120)
        } else {
            var history = CrashHistory(seed: seed, statesPerPoint: 24)
            states += try history.run().states
        }
    } catch { failures += 1; if failures < 40 { print(error) } }
}
print("failures", failures, "states", states)
