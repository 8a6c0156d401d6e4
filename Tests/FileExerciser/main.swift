// Random operations on files of one folder, in lockstep with a model in memory: scripts/file-exerciser says how it is run.
//
//   file-exerciser FOLDER [--operations N] [--seed S] [--files K] [--workers W] [--remounts R] [--remount COMMAND]
//
// A failure shows the seed, what differs, and the last thirty operations of the worker that found it. Ends with 0, or with 1 after a failure.
import CLinux
import Dispatch
import Foundation
import Synchronization

struct Arguments {
    var folder = ""
    var operations = 20_000
    var seed = UInt64.random(in: 0..<1 << 31)
    var files = 12
    var workers = 2
    var remounts = -1
    var remount: String?

    init(_ words: [String]) throws {
        var words = words[...]
        while let word = words.popFirst() {
            guard word.hasPrefix("--") else {
                folder = word
                continue
            }
            guard let value = words.popFirst() else { throw Failure("\(word): its value is missing") }
            func number() throws -> Int {
                guard let number = Int(value), number > 0 else { throw Failure("\(word): not a number above 0: \(value)") }
                return number
            }
            switch word {
            case "--operations": operations = try number()
            case "--seed": seed = UInt64(try number())
            case "--files": files = try number()
            case "--workers": workers = try number()
            case "--remounts": remounts = try number()
            case "--remount": remount = value
            default: throw Failure("unknown option: \(word)")
            }
        }
        guard !folder.isEmpty else { throw Failure("the folder is missing") }
        if remounts < 0 { remounts = max(3, operations / 20_000) }
    }
}

func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

func run(_ command: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw Failure("\(command): exit \(process.terminationStatus)") }
}

final class Flag: Sendable {
    private let value = Atomic(false)
    var isUp: Bool { value.load(ordering: .relaxed) }
    func raise() { value.store(true, ordering: .relaxed) }
}

func exercise(_ arguments: Arguments) throws -> Bool {
    let workers = try (0..<arguments.workers).map {
        try Worker(folder: "\(arguments.folder)/worker-\($0)", number: $0, seed: arguments.seed, files: arguments.files)
    }
    let stopped = Flag()
    let failures = Mutex<[String]>([])
    /// Each worker on a thread of its own; false when one failed.
    func together(_ body: @Sendable (Worker) throws -> Void) -> Bool {
        DispatchQueue.concurrentPerform(iterations: workers.count) { n in
            do { try body(workers[n]) } catch {
                stopped.raise()
                let steps = workers[n].history.map { "  " + $0.text }.joined(separator: "\n")
                failures.withLock { $0.append("worker \(n), operation \(workers[n].done): \(error)\nthe last operations:\n\(steps)") }
            }
        }
        return failures.withLock { $0.isEmpty }
    }

    let rounds = arguments.remounts + 1
    let share = max(1, arguments.operations / workers.count / rounds)
    for round in 1...rounds {
        let last = round == rounds
        guard together({ worker in
            try worker.run(share, stopped)
            if stopped.isUp { return }
            if last || round % 5 == 0 { try worker.compareAll("before a remount") }
            try worker.letGo()
        }) else { break }
        if let remount = arguments.remount { try run(remount) }
        guard together({ try $0.compareAll(last ? "at the end, after a remount" : "after a remount") }) else { break }
    }
    let found = failures.withLock { $0 }
    for failure in found { say("file-exerciser: FAILED: \(failure)") }
    guard found.isEmpty else { return false }
    var counts: [Operation: Int] = [:], refused: Set<Operation> = []
    for worker in workers {
        counts.merge(worker.counts) { $0 + $1 }
        refused.formUnion(worker.refused)
        try worker.letGo()
        try worker.remove()
    }
    let total = counts.values.reduce(0, +)
    say("file-exerciser: \(total) operations on \(arguments.workers * arguments.files) files, \(arguments.remount == nil ? 0 : rounds) remounts: nothing found"
        + (refused.isEmpty ? "" : "; not supported here: " + refused.map(\.rawValue).sorted().joined(separator: ", ")))
    if ProcessInfo.processInfo.environment["COUNTS"] != nil {
        say(counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", "))
    }
    return true
}

do {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    let how = "--files \(arguments.files) --workers \(arguments.workers) --remounts \(arguments.remounts)"
    say("file-exerciser: --seed \(arguments.seed) --operations \(arguments.operations) \(how)")
    exit(try exercise(arguments) ? 0 : 1)
} catch {
    say("file-exerciser: \(error)")
    exit(2)
}
