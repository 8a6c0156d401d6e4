import SecureFileCore
import Testing

/// Every way a passphrase comes in, and what it may be.
@Suite struct SecretTests {
    /// What the file holds, and the passphrase it means; nil where it is refused.
    static let lines: [(content: [UInt8], passphrase: [UInt8]?)] = [
        (Array("plain".utf8), Array("plain".utf8)),
        (Array("plain\n".utf8), Array("plain".utf8)),
        (Array("plain\nsecond line\n".utf8), Array("plain".utf8)),
        (Array("windows\r\n".utf8), Array("windows".utf8)),
        (Array("windows\r\nsecond\r\n".utf8), Array("windows".utf8)),
        (Array("two\r\r\n".utf8), Array("two\r".utf8)),
        (Array("kept\r".utf8), Array("kept\r".utf8)),
        (Array(" spaces \t\n".utf8), Array(" spaces \t".utf8)),
        (Array("a,b=c\\d'\"\n".utf8), Array("a,b=c\\d'\"".utf8)),
        (Array("pässwörd 日本\n".utf8), Array("pässwörd 日本".utf8)),
        ([0xff, 0xfe, 0x80, 0x0a], [0xff, 0xfe, 0x80]),
        (Array(String(repeating: "x", count: 4096).utf8) + [10], Array(String(repeating: "x", count: 4096).utf8)),
        (Array(String(repeating: "x", count: 4097).utf8) + [10], nil),
        (Array(String(repeating: "x", count: 100_000).utf8), nil),
        ([], nil), ([10], nil), ([13, 10], nil), (Array("\nsecond\n".utf8), nil), ([0x61, 0, 0x62, 10], nil),
    ]

    @Test(arguments: lines) func aFilesFirstLineIsThePassphrase(_ content: [UInt8], _ passphrase: [UInt8]?) throws {
        let folder = try TemporaryFolder()
        let vault = folder.path.appending("v")
        let passfile = try folder.file("p", content)
        let outcome = try Sfs.run("init", vault.description, "--passfile", passfile, "--kdf-memory", "8", "--kdf-passes", "1")
        if let passphrase {
            #expect(outcome.code == 0, "\(outcome)")
            _ = try Vault.open(at: vault, .passphrase(passphrase), .readOnly)
            // The same file opens it, by every way in.
            #expect(try Sfs.run("ls", vault.description, "--passfile", passfile).code == 0)
            #expect(try Sfs.run("ls", vault.description, "--passcommand", "cat '\(passfile)'").code == 0)
            #expect(try Sfs.run([RawPath("ls"), vault], input: content).code == 0)
        } else {
            #expect(outcome.code == 8, "\(outcome)")
            #expect(outcome.errors.hasPrefix("sfs init: "))
        }
    }

    /// A vault made by the library with any bytes opens with the same bytes.
    @Test func passphrasesAreBytes() throws {
        for passphrase in [[0xc3, 0x28], Array("é".utf8), Array("e\u{301}".utf8)] as [[UInt8]] {
            let folder = try TemporaryFolder()
            let vault = folder.path.appending("v")
            _ = try Vault.create(at: vault, Vault.Creation(passphrase: passphrase, argon2: .insecureMinimum))
            #expect(try Sfs.run([RawPath("ls"), vault], input: passphrase).code == 0)
            #expect(try Sfs.run([RawPath("ls"), vault], input: Array("é!".utf8)).code == 3)
        }
    }

    @Test func aFileThatCannotBeReadIsNoWrongPassphrase() throws {
        let vault = try TestVault()
        let missing = try Sfs.run("ls", vault.path, "--passfile", "/no/such/file")
        #expect(missing.code == 8, "\(missing)")
        #expect(missing.errors == "sfs ls: /no/such/file: the passphrase file cannot be read: No such file or directory\n")
        let folder = try Sfs.run("ls", vault.path, "--passfile", vault.folder.path.description)
        #expect(folder.code == 8, "\(folder)")
        #expect(folder.errors.hasSuffix("the passphrase file cannot be read: Is a directory\n"))
        let empty = try Sfs.run("ls", vault.path, "--passfile", try vault.folder.file("empty", ""))
        #expect(empty.code == 8 && empty.errors.hasSuffix("the passphrase is empty: it is the file's first line\n"), "\(empty)")
        let endless = try Sfs.run("ls", vault.path, "--passfile", "/dev/zero")
        #expect(endless.code == 8, "\(endless)")
    }

    @Test func wrongPassphrasesAreSaidAndChangeNothing() throws {
        let vault = try TestVault()
        let digest = "cd '\(vault.path)' && find . -type f | sort | xargs sha256sum && find . | sort"
        let before = try Sfs.shell(digest).text
        for command in [["ls", vault.path], ["cat", vault.path, "x"], ["check", vault.path], ["check", vault.path, "--settle"], ["passwd", vault.path]] {
            let outcome = try Sfs.run(command.map { RawPath($0) }, input: Array("wrong\nnew\n".utf8))
            #expect(outcome.code == 3, "\(outcome)")
            #expect(outcome.errors == "sfs \(command[0]): \(vault.path): wrong passphrase\n")
            #expect(outcome.text == "")
        }
        #expect(try Sfs.shell(digest).text == before)
    }

    @Test func aCommandThatFailsIsNoPassphrase() throws {
        let vault = try TestVault()
        let good = try Sfs.run("ls", vault.path, "--passcommand", "printf '%s\\nmore\\n' '\(TestVault.passphrase)'")
        #expect(good.code == 0, "\(good)")
        let failing = try Sfs.run("ls", vault.path, "--passcommand", "echo '\(TestVault.passphrase)'; exit 3")
        #expect(failing.code == 8 && failing.errors == "sfs ls: the passphrase command failed (exit status 3)\n", "\(failing)")
        let killed = try Sfs.run("ls", vault.path, "--passcommand", "kill -9 $$")
        #expect(killed.code == 8 && killed.errors.contains("(signal 9)"), "\(killed)")
        let silent = try Sfs.run("ls", vault.path, "--passcommand", "true")
        #expect(silent.code == 8 && silent.errors == "sfs ls: the passphrase is empty\n", "\(silent)")
        let missing = try Sfs.run("ls", vault.path, "--passcommand", "/no/such/program")
        #expect(missing.code == 8, "\(missing)")
        // One that goes on printing is listened to until its end.
        let long = try Sfs.run("ls", vault.path, "--passcommand", "echo '\(TestVault.passphrase)'; head -c 1000000 /dev/zero")
        #expect(long.code == 0, "\(long)")
    }

    @Test func withoutTerminalOrInputItSaysWhatToDo() throws {
        let vault = try TestVault()
        let outcome = try Sfs.run("ls", vault.path)
        #expect(outcome.code == 8)
        #expect(outcome.errors == "sfs ls: no passphrase: standard input is at its end; give --passfile, or run it on a terminal\n")
    }

    @Test func waysInExcludeEachOther() throws {
        let vault = try TestVault()
        let outcome = try Sfs.run("ls", vault.path, "--passfile", vault.passfile, "--passcommand", "true")
        #expect(outcome.code == 2 && outcome.errors.hasPrefix("sfs ls: --passfile and --passcommand exclude each other\n"), "\(outcome)")
        #expect(try Sfs.run("ls", vault.path, "--passfile", vault.passfile, "--recovery-key").code == 2)
        #expect(try Sfs.run("passwd", vault.path, "--new-passfile", "x", "--new-passcommand", "y").code == 2)
    }

    @Test func theRecoveryKeyOpensTheVault() throws {
        let vault = try TestVault { try $0.file("a", "content") }
        let file = try vault.folder.file("recovery", vault.recoveryKey.lowercased() + "\r\n")
        #expect(try Sfs.run("cat", vault.path, "a", "--recovery-file", file).text == "content")
        #expect(try Sfs.run("cat", vault.path, "a", "--recovery-key", input: vault.recoveryKey).text == "content")

        var mistyped = Array(vault.recoveryKey)
        mistyped[0] = mistyped[0] == "A" ? "B" : "A"
        let wrong = try Sfs.run("ls", vault.path, "--recovery-key", input: String(mistyped))
        #expect(wrong.code == 8 && wrong.errors.contains("mistyped"), "\(wrong)")
        let shape = try Sfs.run("ls", vault.path, "--recovery-key", input: "not a key")
        #expect(shape.code == 8 && shape.errors.contains("nine groups of four"), "\(shape)")
        let other = try Sfs.run("ls", vault.path, "--recovery-key", input: try TestVault().recoveryKey)
        #expect(other.code == 3 && other.errors == "sfs ls: \(vault.path): this is not the vault's recovery key\n", "\(other)")
    }

    /// A passphrase in an argument could be read by anybody: there is no such option.
    @Test func noOptionTakesAPassphrase() throws {
        for option in ["--passphrase", "--password", "-p"] { #expect(try Sfs.run("ls", "/nowhere", option, "x").code == 2) }
    }
}
