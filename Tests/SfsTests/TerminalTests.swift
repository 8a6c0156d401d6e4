import SecureFileCore
import Testing

/// Passphrases typed on a terminal (a pseudo-terminal with Python at its other end).
@Suite struct TerminalTests {
    /// Runs `sfs` on a terminal; the result is the script's JSON.
    func type(_ arguments: [String], _ steps: [(String, String)]) throws -> String {
        let script = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let json = "[" + steps.map { "[\"\($0.0)\", \"\($0.1)\"]" }.joined(separator: ",") + "]"
        let words = ["/\(script)/terminal.py", Sfs.binary.description] + arguments
        let outcome = try Sfs.run(program: RawPath("/usr/bin/python3"), words.map { RawPath($0) }, input: Array(json.utf8))
        #expect(outcome.code == 0, "\(outcome)")
        return outcome.text
    }

    func create(_ vault: RawPath, _ steps: [(String, String)]) throws -> String {
        try type(["init", vault.description, "--kdf-memory", "8", "--kdf-passes", "1"], steps)
    }

    @Test func aNewPassphraseIsTypedTwiceWithoutEcho() throws {
        let folder = try TemporaryFolder()
        let vault = folder.path.appending("v")
        let result = try create(vault, [("Passphrase for ", "geheim, é"), ("Again: ", "geheim, é")])
        #expect(result.contains(#""code": 0, "echo": [false, false], "stopped": [], "restored": true"#), "\(result)")
        #expect(!result.contains("geheim"), "\(result)")
        _ = try Vault.open(at: vault, .passphrase(Array("geheim, é".utf8)), .readOnly)
    }

    @Test func twoThatDifferChangeNothing() throws {
        let folder = try TemporaryFolder()
        let vault = folder.path.appending("v")
        let result = try create(vault, [("Passphrase for ", "one"), ("Again: ", "other")])
        #expect(result.contains("the two passphrases differ") && result.contains(#""code": 8"#), "\(result)")
        #expect((try? System.exists(vault)) == nil)
    }

    @Test func anEmptyOneIsRefused() throws {
        let folder = try TemporaryFolder()
        let result = try create(folder.path.appending("v"), [("Passphrase for ", "")])
        #expect(result.contains("the passphrase is empty") && result.contains(#""code": 8"#), "\(result)")
    }

    @Test func anExistingOneIsTypedOnce() throws {
        let vault = try TestVault { try $0.file("a", "content") }
        let result = try type(["cat", vault.path, "a"], [("Passphrase for ", TestVault.passphrase)])
        #expect(result.contains(#""code": 0, "echo": [false], "stopped": [], "restored": true"#) && result.contains("content"), "\(result)")
        let wrong = try type(["cat", vault.path, "a"], [("Passphrase for ", "wrong")])
        #expect(wrong.contains(#""code": 3"#) && wrong.contains("wrong passphrase"), "\(wrong)")
    }

    @Test func theRecoveryKeyAndANewPassphraseAreTyped() throws {
        let vault = try TestVault()
        let result = try type(
            ["passwd", vault.path, "--recovery-key", "--kdf-memory", "8", "--kdf-passes", "1"],
            [("Recovery key for ", vault.recoveryKey), ("New passphrase for ", "neu"), ("Again: ", "neu")])
        #expect(result.contains(#""code": 0, "echo": [false, false, false], "stopped": [], "restored": true"#), "\(result)")
        #expect(!result.contains(vault.recoveryKey))
        _ = try Vault.open(at: RawPath(vault.path), .passphrase(Array("neu".utf8)), .readOnly)
    }

    @Test func anInterruptAtThePromptRestoresTheTerminal() throws {
        let vault = try TestVault()
        let result = try type(["ls", vault.path], [("Passphrase for ", "^C")])
        #expect(result.contains(#""code": -2, "echo": [false], "stopped": [], "restored": true"#), "\(result)")
    }

    @Test func theEndOfInputAtThePromptIsNoPassphrase() throws {
        let vault = try TestVault()
        let result = try type(["ls", vault.path], [("Passphrase for ", "^D")])
        #expect(result.contains(#""code": 8"#) && result.contains("nothing was typed") && result.contains(#""restored": true"#), "\(result)")
    }

    /// Stopped at the prompt, echo is on; continued, it is off again, and what was typed before counts no more.
    @Test func stoppingAtThePromptRestoresTheTerminalMeanwhile() throws {
        let vault = try TestVault { try $0.file("a", "content") }
        let result = try type(["cat", vault.path, "a"], [("Passphrase for ", "^Z"), ("Passphrase for ", TestVault.passphrase)])
        #expect(result.contains(#""code": 0, "echo": [false, false], "stopped": [true], "restored": true"#) && result.contains("content"), "\(result)")
    }

    @Test func namesOnATerminalAreEscaped() throws {
        let vault = try TestVault { try $0.file("red\u{1b}[31m\u{202e}", "x") }
        let result = try type(["ls", vault.path, "--passfile", vault.passfile], [])
        #expect(result.contains(#"red\\x1b[31m\\xe2\\x80\\xae"#), "\(result)")
    }

    @Test func checkShowsItsProgress() throws {
        let vault = try TestVault { writer in
            for i in 0..<200 { try writer.file(Array("file \(i)".utf8), Array(repeating: 1, count: 300_000)) }
        }
        let result = try type(["check", vault.path, "--passfile", vault.passfile], [])
        #expect(result.contains("checking: ") && result.contains(" %") && result.contains(#"\r\u001b[K"#) && result.contains("clean"), "\(result)")
    }
}

private enum System {
    static func exists(_ path: RawPath) throws -> Bool { try FileDescriptor.open(path, .pathOnly).status().size >= 0 }
}
