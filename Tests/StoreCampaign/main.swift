// Long tests of stores, each by its name:
//
//   store-campaign differential FOLDER [TRANSACTIONS] [SEED]   random transactions against plain SQLite: identical dumps
//   store-campaign kill FOLDER [ROUNDS] [SEED]                 a writer killed at random moments: what was committed is there
//   store-campaign race FOLDER [SECONDS]                       two processes write one store: no lost update
//   store-campaign sweep FOLDER                                a key change and a destruction killed at every system call (needs strace)
//   store-campaign bench FOLDER                                put and get a second, beside plain SQLite
import Foundation
import SecureFileCore
import SecureStoreCore
import TestSupport

func number(_ place: Int, _ fallback: Int) -> Int { CommandLine.arguments.count > place ? Int(CommandLine.arguments[place]) ?? fallback : fallback }

guard CommandLine.arguments.count > 2 else {
    say("usage: store-campaign differential|kill|race|bench FOLDER …")
    exit(2)
}
let folder = CommandLine.arguments[2]
do {
    switch CommandLine.arguments[1] {
    case "differential": try Differential.run(folder, transactions: number(3, 10_000), seed: UInt64(number(4, 1)))
    case "kill": try KillRounds.run(folder, rounds: number(3, 200), seed: UInt64(number(4, 1)))
    case "kill-writer": try KillRounds.write(folder, seed: UInt64(number(3, 1)))
    case "race": try Race.run(folder, seconds: number(3, 30))
    case "race-writer": try Race.write(folder, name: CommandLine.arguments[3], seconds: number(4, 30))
    case "sweep": try Sweep.run(folder)
    case "sweep-change": try Sweep.change(folder)
    case "sweep-destroy": try Sweep.destroy(folder)
    case "bench": try Bench.run(folder)
    default: throw Finding("unknown test")
    }
} catch {
    say("FAILED: \(error)")
    exit(1)
}
