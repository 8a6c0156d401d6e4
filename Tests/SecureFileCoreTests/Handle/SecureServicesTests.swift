import Foundation
import Synchronization
import SecureFileCore
import Testing

@Suite struct SecureServicesTests {
    private final class Log: Sendable {
        private let states = Mutex<[SecureServices.State]>([])
        func add(_ state: SecureServices.State) { states.withLock { $0.append(state) } }
        var all: [SecureServices.State] { states.withLock { $0 } }
    }

    @Test func everyChangeOfStateIsTold() throws {
        let fixture = try HandleFixture(unlocked: false)
        let log = Log()
        let observation = fixture.services.observe { log.add($0) }
        try fixture.unlock()
        try fixture.unlock()  // no change
        try fixture.services.lock()
        try fixture.services.lock()
        try fixture.unlock()
        #expect(log.all == [.unlocked, .locked, .unlocked])
        observation.cancel()
        try fixture.services.lock()
        #expect(log.all.count == 3)
        let other = fixture.services.observe { log.add($0) }
        _ = try fixture.services.retire { _ in true }
        #expect(log.all.last == .retired)
        withExtendedLifetime(other) {}
    }

    @Test func anObserverMayCallTheService() throws {
        let fixture = try HandleFixture(unlocked: false)
        let log = Log()
        let services = fixture.services
        let observation = services.observe { state in
            log.add(state)
            if state == .unlocked, log.all.count < 5 { try? services.lock() }
            if state == .locked, log.all.count < 5 { try? services.unlock(.provider { HandleFixture.key }) }
        }
        try fixture.unlock()
        #expect(log.all == [.unlocked, .locked, .unlocked, .locked, .unlocked])
        withExtendedLifetime(observation) {}
    }

    @Test func statesCanBeFollowedAsASequence() async throws {
        let fixture = try HandleFixture()
        var iterator = fixture.services.states.makeAsyncIterator()
        #expect(await iterator.next() == .unlocked)
        try fixture.services.lock()
        #expect(await iterator.next() == .locked)
        try fixture.unlock()
        #expect(await iterator.next() == .unlocked)
    }

    @Test func aKeyComesFromAVaultByEachCredential() throws {
        let vaults = try VaultFixture()
        let path = vaults.folder.path
        let keyFile = [UInt8](repeating: 5, count: 64)
        try VaultKeySlots(at: vaults.folder.raw, .passphrase(VaultFixture.passphrase)).addKeyFile(keyFile)
        let files = try HandleFixture(unlocked: false)
        var content: String?
        for credential in [Credential.passphrase(VaultFixture.passphrase), .recoveryKey(vaults.recovery), .keyFile(keyFile)] {
            let services = SecureServices()
            try services.unlock(.vault(path, credential))
            #expect(services.vault == nil)
            let file = files.path("file")
            if let content { #expect(try SecureFiles(services).read(file) == text(content)) }
            content = "by \(credential)".prefix(12).description
            try SecureFiles(services).write(text(content ?? ""), to: file)
        }
        let services = SecureServices()
        #expect(failureCode { try services.unlock(.vault(path, .passphrase(Array("wrong".utf8)))) } == .wrongKey)
        #expect(failureCode { try services.unlock(.vault(path, .keyFile([UInt8](repeating: 6, count: 64)))) } == .wrongKey)
        #expect(failureCode { try services.unlock(.vault(path, .recoveryKey(try RecoveryKey()))) } == .wrongKey)
        #expect(failureCode { try services.unlock(.vault(files.folder.path, .passphrase(VaultFixture.passphrase))) } == .notAVault)
        #expect(failureCode { try services.unlock(.vault(path + "/none", .passphrase(VaultFixture.passphrase))) } == .notFound)
        #expect(services.state == .absent)
        #expect(try files.folder.entries() == ["file"], "no vault was made")
    }

    @Test func aLockedServiceTakesNoOtherVaultsKey() throws {
        let (first, second) = (try VaultFixture(), try VaultFixture())
        let services = SecureServices()
        try services.unlock(.vault(first.folder.path, .passphrase(VaultFixture.passphrase)))
        try services.lock()
        #expect(failureCode { try services.unlock(.vault(second.folder.path, .passphrase(VaultFixture.passphrase))) } == .wrongKey)
        #expect(services.state == .locked)
        try services.unlock(.vault(first.folder.path, .passphrase(VaultFixture.passphrase)))
    }

    // MARK: The kernel's keyring

    /// Whether this kernel gives this process a keyring; if not, what depends on one is refused in words.
    private static let hasKeyring = { () -> Bool in
        guard let services = try? HandleFixture().services else { return false }
        do { try services.putKeyInKeyring(seconds: 60) } catch { return false }
        try? services.removeKeyFromKeyring()
        return true
    }()

    @Test(.enabled(if: hasKeyring)) func theKeyringServesOtherServicesForATime() throws {
        let vaults = try VaultFixture()
        let path = vaults.folder.path
        let services = SecureServices()
        #expect(failureCode { try services.unlock(.keyring(ofVault: path)) } == .keyNotAvailable)
        try services.unlock(.vault(path, .passphrase(VaultFixture.passphrase)))
        try services.putKeyInKeyring(seconds: 60)
        defer { try? services.removeKeyFromKeyring() }
        let (second, third) = (SecureServices(), SecureServices())
        try second.unlock(.keyring(ofVault: path, opening: .readOnly))
        try third.unlock(.keyring(keyID: try #require(services.keyID)))
        #expect(second.state == .unlocked && second.vault != nil && third.keyID == services.keyID)
        try second.lock()
        try services.removeKeyFromKeyring()
        try services.removeKeyFromKeyring()
        #expect(failureCode { try second.unlock(.keyring(ofVault: path)) } == .keyNotAvailable)
        #expect(second.state == .locked)
        try services.putKeyInKeyring(seconds: 1)
        try second.unlock(.keyring(ofVault: path))
        try second.lock()
        Thread.sleep(forTimeInterval: 2)
        #expect(failureCode { try second.unlock(.keyring(ofVault: path)) } == .keyNotAvailable, "its time is over")
        _ = try services.retire { _ in true }
    }

    @Test(.enabled(if: hasKeyring)) func retiringTakesTheKeyFromTheKeyring() throws {
        let fixture = try HandleFixture(unlocked: false)
        try fixture.services.unlock(.provider { [UInt8](repeating: 77, count: 32) })
        try fixture.services.putKeyInKeyring()
        let keyID = try #require(fixture.services.keyID)
        try SecureServices().unlock(.keyring(keyID: keyID))
        _ = try fixture.services.retire { _ in true }
        #expect(failureCode { try SecureServices().unlock(.keyring(keyID: keyID)) } == .keyNotAvailable)
    }

    @Test(.enabled(if: hasKeyring)) func aServiceFollowsTheKeyring() throws {
        let fixture = try HandleFixture(unlocked: false)
        let key = [UInt8](repeating: 78, count: 32)
        try fixture.services.unlock(.provider { key })
        let owner = SecureServices()
        try owner.unlock(.provider { key })
        try owner.putKeyInKeyring(seconds: 60)
        let watch = try fixture.services.followKeyring(every: .milliseconds(20))
        func wait(for state: SecureServices.State) -> Bool {
            for _ in 0..<250 where fixture.services.state != state { Thread.sleep(forTimeInterval: 0.02) }
            return fixture.services.state == state
        }
        Thread.sleep(forTimeInterval: 0.1)
        #expect(fixture.services.state == .unlocked)
        try owner.removeKeyFromKeyring()
        #expect(wait(for: .locked))
        try owner.putKeyInKeyring(seconds: 1)
        #expect(wait(for: .unlocked))
        #expect(wait(for: .locked), "its time is over")
        watch.cancel()
    }

    @Test func anIdleServiceIsLocked() throws {
        let fixture = try HandleFixture()
        let handle = try fixture.open(try fixture.file("f", text("x")), .reading)
        let watch = try fixture.services.lockWhenIdle(for: .milliseconds(400))
        for _ in 0..<20 {
            Thread.sleep(forTimeInterval: 0.05)
            _ = try handle.read(upToCount: 1, at: 0)
        }
        #expect(fixture.services.state == .unlocked, "in use for a second")
        for _ in 0..<100 where fixture.services.state == .unlocked { Thread.sleep(forTimeInterval: 0.05) }
        #expect(fixture.services.state == .locked)
        watch.cancel()
    }

    // MARK: The end of a vault's key

    @Test func retiringTheVaultDestroysItsKeySlots() throws {
        let vaults = try VaultFixture()
        let services = SecureServices()
        try services.unlock(.vault(vaults.folder.path, .passphrase(VaultFixture.passphrase), opening: .readWrite))
        try SecureFiles(services).write(text("secret"), to: vaults.folder.path + "/file")
        #expect(try !services.retire(.keyAndVault) { _ in false })
        #expect(try services.retire(.keyAndVault) { $0.vault == vaults.folder.raw && $0.scope == .keyAndVault })
        #expect(try !vaults.folder.entries().contains("sfs.json"))
        #expect(failureCode { _ = try vaults.open() } == .notAVault)
        #expect(failureCode { _ = try SecureFiles(services).read(vaults.folder.path + "/file") } == .keyRetired)
    }
}
