import Testing

@testable import SecureFileCore

@Suite struct VaultConfigurationTests {
    @Test func everyCredentialOpensTheSameVault() throws {
        let fixture = try VaultFixture()
        let slots = try VaultKeySlots(at: fixture.folder.raw, .passphrase(VaultFixture.passphrase))
        let keyFile = [UInt8](repeating: 5, count: 100)
        try slots.addKeyFile(keyFile)
        try slots.addPassphrase([1, 2, 3, 255], .insecureMinimum)
        let credentials: [Credential] = [
            .passphrase(VaultFixture.passphrase), .recoveryKey(try RecoveryKey(fixture.recovery.exposedText())), .keyFile(keyFile),
            .passphrase([1, 2, 3, 255]),
        ]
        let keys = try credentials.map { try Vault.open(at: fixture.folder.raw, $0, .readOnly).keys.volumeKey.exposedBytes() }
        #expect(Set(keys).count == 1)
        #expect(try Vault.readConfiguration(at: fixture.folder.raw).slots.map(\.type) == [.passphrase, .recovery, .keyFile, .passphrase])
    }

    @Test func wrongCredentialsAreToldApartFromDamage() throws {
        let fixture = try VaultFixture()
        let path = fixture.folder.raw
        let before = try fixture.folder.read("sfs.json")
        #expect(failureCode { _ = try Vault.open(at: path, .passphrase(Array("wrong".utf8)), .readWrite) } == .wrongKey)
        #expect(failureCode { _ = try Vault.open(at: path, .passphrase(VaultFixture.passphrase + [13]), .readWrite) } == .wrongKey)
        #expect(failureCode { _ = try Vault.open(at: path, .recoveryKey(RecoveryKey()), .readWrite) } == .wrongKey)
        #expect(failureCode { _ = try Vault.open(at: path, .keyFile([UInt8](repeating: 1, count: 32)), .readWrite) } == .wrongKey)
        for bad in [[], [0], [97, 10], [UInt8](repeating: 97, count: 4097)] as [[UInt8]] {
            #expect(failureCode { _ = try Vault.open(at: path, .passphrase(bad), .readWrite) } == .invalidArgument)
        }
        #expect(failureCode { _ = try Vault.open(at: path, .keyFile([1]), .readWrite) } == .invalidArgument)
        #expect(try fixture.folder.read("sfs.json") == before)
        #expect(try fixture.folder.entries() == ["sfs.dir", "sfs.json", "sfs.lock"], "a refused opener leaves nothing")
        _ = try fixture.open()
    }

    /// Every bit of the file flipped in turn: never a success, and never called a wrong passphrase.
    @Test func flippedBitsAreDamage() throws {
        let fixture = try VaultFixture()
        let content = try fixture.folder.read("sfs.json")
        let allowed: Set<SecureFileError.Code> = [.damaged, .unsupportedVersion]
        for bit in 0..<content.count * 8 {
            var flipped = content
            flipped[bit / 8] ^= 1 << (bit % 8)
            let code = failureCode { _ = try VaultConfiguration.parse(flipped, path: "sfs.json") }
            #expect(code.map { allowed.contains($0) } == true, "bit \(bit): \(code?.name ?? "success")")
        }
        for byte in stride(from: 0, to: content.count, by: 37) {
            var flipped = content
            flipped[byte] ^= 0x11
            try fixture.folder.write("sfs.json", flipped)
            let code = failureCode { _ = try fixture.open() }
            #expect(code.map { allowed.contains($0) } == true, "byte \(byte): \(code?.name ?? "success")")
        }
        try fixture.folder.write("sfs.json", content)
        _ = try fixture.open()
    }

    @Test func cutsAndRandomChangesAreRefused() throws {
        let fixture = try VaultFixture()
        let content = try fixture.folder.read("sfs.json")
        for count in 0..<content.count {
            #expect(failureCode { _ = try VaultConfiguration.parse(Array(content.prefix(count)), path: "") } != nil)
        }
        let seed = VaultTestRandom.seed(23)
        var random = VaultTestRandom(seed: seed)
        for _ in 0..<2000 {
            var changed = content
            for _ in 0...random.below(4) {
                let place = random.below(changed.count)
                switch random.below(3) {
                case 0: changed[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: changed.remove(at: place)
                default: changed.insert(UInt8(truncatingIfNeeded: random.next()) & 127, at: place)
                }
            }
            guard let parsed = try? VaultConfiguration.parse(changed, path: "") else { continue }
            // White space may be added anywhere.
            #expect(try parsed.encoded() == content, "seed \(seed)")
        }
    }

    /// A change by somebody who can compute the checksum, but not the mac.
    @Test func changesWithAFittingChecksumAreTampering() throws {
        let fixture = try VaultFixture()
        let old = try Vault.readConfiguration(at: fixture.folder.raw)
        let other = VaultConfiguration(
            volumeID: old.volumeID, keyID: old.keyID, cipher: .chaCha20Poly1305, created: old.created, slots: old.slots, mac: old.mac)
        try fixture.folder.write("sfs.json", try other.encoded())
        #expect(failureCode { _ = try fixture.open() } == .tampered)
        #expect(failureCode { _ = try Vault.open(at: fixture.folder.raw, .passphrase([1]), .readOnly) } == .wrongKey)
    }

    @Test func otherThingsAreNoVaults() throws {
        let folder = try VaultFolder()
        #expect(failureCode { _ = try Vault.readConfiguration(at: RawPath(folder.path + "/missing")) } == .notFound)
        #expect(failureCode { _ = try Vault.readConfiguration(at: folder.raw) } == .notAVault)
        try folder.write("sfs.json", Array("{}".utf8))
        #expect(failureCode { _ = try Vault.readConfiguration(at: folder.raw) } == .notAVault)
        #expect(failureCode { _ = try Vault.readConfiguration(at: RawPath(folder.path + "/sfs.json")) } == .notAVault)
        try folder.write("sfs.json", [UInt8](repeating: 32, count: 70000))
        #expect(failureCode { _ = try Vault.readConfiguration(at: folder.raw) } == .damaged)
        #expect(
            failureCode { _ = try Vault.create(at: folder.raw, Vault.Creation(passphrase: [1], argon2: .insecureMinimum)) }
                == .alreadyExists)
        #expect(try folder.entries() == ["sfs.json"])
    }

    @Test func createLeavesNothingWhereItFails() throws {
        let folder = try VaultFolder()
        let new = RawPath(folder.path + "/new")
        let costly = Argon2Parameters(memoryKiB: 7, passes: 1, lanes: 1)
        #expect(failureCode { _ = try Vault.create(at: new, Vault.Creation(passphrase: [1], argon2: costly)) } == .limitExceeded)
        #expect(failureCode { _ = try Vault.create(at: folder.raw, Vault.Creation(passphrase: [1], argon2: costly)) } == .limitExceeded)
        #expect(failureCode { _ = try Vault.create(at: new, Vault.Creation(passphrase: [])) } == .invalidArgument)
        #expect(try folder.entries().isEmpty)
        #expect(
            failureCode { _ = try Vault.create(at: new.appending("deep"), Vault.Creation(passphrase: [1], argon2: .insecureMinimum)) }
                == .notFound)
        _ = try Vault.create(at: new, Vault.Creation(passphrase: [1], argon2: .insecureMinimum))
        #expect(try FileDescriptor.open(new, [.readOnly, .directory]).status().permissions == 0o700)
    }
}

@Suite struct VaultKeySlotsTests {
    @Test func passphraseChangeKeepsTheOtherSlots() throws {
        let fixture = try VaultFixture()
        let path = fixture.folder.raw
        let mounted = try fixture.open()  // a change beside a mount is allowed
        let slots = try VaultKeySlots(at: path, .passphrase(VaultFixture.passphrase))
        let new = Array("new".utf8)
        try slots.changePassphrase(to: new, .insecureMinimum)
        #expect(failureCode { _ = try Vault.open(at: path, .passphrase(VaultFixture.passphrase), .readOnly) } == .wrongKey)
        let keys = try Vault.open(at: path, .passphrase(new), .readOnly).keys
        #expect(try keys.volumeKey.exposedBytes() == mounted.keys.volumeKey.exposedBytes())
        _ = try Vault.open(at: path, .recoveryKey(fixture.recovery), .readOnly)
        #expect(try Vault.readConfiguration(at: path).slots.count == 2)
        #expect(failureCode { try slots.changePassphrase(to: new, .insecureMinimum) } == .notFound, "the slot is gone")
        try mounted.close()
    }

    @Test func recoveryKeyResetsAForgottenPassphrase() throws {
        let fixture = try VaultFixture()
        let path = fixture.folder.raw
        let slots = try VaultKeySlots(at: path, .recoveryKey(fixture.recovery))
        try slots.changePassphrase(to: [1], .insecureMinimum)
        #expect(failureCode { _ = try fixture.open(.readOnly) } == .wrongKey)
        let second = try slots.addPassphrase([2], .insecureMinimum)
        #expect(failureCode { try slots.changePassphrase(to: [3], .insecureMinimum) } == .invalidArgument, "two: which?")
        try slots.changePassphrase(to: [3], replacing: second.id, .insecureMinimum)
        _ = try Vault.open(at: path, .passphrase([1]), .readOnly)
        _ = try Vault.open(at: path, .passphrase([3]), .readOnly)
        let recovery = try slots.replaceRecoveryKey()
        #expect(failureCode { _ = try Vault.open(at: path, .recoveryKey(fixture.recovery), .readOnly) } == .wrongKey)
        _ = try Vault.open(at: path, .recoveryKey(recovery), .readOnly)
    }

    @Test func slotsAreRemovedButTheLast() throws {
        let fixture = try VaultFixture()
        let slots = try VaultKeySlots(at: fixture.folder.raw, .passphrase(VaultFixture.passphrase))
        let all = try slots.slots()
        #expect(failureCode { try slots.removeSlot([1, 2, 3]) } == .notFound)
        try slots.removeSlot(all[1].id)
        #expect(failureCode { try slots.removeSlot(all[0].id) } == .invalidArgument)
        #expect(failureCode { _ = try Vault.open(at: fixture.folder.raw, .recoveryKey(fixture.recovery), .readOnly) } == .wrongKey)
        _ = try fixture.open(.readOnly)
    }

    @Test func thereAreAtMost64() throws {
        let fixture = try VaultFixture()
        let slots = try VaultKeySlots(at: fixture.folder.raw, .passphrase(VaultFixture.passphrase))
        for _ in 2..<64 { try slots.addKeyFile([UInt8](repeating: 1, count: 32)) }
        #expect(failureCode { try slots.addKeyFile([UInt8](repeating: 1, count: 32)) } == .limitExceeded)
        #expect(try fixture.folder.read("sfs.json").count <= StrictJSON.lengthMaximum)
    }

    /// What an unfinished change left is never in the way; permissions are kept; only one changes at a time.
    @Test func configurationIsReplacedAsAWhole() throws {
        let fixture = try VaultFixture()
        try fixture.folder.write("sfs.tmp.AAAAAAAAAAAAAAAA", [1, 2, 3])
        let slots = try VaultKeySlots(at: fixture.folder.raw, .passphrase(VaultFixture.passphrase))
        let descriptor = try fixture.folder.descriptor()
        try descriptor.setPermissions(of: ReservedNames.configuration, 0o640)
        let inode = try descriptor.status(of: ReservedNames.configuration).inode
        try slots.addKeyFile([UInt8](repeating: 1, count: 32))
        let status = try descriptor.status(of: ReservedNames.configuration)
        #expect(status.inode != inode && status.permissions == 0o640)
        #expect(try descriptor.tryLock())
        #expect(failureCode { try slots.addKeyFile([UInt8](repeating: 1, count: 32)) } == .inUse)
        #expect(try fixture.folder.entries() == ["sfs.dir", "sfs.json", "sfs.lock", "sfs.tmp.AAAAAAAAAAAAAAAA"])
    }
}
