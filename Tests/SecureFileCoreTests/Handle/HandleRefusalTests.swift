import Foundation
import SecureFileCore
import Testing

/// Regular files only.
@Suite struct HandleRefusalTests {
    private func expectRefused(_ path: String, _ fixture: HandleFixture, _ what: Comment) {
        for mode in [SecureFileHandle.Mode.reading, .writing, .updating] {
            let error = failure { _ = try fixture.open(path, mode) }
            #expect(error?.code == .regularFileOnly, what)
            #expect(error?.acErrorCode == .regularFileOnly && error?.codeInDomain == 7 && error?.domain == ACErrorDomain, what)
        }
        #expect(SecureFileHandle(forReadingAtPath: path, services: fixture.services) == nil, what)
        #expect(failureCode { _ = try SecureFiles(fixture.services).read(path) } == .regularFileOnly, what)
        #expect(failureCode { try SecureFiles(fixture.services).write(text("x"), to: path, atomically: true) } == .regularFileOnly, what)
    }

    @Test func directoriesAreRefused() throws {
        let fixture = try HandleFixture()
        expectRefused(fixture.folder.path, fixture, "a directory")
        expectRefused("/", fixture, "the root")
    }

    @Test func symlinksAreRefused() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", text("x"))
        try FileManager.default.createSymbolicLink(atPath: fixture.path("link"), withDestinationPath: path)
        expectRefused(fixture.path("link"), fixture, "a symlink to a secure file")
        try FileManager.default.createSymbolicLink(atPath: fixture.path("dangling"), withDestinationPath: fixture.path("none"))
        expectRefused(fixture.path("dangling"), fixture, "a dangling symlink")
        #expect(!FileManager.default.fileExists(atPath: fixture.path("none")))
    }

    @Test func pipesSocketsAndDevicesAreRefusedWithoutWaiting() throws {
        let fixture = try HandleFixture()
        try run("/usr/bin/mkfifo", fixture.path("pipe"))
        expectRefused(fixture.path("pipe"), fixture, "a pipe")
        try makeSocket(fixture.path("socket"))
        expectRefused(fixture.path("socket"), fixture, "a socket")
        expectRefused("/dev/null", fixture, "a device")
        expectRefused("/dev/zero", fixture, "a device")
    }

    private func makeSocket(_ path: String) throws {
        let socket = Process()
        socket.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        socket.arguments = ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path]
        try socket.run()
        socket.waitUntilExit()
        try #require(socket.terminationStatus == 0)
    }

    @Test func contentFilesOfAVaultAreRefusedOutsideOfIt() throws {
        let vaults = try VaultFixture()
        let services = SecureServices()
        try services.unlock(.vault(vaults.folder.path, .passphrase(VaultFixture.passphrase), opening: .readWrite))
        let handle = SecureFiles(services)
        try handle.write(text("in the vault"), to: vaults.folder.path + "/name")
        try services.closeVault()
        let backing = try #require(try vaults.folder.entries().first { !$0.hasPrefix("sfs.") })
        let error = failure { _ = try SecureFileHandle(opening: vaults.folder.path + "/" + backing, for: .updating, services: services) }
        #expect(error?.code == .notSecureFile)
        #expect(error?.message.contains("vault") == true)
    }

    @Test func standaloneFilesAreDamagedInsideAVault() throws {
        let vaults = try VaultFixture()
        let services = SecureServices()
        try services.unlock(.vault(vaults.folder.path, .passphrase(VaultFixture.passphrase), opening: .readWrite))
        defer { try? services.closeVault() }
        let outside = try HandleFixture(unlocked: false)
        let path = try outside.emptyFile()
        try SecureFiles(services).write(text("standalone"), to: path)
        try SecureFiles(services).write(text("in the vault"), to: vaults.folder.path + "/name")
        let backing = try #require(try vaults.folder.entries().first { !$0.hasPrefix("sfs.") })
        try vaults.folder.write(backing, try outside.folder.read("file"))
        #expect(failureCode { _ = try SecureFiles(services).read(vaults.folder.path + "/name") } == .damaged)
    }
}
