import Foundation
import Synchronization
import SecureFileCore
import Testing

/// Several handles, threads, services and processes on one file.
@Suite struct HandleSharingTests {
    @Test func handlesOfOneServiceShareAFile() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", pattern(20_000))
        let (first, second) = (try fixture.open(path), try fixture.open(path))
        try first.write(text("first"), at: 0)
        try second.write(text("second"), at: 100)
        #expect(try first.read(upToCount: 6, at: 100) == text("second"))
        try first.close()
        try second.write(text("after"), at: 200)
        try second.close()
        let content = try fixture.content(path)
        #expect(content[0..<5] == text("first") && content[100..<106] == text("second") && content[200..<205] == text("after"))
    }

    @Test func aSecondWriterInAnotherServiceIsRefused() throws {
        let (mine, other) = (try HandleFixture(), try HandleFixture())
        let path = try mine.file("f", pattern(20_000))
        let reader = try other.open(path, .reading)
        let writer = try mine.open(path, .writing)
        for mode in [SecureFileHandle.Mode.writing, .updating] {
            let error = failure { _ = try other.open(path, mode) }
            #expect(error?.code == .inUse && error?.errno == .busy)
        }
        #expect(failureCode { try SecureFiles(other.services).write(text("x"), to: path) } == .inUse)
        // A reader beside it sees what has reached the store, and what it had read before is no obstacle.
        #expect(try reader.read(upToCount: 4096, at: 4096) == pattern(20_000)[4096..<8192])
        try writer.write(pattern(8192, seed: 9), at: 4096)
        try writer.synchronize()
        #expect(try reader.read(upToCount: 8192, at: 4096) == pattern(8192, seed: 9))
        try writer.truncate(atOffset: 50_000)
        try writer.synchronize()
        #expect(try reader.seekToEnd() == 50_000)
        try writer.close()
        let second = try other.open(path, .writing)
        #expect(failureCode { _ = try mine.open(path, .writing) } == .inUse)
        try second.close()
    }

    /// The lock of a writer is the kernel's: it holds between processes, and goes with a process that dies.
    @Test func aSecondWriterInAnotherProcessIsRefused() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", pattern(5000))
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        other.arguments = [
            "-c", "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.flock(f, fcntl.LOCK_EX); print('locked', flush=True); sys.stdin.read()", path,
        ]
        let (input, output) = (Pipe(), Pipe())
        (other.standardInput, other.standardOutput) = (input, output)
        try other.run()
        // The line, and its end, may come in two pieces.
        #expect(try output.fileHandleForReading.read(upToCount: 7) == text("locked\n"))
        #expect(failureCode { _ = try fixture.open(path, .writing) } == .inUse)
        #expect(try fixture.content(path) == pattern(5000), "reading is possible")
        kill(other.processIdentifier, SIGKILL)  // our threads block other signals, and a child inherits that
        other.waitUntilExit()
        try fixture.open(path, .writing).close()
        withExtendedLifetime(input) {}
    }

    /// What a process leaves that dies in the middle of writing: the next writer settles it.
    @Test func aFileWhoseWriterDiedIsSettledByTheNext() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", pattern(300_000))
        let writer = try fixture.open(path, .writing)
        try writer.write(pattern(100_000, seed: 2), at: 50_000)
        try writer.synchronize()
        let died = fixture.path("died")
        try FileManager.default.copyItem(atPath: path, toPath: died)  // as a dead process leaves it: its session is open
        try writer.close()
        let expected = pattern(300_000)[0..<50_000] + pattern(100_000, seed: 2) + pattern(300_000)[150_000...]
        #expect(try fixture.content(died) == expected, "read leniently")
        try fixture.open(died, .writing).close()
        #expect(try fixture.content(died) == expected)
        // Settled, it is read strictly: an older state of a block put back is damage now.
        let stored = try fixture.folder.read("died")
        #expect(stored[112..<128].allSatisfy { $0 == 0 }, "no session is named")
    }

    @Test func readersNeverSeeGarbageBesideAWriter() throws {
        let (mine, other) = (try HandleFixture(), try HandleFixture())
        let path = try mine.file("f", Data((0..<64).flatMap { _ in [UInt8](repeating: 0, count: 4096) }))
        let writer = try mine.open(path, .writing)
        let reader = try other.open(path, .reading)
        let isDone = Atomic<Bool>(false)
        let problems = Mutex<[String]>([])
        inThreads(2) { part in
            do {
                if part == 0 {
                    defer { isDone.store(true, ordering: .relaxed) }
                    for round in 1...150 {
                        for block in stride(from: round % 5, to: 64, by: 5) {
                            try writer.write([UInt8](repeating: UInt8(round), count: 4096), at: UInt64(block) * 4096)
                        }
                        try writer.synchronize()
                    }
                } else {
                    while !isDone.load(ordering: .relaxed) {
                        let all = try reader.read(upToCount: 64 * 4096, at: 0)
                        guard all.count == 64 * 4096 else {
                            problems.withLock { $0.append("\(all.count) bytes") }
                            return
                        }
                        for block in 0..<64 where Set(all[block * 4096..<block * 4096 + 4096]).count != 1 {
                            problems.withLock { $0.append("block \(block) is torn") }
                        }
                    }
                }
            } catch { problems.withLock { $0.append("\(part): \(error)") } }
        }
        #expect(problems.withLock { $0 } == [])
        try writer.close()
    }

    /// The position is safe: each of many threads gets its own stretch, none twice, none missing.
    @Test func threadsShareAHandleAndItsPosition() throws {
        let fixture = try HandleFixture()
        let path = try fixture.emptyFile()
        let handle = try fixture.open(path)
        inThreads(8) { number in
            for _ in 0..<200 { handle.write(Data([UInt8](repeating: UInt8(number + 1), count: 100))) }
        }
        #expect(handle.lastError == nil && handle.offsetInFile == 160_000)
        try handle.seek(toOffset: 0)
        let counts = Mutex<[UInt8: Int]>([:])
        inThreads(8) { _ in
            while let record = try? handle.read(upToCount: 100) {
                if Set(record).count == 1, record.count == 100, let first = record.first { counts.withLock { $0[first, default: 0] += 1 } }
            }
        }
        #expect(counts.withLock { $0 } == Dictionary(uniqueKeysWithValues: (1...8).map { (UInt8($0), 200) }))
    }

    @Test func threadsReadAndWriteByPositionWhileTheKeyComesAndGoes() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", Data(count: 8 * 10_000))
        let handle = try fixture.open(path)
        let isDone = Atomic<Bool>(false)
        let problems = Mutex<[String]>([])
        inThreads(9) { number in
            if number == 8 {
                for _ in 0..<60 {
                    do {
                        try fixture.services.lock()
                        try fixture.unlock()
                    } catch { problems.withLock { $0.append("\(error)") } }
                    usleep(2000)
                }
                isDone.store(true, ordering: .relaxed)
                return
            }
            var value: UInt8 = 0
            while !isDone.load(ordering: .relaxed) {
                do throws(SecureFileError) {
                    let next = value &+ 1
                    try handle.write([UInt8](repeating: next, count: 10_000), at: UInt64(number) * 10_000)
                    value = next
                    let got = try handle.read(upToCount: 10_000, at: UInt64(number) * 10_000)
                    if !got.allSatisfy({ $0 == value }) { problems.withLock { $0.append("thread \(number) reads what it has not written") } }
                } catch {
                    if error.code != .keyNotAvailable { problems.withLock { $0.append("\(error)") } }
                }
            }
        }
        #expect(problems.withLock { $0 } == [])
        try handle.close()
    }

    @Test func aHandleThatIsDroppedIsClosed() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", text("0123"))
        do {
            let handle = try fixture.open(path, .writing)
            try handle.write(contentsOf: text("ab"))
        }
        let other = try HandleFixture()
        let writer = try other.open(path, .updating)  // nobody has it locked
        #expect(try writer.readToEnd() == text("ab23"))
        try writer.close()
    }

    /// A program that never closes nor syncs loses at most some seconds when it dies.
    @Test func whatIsWrittenReachesTheStoreAfterSomeSeconds() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", pattern(10_000))
        let handle = try fixture.open(path, .writing)
        try handle.write(pattern(4096, seed: 2), at: 0)
        let other = try HandleFixture()
        for _ in 0..<100 {
            if try other.content(path) == pattern(4096, seed: 2) + pattern(10_000)[4096...] { break }
            Thread.sleep(forTimeInterval: 0.1)
        }
        #expect(try other.content(path) == pattern(4096, seed: 2) + pattern(10_000)[4096...])
        try handle.close()
    }
}

/// Runs `body` in as many threads at once.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = (0..<count).compactMap { number in try? NativeThread.start(stackBytes: 1 << 21) { body(number) } }
    #expect(threads.count == count)
    for thread in threads { thread.join() }
}
