import SecureFileCore
import Testing

@Suite struct PasswdTests {
    static let cheap = ["--kdf-memory", "8", "--kdf-passes", "1"]

    func passwd(_ vault: TestVault, _ rest: [String], input: String? = nil) throws -> Sfs.Outcome {
        try Sfs.run((["passwd", vault.path] + rest + Self.cheap).map { RawPath($0) }, input: input.map { Array($0.utf8) })
    }

    func opens(_ vault: TestVault, _ passphrase: String) -> Bool {
        (try? Vault.open(at: RawPath(vault.path), .passphrase(Array(passphrase.utf8)), .readOnly)) != nil
    }

    @Test func theOldOneNoLongerOpens() throws {
        let vault = try TestVault { try $0.file("a", "content") }
        let new = try vault.folder.file("new", "another one\n")
        let outcome = try passwd(vault, ["--passfile", vault.passfile, "--new-passfile", new])
        #expect(outcome.code == 0 && outcome.text == "" && outcome.errors == "", "\(outcome)")
        #expect(opens(vault, "another one") && !opens(vault, TestVault.passphrase))
        #expect(try Sfs.run("cat", vault.path, "a", "--recovery-key", input: vault.recoveryKey).text == "content")
        #expect(try passwd(vault, ["--passfile", vault.passfile, "--new-passfile", new]).code == 3)
    }

    @Test func bothMayBeLinesOfStandardInput() throws {
        let vault = try TestVault()
        let outcome = try passwd(vault, [], input: TestVault.passphrase + "\nneu,é\r\nrest\n")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(opens(vault, "neu,é"))
        #expect(try passwd(vault, ["--new-passcommand", "echo third"], input: "neu,é").code == 0)
        #expect(opens(vault, "third") && !opens(vault, "neu,é"))
    }

    @Test func theRecoveryKeyReplacesALostPassphraseAndKeepsWorking() throws {
        let vault = try TestVault()
        for passphrase in ["second", "third"] {
            let outcome = try passwd(vault, ["--recovery-key"], input: vault.recoveryKey + "\n" + passphrase + "\n")
            #expect(outcome.code == 0, "\(outcome)")
            #expect(opens(vault, passphrase))
        }
        #expect(!opens(vault, TestVault.passphrase) && !opens(vault, "second"))
        #expect(try Vault.readConfiguration(at: RawPath(vault.path)).slots.count == 2)
    }

    @Test func afterAFailureTheOldOneStillOpens() throws {
        let vault = try TestVault()
        let before = try FileDescriptor.open(RawPath(vault.path + "/sfs.json"), .readOnly).readAll(limit: 65536)
        let inputs = [TestVault.passphrase + "\n", TestVault.passphrase + "\n\n", TestVault.passphrase, "wrong\nnew\n", ""]
        for (input, code) in zip(inputs, [8, 8, 8, 3, 8] as [Int32]) {
            let outcome = try passwd(vault, [], input: input)
            #expect(outcome.code == code, "\(outcome)")
        }
        #expect(try passwd(vault, ["--passfile", vault.passfile, "--new-passfile", "/none"]).code == 8)
        #expect(try FileDescriptor.open(RawPath(vault.path + "/sfs.json"), .readOnly).readAll(limit: 65536) == before)
        #expect(opens(vault, TestVault.passphrase))
    }

    @Test func itMayBeDoneWhileTheVaultIsInUse() throws {
        let vault = try TestVault()
        let inUse = try vault.open(.readWrite)
        #expect(try passwd(vault, [], input: TestVault.passphrase + "\nnew\n").code == 0)
        try inUse.close()
        #expect(opens(vault, "new"))
    }
}
