import Foundation
import SecureFileCore
import Testing

/// The old forms never stop the process: on a full disk, on a closed handle, while the key is away.
@Suite(.serialized) struct HandleClassicFormTests {
    /// Calls every old form; each has to come back.
    private func callAll(_ handle: SecureFileHandle, fails code: SecureFileError.Code) {
        var error: (any Error)?
        func expectNoted(_ what: Comment) { #expect(handle.lastError?.code == code, what) }
        func expectReported(_ what: Comment) {
            #expect((error as? SecureFileError)?.code == code, what)
            error = nil
        }
        #expect(handle.availableData.isEmpty)
        expectNoted("availableData")
        #expect(handle.readDataToEndOfFile().isEmpty)
        expectNoted("readDataToEndOfFile")
        #expect(handle.readData(ofLength: 10).isEmpty)
        expectNoted("readData")
        handle.write(text("x"))
        expectNoted("write")
        #expect(handle.offsetInFile == 0)
        expectNoted("offsetInFile")
        #expect(handle.seekToEndOfFile() == 0)
        expectNoted("seekToEndOfFile")
        handle.seek(toFileOffset: 1)
        expectNoted("seek")
        handle.truncateFile(atOffset: 1)
        expectNoted("truncateFile")
        handle.synchronizeFile()
        expectNoted("synchronizeFile")

        #expect(handle.availableData(error: &error) == nil)
        expectReported("availableData")
        #expect(handle.readDataToEndOfFile(error: &error) == nil)
        expectReported("readDataToEndOfFile")
        #expect(handle.readData(ofLength: 10, error: &error) == nil)
        expectReported("readData")
        #expect(!handle.write(text("x"), error: &error))
        expectReported("write")
        #expect(handle.offsetInFile(error: &error) == nil)
        expectReported("offsetInFile")
        #expect(handle.seekToEndOfFile(error: &error) == nil)
        expectReported("seekToEndOfFile")
        #expect(!handle.seek(toFileOffset: 1, error: &error))
        expectReported("seek")
        #expect(!handle.truncateFile(atOffset: 1, error: &error))
        expectReported("truncateFile")
        #expect(!handle.synchronizeFile(error: &error))
        expectReported("synchronizeFile")
    }

    @Test func onAClosedHandle() throws {
        let fixture = try HandleFixture()
        let handle = try fixture.open(try fixture.file("f", pattern(10_000)))
        handle.closeFile()
        callAll(handle, fails: .closed)
        var error: (any Error)?
        handle.closeFile()
        #expect(handle.closeFile(error: &error) && error == nil, "a second close does nothing")
    }

    @Test func whileTheKeyIsAway() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", pattern(10_000))
        let handle = try fixture.open(path)
        try handle.seek(toOffset: 4096)
        try fixture.services.lock()
        callAll(handle, fails: .keyNotAvailable)
        try fixture.unlock()
        #expect(handle.offsetInFile == 4096)
        #expect(handle.readDataToEndOfFile() == pattern(10_000)[4096...])
        try fixture.services.lock()
        var error: (any Error)?
        #expect(handle.closeFile(error: &error), "nothing was held back: there is nothing to fail")
    }

    /// As root on a small tmpfs; elsewhere a limit on the size of files does as well (in a process of its own, and so not here).
    @Test(.enabled(if: getuid() == 0)) func onAFullDisk() throws {
        let fixture = try HandleFixture()
        let place = fixture.path("small")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try run("/usr/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place)
        defer { try? run("/usr/bin/umount", "-l", place) }
        let path = place + "/file"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let handle = try fixture.open(path)
        let first = pattern(500_000)
        handle.write(first)
        handle.synchronizeFile()
        #expect(handle.lastError == nil)
        var error: (any Error)?
        // New data fails at once, or when it goes to the disk.
        handle.write(pattern(2_000_000, seed: 2))
        #expect(!handle.write(pattern(2_000_000, seed: 3), error: &error))
        #expect((error as? SecureFileError)?.code == .noSpace && (error as? SecureFileError)?.errno == .noSpace)
        #expect((error as? SecureFileError)?.domain == SecureFileError.posixDomain)
        #expect(handle.lastError?.code == .noSpace)
        #expect(handle.offsetInFile == 500_000, "a write that fails does not move")
        // What was there is there still.
        handle.seek(toFileOffset: 0)
        #expect(handle.readData(ofLength: 500_000) == first)
        handle.truncateFile(atOffset: 500_000)
        handle.synchronizeFile()
        #expect(handle.closeFile(error: &error), "the disk is full, but nothing is left to be written")
        #expect(try fixture.content(path) == first)
        // Atomic replacement leaves the old content where the new does not fit.
        #expect(failureCode { try SecureFiles(fixture.services).write(pattern(900_000), to: path, atomically: true) } == .noSpace)
        #expect(try fixture.content(path) == first)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["file"])
    }

    @Test(.enabled(if: getuid() == 0)) func lockingOnAFullDiskKeepsTheKeyUnlessTold() throws {
        let fixture = try HandleFixture()
        let place = fixture.path("small")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try run("/usr/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place)
        defer { try? run("/usr/bin/umount", "-l", place) }
        let path = place + "/file"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let handle = try fixture.open(path)
        try handle.write(contentsOf: pattern(8192))
        try handle.truncate(atOffset: 40_960)
        try handle.synchronize()
        try run("/bin/sh", "-c", "dd if=/dev/zero of='\(place)/filler' bs=4096 2>/dev/null; true")
        try handle.write(text("in a hole"), at: 20_000)  // held in memory, as part of a block
        #expect(failureCode { try fixture.services.lock() } == .noSpace)
        #expect(fixture.services.state == .unlocked)
        #expect(try handle.read(upToCount: 9, at: 20_000) == text("in a hole"), "still in memory")
        #expect(failureCode { try handle.synchronize() } == .noSpace)
        try fixture.services.lock(discardingUnwritten: true)
        #expect(fixture.services.state == .locked)
        #expect(failureCode { _ = try handle.readToEnd() } == .keyNotAvailable)
        try fixture.unlock()
        #expect(try handle.read(upToCount: 9, at: 20_000) == Data(count: 9), "given up")
        #expect(try handle.read(upToCount: 8192, at: 0) == pattern(8192))
    }
}

func run(_ program: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw POSIXError(.EIO) }
}
