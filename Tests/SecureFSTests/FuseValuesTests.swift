import Testing

@testable import SecureFS
@testable import SecureFileCore

@Suite struct FuseValuesTests {
    @Test func optionsAreEscapedAndPermissionsCheckedWhereItMatters() {
        var options = MountOptions()
        options.source = "/a,b\\c"
        #expect(options.argument(mountingAsRoot: true) == "subtype=sfs,fsname=/a\\,b\\\\c")
        #expect(options.argument(mountingAsRoot: false).contains("default_permissions"))
        options.allowOther = true
        options.readOnly = true
        let argument = options.argument(mountingAsRoot: true)
        for word in ["default_permissions", "allow_other", "ro"] { #expect(argument.contains(word)) }
    }

    private func request(_ opcode: UInt32, _ fields: [Int: UInt32] = [:], count: Int = 200) -> (RawRequest, PageBuffer) {
        let buffer = PageBuffer(count: 1 << 16)
        buffer.store(opcode, at: 4)
        for (offset, value) in fields { buffer.store(value, at: offset) }
        return (RawRequest(reading: buffer, count: count), buffer)
    }

    @Test func theFlagsLibfuseDropsAreRead() {
        #expect(request(16, [60: 4]).0.killsPrivileges)  // WRITE, write_flags
        #expect(!request(16, [60: 1]).0.killsPrivileges)
        #expect(request(4, [40: 1 << 11]).0.killsPrivileges)  // SETATTR, valid
        #expect(request(14, [44: 1]).0.killsPrivileges)  // OPEN, open_flags
    }

    @Test func anUnnamedFileIsACreate() {
        let (parsed, buffer) = request(51)
        #expect(parsed.isUnnamed)
        #expect(buffer.load(at: 4, as: UInt32.self) == 35)
    }

    @Test func shortRequestsAreNotReadPastTheirEnd() {
        for opcode in UInt32(0)..<60 { for count in 0..<80 { _ = request(opcode, count: count) } }
    }

    @Test func longWorkIsKnown() {
        #expect(request(20).0.isSlow)  // FSYNC
        #expect(!request(1).0.isSlow)  // LOOKUP
        #expect(request(2).0.isBackground)  // FORGET
    }

    @Test func leadIsKeptForQuickSyncsUntilOthersWait() {
        let syncs = FuseSyncs()
        #expect(!syncs.keepLead, "nothing is known yet")
        syncs.note(nanoseconds: 200_000)
        #expect(syncs.keepLead)
        syncs.noteCrowd()
        #expect((0..<64).allSatisfy { _ in !syncs.keepLead })
        #expect(syncs.keepLead)
        syncs.note(nanoseconds: 20_000_000)
        #expect(!syncs.keepLead, "a slow disk")
    }

    @Test func spinningEndsAndStopsWhenItIsInVain() {
        var spin = FuseSpin(limit: 1000)
        var spins = 0
        for _ in 0..<100 {
            var turns = 0
            while spin.goesOn() { turns += 1 }
            if turns > 0 { spins += 1 }
            spin.slept()
        }
        #expect(spins >= 8)
        var never = FuseSpin(limit: 0)
        let goesOn = never.goesOn()
        #expect(!goesOn)
    }

    @Test func errorsOfContentAreEIO() {
        for code in [SecureFileError.Code.damaged, .truncated, .wrongKey, .notSecureFile, .unsupportedVersion, .tampered] {
            #expect(Errno(SecureFileError(code, "x")) == .inputOutput)
        }
        #expect(Errno(SecureFileError(.noSpace, "x", cause: .noSpace)) == .noSpace)
        #expect(Errno(SecureFileError(.invalidArgument, "x", cause: .nameTooLong)) == .nameTooLong)
        #expect(Errno(SecureFileError(.keyNotAvailable, "x")) == .noKey)
        #expect(Errno(SecureFileError(.readOnly, "x")) == .readOnly)
    }
}

/// The memory a thread of the loop works in.
@Suite struct FuseWorkerTests {
    @Test func whatWasUsedIsWiped() {
        let worker = FuseWorker()
        for (used, room) in [(100, 50), (5000, 4096), (FuseWorker.inputBytes, FuseWorker.largestData), (1, 1)] {
            worker.noteInput(used)
            let output = worker.output(atLeast: room)
            for offset in [0, used - 1] { worker.input[offset] = 1 }
            for offset in [0, room - 1] { output[offset] = 1 }
            // A shorter request after it does not shorten what is wiped.
            worker.noteInput(1)
            _ = worker.output(atLeast: 1)
            worker.wipe()
            #expect(worker.input[0] == 0 && worker.input[used - 1] == 0)
            #expect(output[0] == 0 && output[room - 1] == 0)
        }
        // What does not fit is a buffer of its own, wiped when it goes.
        #expect(worker.output(atLeast: FuseWorker.largestData + 1).count == FuseWorker.largestData + 1)
    }
}
