import SecureFileCore
import Testing

@Suite struct InitTests {
    static let cheap = ["--kdf-memory", "8", "--kdf-passes", "1"]

    func initialize(_ vault: RawPath, _ rest: [String], input: String? = nil) throws -> Sfs.Outcome {
        try Sfs.run([RawPath("init"), vault] + (rest + Self.cheap).map { RawPath($0) }, input: input.map { Array($0.utf8) })
    }

    func names(in path: RawPath) throws -> [String] {
        let stream = try DirectoryStream(FileDescriptor.open(path, [.readOnly, .directory]))
        var names: [String] = []
        while let entry = try stream.next() { names.append(String(decoding: entry.name, as: UTF8.self)) }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    @Test func makesAVaultAndShowsTheRecoveryKeyOnce() throws {
        let folder = try TemporaryFolder()
        let vault = folder.path.appending("v")
        let passfile = try folder.file("p", "secret\n")
        let outcome = try initialize(vault, ["--passfile", passfile])
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome)")
        let keys = outcome.lines.filter { $0.hasPrefix("    ") }.map { $0.drop { $0 == " " } }
        #expect(keys.count == 1)
        let key = try #require(keys.first)
        #expect(key.split(separator: "-").map(\.count) == Array(repeating: 4, count: 9))
        #expect(outcome.text.contains("only this once") && outcome.text.contains("sfs passwd --recovery-key"))
        #expect(!outcome.text.contains("secret"))
        _ = try Vault.open(at: vault, .recoveryKey(RecoveryKey(String(key))), .readOnly)
        _ = try Vault.open(at: vault, .passphrase(Array("secret".utf8)), .readOnly)
    }

    @Test func takesAnEmptyFolderAndRefusesOthers() throws {
        let folder = try TemporaryFolder()
        let passfile = try folder.file("p", "secret\n")
        let empty = try folder.folder("empty")
        #expect(try initialize(RawPath(empty), ["--passfile", passfile]).code == 0)

        let again = try initialize(RawPath(empty), ["--passfile", passfile])
        #expect(again.code == 17 && again.errors == "sfs init: \(empty): there is a vault already: `sfs info` shows it\n", "\(again)")

        let full = try folder.folder("full")
        _ = try folder.file("full/thing", "x")
        let refused = try initialize(RawPath(full), ["--passfile", passfile])
        #expect(refused.code == 17, "\(refused)")
        #expect(refused.errors == "sfs init: \(full): the folder is not empty: a vault is made in an empty or a new one\n")
        #expect(try names(in: RawPath(full)) == ["thing"])

        let notAFolder = try initialize(RawPath(passfile), ["--passfile", passfile])
        #expect(notAFolder.code == 17, "\(notAFolder)")

        let orphan = folder.path.appending("none/v")
        let missing = try initialize(orphan, ["--passfile", passfile])
        #expect(missing.code == 16, "\(missing)")
        #expect(missing.errors == "sfs init: \(folder.path)/none: the folder for the vault is missing: make it first: No such file or directory\n")
    }

    /// What is refused is refused before a passphrase is wanted: here there is none.
    @Test func refusesBeforeItAsks() throws {
        let folder = try TemporaryFolder()
        let full = try folder.folder("full")
        _ = try folder.file("full/thing", "x")
        #expect(try initialize(RawPath(full), []).code == 17)
        #expect(try initialize(folder.path.appending("v"), ["--cipher", "rot13"]).code == 2)
        #expect(try Sfs.run("init", folder.path.appending("v").description, "--kdf-passes", "0").code == 2)
        #expect(try names(in: folder.path) == ["full"])
    }

    @Test(arguments: ["aes-256-gcm", "chacha20-poly1305"]) func cipherIsChosen(_ cipher: String) throws {
        let folder = try TemporaryFolder()
        let vault = folder.path.appending("v")
        #expect(try initialize(vault, ["--cipher", cipher], input: "secret\n").code == 0)
        #expect(try Vault.readConfiguration(at: vault).cipher.name == cipher)
    }

    static let odd: [[UInt8]] = [
        Array("with space".utf8), Array("a,b,c".utf8), Array("-o".utf8), Array("quo'te\"s".utf8), Array("new\nline".utf8),
        [0x76, 0xff, 0xc3, 0x28], Array("ümlaut".utf8), Array("back\\slash".utf8),
    ]

    @Test(arguments: odd) func vaultPathsAreAnyBytes(_ name: [UInt8]) throws {
        let folder = try TemporaryFolder()
        let passfile = try folder.file("p", "secret\n")
        let script = "cd \"$PLACE\" && \"$SFS\" init --passfile p --kdf-memory 8 --kdf-passes 1 -- \"$1\" && \"$SFS\" ls --passfile p -- \"$1\""
        let outcome = try Sfs.run(
            program: RawPath("/bin/sh"), [RawPath("-c"), RawPath(script), RawPath("sh"), RawPath(name)],
            environment: ["PLACE=\(folder.path)"])
        #expect(outcome.code == 0, "\(outcome)")
        let vault = folder.path.appending(RawPath(name))
        _ = try Vault.open(at: vault, .passphrase(Array("secret".utf8)), .readOnly)
        let info = try Sfs.run([RawPath("info"), vault])
        #expect(info.code == 0, "\(info)")
        #expect(try Sfs.run([RawPath("ls"), vault, RawPath("--passfile"), RawPath(passfile)]).code == 0)
    }

    @Test func aSymlinkToTheFolderWillDo() throws {
        let folder = try TemporaryFolder()
        let real = try folder.folder("real")
        try FileDescriptor.open(folder.path, [.readOnly, .directory]).makeSymlink(RawPath("link"), target: RawPath(real))
        #expect(try initialize(folder.path.appending("link"), [], input: "secret").code == 0)
        #expect(try names(in: RawPath(real)).contains("sfs.json"))
    }

    @Test func afterAFailureNothingIsLeft() throws {
        let folder = try TemporaryFolder()
        for input in ["", "\n", "a\0b\n", String(repeating: "x", count: 4097) + "\n"] {
            let outcome = try initialize(folder.path.appending("v"), [], input: input)
            #expect(outcome.code == 8, "\(outcome)")
        }
        #expect(try names(in: folder.path) == [])
    }

    /// A recovery key that nobody has seen is no recovery key.
    @Test func aFullOutputIsAnError() throws {
        let folder = try TemporaryFolder()
        let outcome = try Sfs.shell(
            "echo secret | \"$SFS\" init \(folder.path)/v --kdf-memory 8 --kdf-passes 1 >/dev/full")
        #expect(outcome.code == 12, "\(outcome)")
        #expect(outcome.errors.contains("its recovery key could not be shown"))
    }
}
