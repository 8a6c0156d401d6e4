import SecureFileCore
import Testing

@testable import sfs

@Suite struct UsageTests {
    @Test func helpIsThereForEachCommand() throws {
        let all = try Sfs.run("help")
        #expect(all.code == 0 && all.errors == "")
        #expect(try Sfs.run("--help").text == all.text)
        for command in Program.commands {
            #expect(all.text.contains("\n  \(command.name) "))
            let help = try Sfs.run(command.name, "--help")
            #expect(help.code == 0 && help.errors == "", "\(help)")
            #expect(help.text.hasPrefix("Usage: sfs \(command.name) "))
            #expect(try Sfs.run("help", command.name).text == help.text)
            #expect(try Sfs.run(command.name, "-h").text == help.text)
            for option in command.options where option.help != nil { #expect(help.text.contains("--\(option.name)")) }
            #expect(!help.text.contains("--kdf-"))
            for line in help.lines { #expect(line.count <= 130, "\(line)") }
        }
    }

    @Test(arguments: ["docs/CLI.md", "docs/man/sfs.1"]) func documentsHaveEveryCommandAndOption(_ name: String) throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = String(decoding: try FileDescriptor.open(RawPath("/\(root)/\(name)"), .readOnly).readAll(limit: 1 << 20), as: UTF8.self)
            .replacing("\\-", with: "-")
        for command in Program.commands { #expect(text.contains("sfs \(command.name)"), "\(name) lacks \(command.name)") }
        for option in Option.allCases where option.help != nil { #expect(text.contains("--\(option.name)"), "\(name) lacks --\(option.name)") }
    }

    @Test func version() throws {
        let outcome = try Sfs.run("--version")
        #expect(outcome.code == 0 && outcome.text == "sfs \(Program.version)\n")
    }

    @Test func wrongUsageIsSaidWithTheUsage() throws {
        let none = try Sfs.run()
        #expect(none.code == 2 && none.errors.hasPrefix("Usage: sfs COMMAND"), "\(none)")
        let unknown = try Sfs.run("frobnicate")
        #expect(unknown.code == 2 && unknown.errors == "sfs: unknown command frobnicate: `sfs help` lists them\n", "\(unknown)")
        let missing = try Sfs.run("ls")
        #expect(missing.code == 2)
        #expect(missing.errors == "sfs ls: VAULT is missing\nUsage: sfs ls VAULT [PATH] [option...]; see: sfs ls --help\n")
        let many = try Sfs.run("info", "a", "b\u{1b}")
        #expect(many.code == 2 && many.errors.hasPrefix("sfs info: too many operands: b\\x1b\n"), "\(many)")
        for command in Program.commands {
            let outcome = try Sfs.run(command.name, "--nonsense")
            #expect(outcome.code == 2 && outcome.errors.hasPrefix("sfs \(command.name): unknown option --nonsense\nUsage: sfs \(command.name) "))
            #expect(outcome.text == "")
        }
        #expect(try Sfs.run("ls", "").code == 2)
        #expect(try Sfs.run("help", "nonsense").code == 2)
    }

    /// POSIXLY_CORRECT changes getopt; not us.
    @Test func theEnvironmentChangesNothing() throws {
        let vault = try TestVault()
        let outcome = try Sfs.run("ls", vault.path, "--passfile", vault.passfile, environment: ["POSIXLY_CORRECT=1"])
        #expect(outcome.code == 0, "\(outcome)")
    }

    @Test func aFullOutputIsAnError() throws {
        for command in ["help", "--version", "info /nowhere --help"] {
            let outcome = try Sfs.shell("\"$SFS\" \(command) >/dev/full")
            #expect(outcome.code == 12 && outcome.errors == "sfs: standard output cannot be written: No space left on device\n", "\(outcome)")
        }
    }
}
