import Foundation
import SecureFileCore
import TestSupport
import Testing

/// The same random calls on a secure handle and on Foundation's `FileHandle` over a plain file: the same bytes, positions, sizes and kinds of
/// error. The seed is printed; `SEED` gives it back, `STEPS` another number of steps.
@Suite struct HandleDifferentialTests {
    @Test func secureHandlesBehaveAsFileHandles() throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = VaultTestRandom.seed(20_261_130)
        let steps = environment["STEPS"].flatMap { Int($0) } ?? 100_000
        print("HandleDifferentialTests: SEED=\(seed) STEPS=\(steps)")
        var generator = SeededGenerator(seed: seed)
        var done = 0
        while done < steps {
            var run = try HandleComparison(generator.fork())
            let count = min(400, steps - done)
            do { try run.go(count) } catch { throw Finding("SEED=\(seed), step \(done) + \(error)") }
            done += count
        }
    }
}

/// What a call came to, as far as both kinds of handle can agree.
private enum Outcome: Equatable, CustomStringConvertible {
    case data(Data?)
    case number(UInt64)
    case done
    /// Closed, or not open for that: the two say it in other words.
    case closed, notOpenForThat, invalid
    case other(String)

    var description: String {
        switch self {
        case .data(let data): "\(data.map { "\($0.count) bytes \($0.prefix(8) as NSData)" } ?? "nil")"
        case .number(let number): "\(number)"
        case .done: "done"
        case .closed: "closed"
        case .notOpenForThat: "not open for that"
        case .invalid: "invalid"
        case .other(let text): text
        }
    }

    init(_ body: () throws -> Outcome) {
        do { self = try body() } catch let error as SecureFileError { self = Outcome(error) } catch { self = Outcome(foundation: error as NSError) }
    }

    private init(_ error: SecureFileError) {
        switch (error.code, error.cause) {
        case (.closed, _): self = .closed
        case (.invalidArgument, .badDescriptor?): self = .notOpenForThat
        case (.invalidArgument, _), (.limitExceeded, _): self = .invalid
        default: self = .other("\(error)")
        }
    }

    private init(foundation error: NSError) {
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError else {
            // What corelibs throws for a handle without a descriptor.
            self = error.domain == NSCocoaErrorDomain ? .closed : .other("\(error)")
            return
        }
        switch Int32(cause.code) {
        case EBADF: self = .notOpenForThat
        case EINVAL: self = .notOpenForThat  // ftruncate of a descriptor that is not open for writing
        default: self = .other("\(error)")
        }
    }
}

private struct HandleComparison {
    private var generator: SeededGenerator
    private let fixture: HandleFixture
    private let (plainPath, securePath): (String, String)
    private let limit: Int64
    /// Two of each: what one writes the other reads.
    private var pairs: [(plain: FileHandle, secure: SecureFileHandle, mode: SecureFileHandle.Mode)] = []
    private var trace: [String] = []

    init(_ generator: SeededGenerator) throws {
        var generator = generator
        fixture = try HandleFixture(inMemory: true)
        plainPath = fixture.path("plain")
        _ = FileManager.default.createFile(atPath: plainPath, contents: nil)
        securePath = try fixture.emptyFile("secure")
        limit = generator.pick([6000, 20_000, 300_000, 700_000])
        self.generator = generator
        pairs = [try open(.updating), try open(generator.pick([.updating, .reading, .writing]))]
    }

    private func open(_ mode: SecureFileHandle.Mode) throws -> (FileHandle, SecureFileHandle, SecureFileHandle.Mode) {
        let url = URL(fileURLWithPath: plainPath)
        let plain =
            switch mode {
            case .reading: try FileHandle(forReadingFrom: url)
            case .writing: try FileHandle(forWritingTo: url)
            case .updating: try FileHandle(forUpdating: url)
            }
        return (plain, try fixture.open(securePath, mode), mode)
    }

    mutating func go(_ count: Int) throws {
        for step in 0..<count {
            do { try once() } catch { throw Finding("\(step): \(error)\n  " + trace.suffix(20).joined(separator: "\n  ")) }
        }
        for pair in pairs {
            try pair.plain.close()
            try pair.secure.close()
        }
        let plain = try Data(contentsOf: URL(fileURLWithPath: plainPath))
        guard try fixture.content(securePath) == plain else { throw Finding("another content at the end\n  " + trace.suffix(20).joined(separator: "\n  ")) }
    }

    private mutating func once() throws {
        let which = generator.number(0..<pairs.count)
        if generator.once(in: 40) { return try reopen(which) }
        if generator.once(in: 60) {
            trace.append("lock and unlock")
            try fixture.services.lock()
            return try fixture.unlock()
        }
        let (plain, secure, _) = pairs[which]
        let (what, onPlain, onSecure) = call(plain, secure)
        trace.append("\(which) \(what)")
        let (wanted, got) = (Outcome(onPlain), Outcome(onSecure))
        if wanted != got { throw Finding("\(what): FileHandle: \(wanted); SecureFileHandle: \(got)") }
        // The one difference on purpose: a FileHandle whose truncate fails has moved nevertheless (docs/API.md).
        if got == .notOpenForThat, what.hasPrefix("truncate") { try plain.seek(toOffset: try secure.offset()) }
        let positions = (Outcome { .number(try plain.offset()) }, Outcome { .number(try secure.offset()) })
        if positions.0 != positions.1 { throw Finding("position after \(what): FileHandle: \(positions.0); SecureFileHandle: \(positions.1)") }
    }

    private mutating func reopen(_ which: Int) throws {
        let mode = generator.pick([SecureFileHandle.Mode.updating, .updating, .reading, .writing])
        trace.append("\(which) close, calls on the closed handle, open for \(mode)")
        let (plain, secure, _) = pairs[which]
        try plain.close()
        try secure.close()
        let calls: [(Outcome, Outcome)] = [
            (Outcome { .data(try plain.read(upToCount: 1)) }, Outcome { .data(try secure.read(upToCount: 1)) }),
            (Outcome { .data(try plain.readToEnd()) }, Outcome { .data(try secure.readToEnd()) }),
            (Outcome { try plain.write(contentsOf: Data([1])); return .done }, Outcome { try secure.write(contentsOf: Data([1])); return .done }),
            (Outcome { .number(try plain.offset()) }, Outcome { .number(try secure.offset()) }),
            (Outcome { .number(try plain.seekToEnd()) }, Outcome { .number(try secure.seekToEnd()) }),
            (Outcome { try plain.seek(toOffset: 0); return .done }, Outcome { try secure.seek(toOffset: 0); return .done }),
            (Outcome { try plain.truncate(atOffset: 0); return .done }, Outcome { try secure.truncate(atOffset: 0); return .done }),
            (Outcome { try plain.synchronize(); return .done }, Outcome { try secure.synchronize(); return .done }),
        ]
        // FileHandle's synchronize does not look whether it is closed, and gets EBADF from the kernel: the same in other words.
        for (number, call) in calls.enumerated() where call.1 != .closed || (call.0 != .closed && call.0 != .notOpenForThat) {
            throw Finding("call \(number) on a closed handle: FileHandle: \(call.0); SecureFileHandle: \(call.1)")
        }
        pairs[which] = try open(mode)
    }

    private mutating func place() -> UInt64 {
        let edges: [Int64] = [0, 3838, 3839, 3840, 4095, 4096, 4097, 8192, 262_143, 262_144, 262_145, 524_288]
        return UInt64(min(limit, generator.once(in: 2) ? generator.pick(edges) : generator.number(0...limit)))
    }

    private mutating func call(
        _ plain: FileHandle, _ secure: SecureFileHandle
    ) -> (String, () throws -> Outcome, () throws -> Outcome) {
        let count = generator.pick([0, 1, 100, 4095, 4096, 4097, Int(generator.number(0...9000)), Int(generator.number(0...80_000))])
        let place = place()
        switch generator.number(0..<14) {
        case 0...3: return ("read \(count)", { .data(try plain.read(upToCount: count)) }, { .data(try secure.read(upToCount: count)) })
        case 4: return ("read to end", { .data(try plain.readToEnd()) }, { .data(try secure.readToEnd()) })
        case 5...8:
            // Never past the limit: a file that only grows is no test.
            let at = (try? plain.offset()) ?? 0
            let room = max(0, Int(limit) + 1000 - Int(at))
            let data = pattern(min(count, room), seed: generator.next())
            return ("write \(data.count)", { try plain.write(contentsOf: data); return .done }, { try secure.write(contentsOf: data); return .done })
        case 9...10: return ("seek \(place)", { try plain.seek(toOffset: place); return .done }, { try secure.seek(toOffset: place); return .done })
        case 11: return ("seek to end", { .number(try plain.seekToEnd()) }, { .number(try secure.seekToEnd()) })
        case 12 where generator.once(in: 2):
            return ("synchronize", { try plain.synchronize(); return .done }, { try secure.synchronize(); return .done })
        default:
            return ("truncate \(place)", { try plain.truncate(atOffset: place); return .done }, { try secure.truncate(atOffset: place); return .done })
        }
    }
}
