import CLinux
import SecureFileCore

/// One word after `sfs`.
protocol Command: SendableMetatype {
    static var name: String { get }
    /// As the usage shows them; those that may be left out in brackets.
    static var operands: [String] { get }
    static var options: [Option] { get }
    /// One line.
    static var summary: String { get }
    /// What the usage says besides; may be empty.
    static var details: String { get }
    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode
}

extension Command {
    static var details: String { "" }

    static var usage: String {
        var lines = ["Usage: sfs \(name) " + (operands + ["[option...]"]).joined(separator: " "), "", summary]
        if !details.isEmpty { lines += ["", details] }
        lines += ["", "Options:"] + (options + [.help]).compactMap(Self.line)
        return lines.joined(separator: "\n")
    }

    private static func line(_ option: Option) -> String? {
        guard let help = option.help else { return nil }
        var words = option.letter.map { "-\($0), " } ?? "    "
        words += "--\(option.name)" + (option.argument.map { " \($0)" } ?? "")
        return "  " + words + String(repeating: " ", count: max(2, 28 - words.count)) + help
    }
}

/// The program as a whole.
enum Program {
    static let version = "0.1.0"
    static let commands: [any Command.Type] = [
        Init.self, Mount.self, Umount.self, Info.self, Passwd.self, Check.self, Cat.self, Ls.self, Store.self, Lock.self,
        Unlock.self, Encrypt.self, Decrypt.self,
    ]

    static var usage: String {
        var lines = [
            "Usage: sfs COMMAND ...", "",
            "An encrypted filesystem: a vault is a folder of ciphertext; its plaintext appears where it is mounted.", "", "Commands:",
        ]
        for command in commands {
            lines.append("  " + command.name + String(repeating: " ", count: 10 - command.name.count) + command.summary)
        }
        lines += [
            "  help      show this, or the usage of a command", "",
            "`sfs COMMAND --help` shows the options. `sfs --version` shows the version.",
        ]
        return lines.joined(separator: "\n")
    }

    /// Does what the command line says.
    static func run(_ words: ArgumentVector) -> ExitCode {
        _ = CLinux_harden_process()
        guard words.count > 1 else {
            Console.print(usage)
            return .usage
        }
        let word = String(decoding: words[1], as: UTF8.self)
        switch word {
        case "help", "--help", "-h": return help(words)
        case "--version", "-V": return show("sfs \(version)")
        default: break
        }
        // mount(8) and mount.fuse3(8) call `sfs VAULT MOUNTPOINT -o …`, with absolute paths.
        if words[1].contains(UInt8(ascii: "/")) { return run(Mount.self, words) }
        guard let command = commands.first(where: { $0.name == word }) else {
            Console.complain("", nil, "unknown command \(Escaped(words[1])): `sfs help` lists them")
            return .usage
        }
        return run(command, words.dropFirst())
    }

    static func run(_ command: any Command.Type, _ words: ArgumentVector) -> ExitCode {
        do throws(Failure) {
            let arguments = try words.parse(command.options + [.help])
            if arguments.has(.help) { return show(command.usage) }
            try arguments.expect(command.operands)
            return try command.run(arguments)
        } catch {
            Console.complain(command.name, error.path, error.message)
            if error.showsUsage {
                Console.print(
                    "Usage: sfs \(command.name) " + (command.operands + ["[option...]"]).joined(separator: " ")
                        + "; see: sfs \(command.name) --help")
            }
            return error.code
        }
    }

    private static func help(_ words: ArgumentVector) -> ExitCode {
        guard words.count > 2 else { return show(usage) }
        guard let command = commands.first(where: { $0.name.utf8.elementsEqual(words[2]) }) else {
            Console.complain("help", nil, "unknown command \(Escaped(words[2])): `sfs help` lists them")
            return .usage
        }
        return show(command.usage)
    }

    private static func show(_ text: String) -> ExitCode {
        let output = Output()
        do throws(Failure) {
            try output.line(text)
            try output.flush()
            return .success
        } catch {
            Console.complain("", error.path, error.message)
            return error.code
        }
    }
}
