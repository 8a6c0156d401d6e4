/// Every option of every command: one name has one meaning wherever it stands.
enum Option: Int32, CaseIterable {
    case help = 1000
    case passfile, passcommand, recoveryKey, recoveryFile, newPassfile, newPasscommand
    case cipher, kdfMemory, kdfPasses
    case mountOptions, foreground, lazy
    case json, long, recursive, settle
    case vault, output, force, timeout, noKeyring, autoLock

    var name: StaticString {
        switch self {
        case .help: "help"
        case .passfile: "passfile"
        case .passcommand: "passcommand"
        case .recoveryKey: "recovery-key"
        case .recoveryFile: "recovery-file"
        case .newPassfile: "new-passfile"
        case .newPasscommand: "new-passcommand"
        case .cipher: "cipher"
        case .kdfMemory: "kdf-memory"
        case .kdfPasses: "kdf-passes"
        case .mountOptions: "options"
        case .foreground: "foreground"
        case .lazy: "lazy"
        case .json: "json"
        case .long: "long"
        case .recursive: "recursive"
        case .settle: "settle"
        case .vault: "vault"
        case .output: "output"
        case .force: "force"
        case .timeout: "timeout"
        case .noKeyring: "no-keyring"
        case .autoLock: "auto-lock"
        }
    }

    /// The one-letter form.
    var letter: Character? {
        switch self {
        case .help: "h"
        case .mountOptions: "o"
        case .foreground: "f"
        case .lazy: "z"
        case .long: "l"
        case .recursive: "R"
        default: nil
        }
    }

    /// What the usage calls the argument; nil for an option without one.
    var argument: String? {
        switch self {
        case .passfile, .newPassfile, .recoveryFile: "FILE"
        case .passcommand, .newPasscommand: "COMMAND"
        case .cipher: "NAME"
        case .kdfMemory: "KIB"
        case .kdfPasses: "N"
        case .mountOptions: "OPTS"
        case .vault: "VAULT"
        case .output: "FILE"
        case .timeout, .autoLock: "MINUTES"
        default: nil
        }
    }

    /// A line of the usage; nil for what only tests use.
    var help: String? {
        switch self {
        case .help: "show this and end"
        case .passfile: "the passphrase is the first line of FILE"
        case .passcommand: "the passphrase is the first line that COMMAND, run by /bin/sh, prints"
        case .recoveryKey: "ask for the recovery key instead of the passphrase"
        case .recoveryFile: "the recovery key is the first line of FILE"
        case .newPassfile: "the new passphrase is the first line of FILE"
        case .newPasscommand: "the new passphrase is the first line that COMMAND prints"
        case .cipher: "aes-256-gcm (the default) or chacha20-poly1305, for machines without AES instructions"
        case .kdfMemory, .kdfPasses: nil
        case .mountOptions: "ro, allow_other, nonempty, show_stores, special_files, auto_lock=MINUTES, passfile=FILE …, by commas"
        case .foreground: "stay in the foreground, with messages on standard error"
        case .lazy: "detach now, even if it is in use; what is open goes on until it is closed"
        case .json: "print JSON"
        case .long: "show mode, links, owner, group, size and time too"
        case .recursive: "show what is in the directories too, as paths"
        case .settle: "settle files of sessions that died, remove leftovers; the vault must not be mounted"
        case .vault: "the vault whose key is to be used"
        case .output: "make FILE, which does not exist yet, instead of replacing the operand"
        case .force: "give up what cannot be written, on a full disk, say"
        case .timeout: "how long the key stays in the kernel's keyring (60; 0: until it is removed)"
        case .noKeyring: "leave the kernel's keyring alone"
        case .autoLock: "lock the mount once no program has used it for so long"
        }
    }

    /// The options by which a command gets at the key.
    static let ofKeys: [Option] = [.passfile, .passcommand, .recoveryKey, .recoveryFile]
}
