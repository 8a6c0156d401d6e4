import SecureFileCore

enum Passwd: Command {
    static let name = "passwd"
    static let operands = ["VAULT"]
    static let options: [Option] = Option.ofKeys + [.newPassfile, .newPasscommand, .kdfMemory, .kdfPasses]
    static let summary = "Change the passphrase of a vault."
    static let details = """
        The old passphrase, or with --recovery-key or --recovery-file the recovery key, opens the vault. The recovery key and
        other passphrases keep working. Without a terminal, the old and the new passphrase are lines of standard input.
        It may be done while the vault is mounted.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let vault = arguments.operands[0]
        try arguments.requireAtMostOne(of: [.newPassfile, .newPasscommand])
        let argon2 = try KeyDerivation.parameters(arguments)
        _ = try explaining(.vault, vault) { () throws(SecureFileError) in try Vault.readConfiguration(at: vault) }
        let secrets = Secrets(arguments)
        let credential = try secrets.credential(for: vault)
        let slots = try explaining(.vault, vault) { () throws(SecureFileError) in
            try credential.use { (credential) throws(SecureFileError) in try VaultKeySlots(at: vault, credential) }
        }
        var passphrase = try secrets.secret(.newPassphrase, for: vault)
        defer { passphrase.wipe() }
        _ = try explaining(.vault, vault) { () throws(SecureFileError) in try slots.changePassphrase(to: passphrase, argon2) }
        return .success
    }
}
