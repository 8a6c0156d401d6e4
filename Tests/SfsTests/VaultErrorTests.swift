import SecureFileCore
import Testing

/// What is wrong with a vault as a whole: every command says it the same way, before it asks for anything.
@Suite struct VaultErrorTests {
    static let commands = [["info"], ["ls"], ["cat", "x"], ["passwd"], ["check"], ["check", "--settle"], ["mount", "/mnt"]]

    func run(_ command: [String], _ vault: String) throws -> Sfs.Outcome {
        try Sfs.run(([command[0], vault] + command.dropFirst()).map { RawPath($0) })
    }

    func rewrite(_ vault: TestVault, _ change: (String) -> String) throws {
        let path = vault.path + "/sfs.json"
        let text = String(decoding: try FileDescriptor.open(RawPath(path), .readOnly).readAll(limit: 1 << 20), as: UTF8.self)
        try FileDescriptor.open(RawPath(path), [.writeOnly, .truncate]).writeStream(Array(change(text).utf8))
    }

    @Test(arguments: commands) func missing(_ command: [String]) throws {
        let outcome = try run(command, "/no/such/vault")
        #expect(outcome.code == 4, "\(outcome)")
        #expect(outcome.errors == "sfs \(command[0]): /no/such/vault: the vault's folder cannot be opened: No such file or directory\n")
    }

    @Test(arguments: commands) func notAVault(_ command: [String]) throws {
        let folder = try TemporaryFolder()
        let outcome = try run(command, folder.path.description)
        #expect(outcome.code == 4, "\(outcome)")
        #expect(outcome.errors == "sfs \(command[0]): \(folder.path): not a vault (no sfs.json in it): make one with `sfs init`\n")
        let file = try folder.file("f", "x")
        #expect(try run(command, file).code == 4)
        _ = try folder.file("sfs.json", #"{"other":1}"#)
        #expect(try run(command, folder.path.description).code == 4)
    }

    @Test(arguments: commands) func newerFormat(_ command: [String]) throws {
        let vault = try TestVault()
        try rewrite(vault) { $0.replacing("\"format\":1", with: "\"format\":2") }
        let outcome = try run(command, vault.path)
        #expect(outcome.code == 5, "\(outcome)")
        #expect(outcome.errors.contains("another version of SecureFS (format 2): update"))
    }

    @Test(arguments: commands) func damagedConfiguration(_ command: [String]) throws {
        let vault = try TestVault()
        try rewrite(vault) { $0.replacing("\"created\":1", with: "\"created\":2") }
        let outcome = try run(command, vault.path)
        #expect(outcome.code == 13, "\(outcome)")
        #expect(outcome.errors.contains("damaged (its checksum does not fit): restore it from a backup"))
        try rewrite(vault) { _ in "" }
        #expect(try run(command, vault.path).code == 13)
    }

    @Test func damagedSessionRecord() throws {
        let vault = try TestVault()
        try vault.overwrite(vault.path + "/sfs.session", at: 10, with: [1])
        for command in ["ls", "check"] {
            let outcome = try vault.run(command)
            #expect(outcome.code == 13, "\(outcome)")
            #expect(outcome.errors.contains("sfs.session is damaged"))
        }
    }

    @Test func inUse() throws {
        let vault = try TestVault()
        let holder = try vault.open(.readWrite)
        defer { try? holder.close() }
        for command in [["check", "--settle"]] {
            // Said before the passphrase is asked for: there is none.
            let outcome = try run(command, vault.path)
            #expect(outcome.code == 6, "\(outcome)")
            #expect(outcome.errors.hasPrefix("sfs \(command[0]): \(vault.path): the vault is in use by process "))
            #expect(outcome.errors.hasSuffix("unmount it there first\n"))
        }
        // Readers are welcome.
        #expect(try vault.run("ls").code == 0)
        #expect(try vault.run("check").code == 0)
        let info = try Sfs.run("info", vault.path)
        #expect(info.lines.contains("in use    by process \(CurrentProcess.id)"), "\(info)")
        #expect(try Sfs.run("info", "--json", vault.path).text.contains("\"inUseBy\":\(CurrentProcess.id),"))
    }

    @Test func info() throws {
        let vault = try TestVault()
        let outcome = try Sfs.run("info", vault.path)
        #expect(outcome.code == 0 && outcome.errors == "")
        let heads = outcome.lines.map { String($0.prefix { $0 != " " }) }
        #expect(heads == ["vault", "id", "format", "cipher", "created", "in", "slot", "slot"], "\(outcome)")
        #expect(outcome.lines.contains("in use    no") && outcome.lines.contains("cipher    aes-256-gcm"))
        #expect(outcome.text.contains(" passphrase: Argon2id, 8 KiB, 1 passes, 1 lanes\n"))
        let json = try Sfs.run("info", vault.path, "--json")
        #expect(json.lines.count == 1 && json.text.hasPrefix("{\"path\":\"\(vault.path)\",\"volumeId\":\""), "\(json)")
        #expect(json.text.contains(#""format":1,"cipher":"aes-256-gcm","created":"#) && json.text.contains(#""inUseBy":null,"slots":[{"id":""#))
        #expect(json.text.contains(#""type":"passphrase","argon2id":{"memoryKiB":8,"passes":1,"lanes":1}}"#))
        #expect(json.text.hasSuffix(#""type":"recovery"}]}"# + "\n"))
    }
}
