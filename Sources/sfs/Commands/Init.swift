import SecureFileCore

enum Init: Command {
    static let name = "init"
    static let operands = ["VAULT"]
    static let options: [Option] = [.passfile, .passcommand, .cipher, .kdfMemory, .kdfPasses]
    static let summary = "Make a new vault in a folder that is empty or does not exist yet."
    static let details = """
        The passphrase is asked for twice on the terminal; without a terminal it is the first line of standard input.
        The recovery key is printed on standard output, this once: it opens the vault when the passphrase is lost.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let vault = arguments.operands[0]
        let cipher = try cipher(arguments)
        let argon2 = try KeyDerivation.parameters(arguments)
        try requireRoom(vault)
        let wanted = Secrets.Wanted(what: "passphrase", file: .passfile, command: .passcommand, isNew: true)
        var passphrase = try Secrets(arguments).secret(wanted, for: vault)
        defer { passphrase.wipe() }
        let creation = Vault.Creation(passphrase: passphrase, cipher: cipher, argon2: argon2)
        let recovery = try explaining(.vault, vault) { () throws(SecureFileError) in try Vault.create(at: vault, creation) }
        do throws(Failure) { try show(recovery, vault) } catch {
            // A vault whose recovery key nobody has seen is not what was asked for.
            throw Failure(
                error.code,
                "the vault was made, but its recovery key could not be shown (\(error.message)): remove the folder and begin anew",
                path: vault)
        }
        return .success
    }

    private static func cipher(_ arguments: Arguments) throws(Failure) -> CipherKind {
        guard let name = arguments.value(.cipher) else { return .aes256GCM }
        guard let cipher = CipherKind.allCases.first(where: { $0.name.utf8.elementsEqual(name) }) else {
            let known = CipherKind.allCases.map(\.name).joined(separator: " and ")
            throw .usage("unknown cipher \(Escaped(name)); there are \(known)")
        }
        return cipher
    }

    /// Nothing is asked for where the answer could not be used. ``Vault/create(at:_:)`` looks again.
    private static func requireRoom(_ vault: RawPath) throws(Failure) {
        let isEmpty: Bool
        do throws(Errno) { isEmpty = try self.isEmpty(vault) } catch {
            if error == .noEntry { return try requireParent(vault) }
            throw Failure(
                error == .notDirectory ? .alreadyExists : ExitCode(error, about: .entry), "no vault can be made there: \(error)",
                path: vault)
        }
        if isEmpty { return }
        let isVault = (try? Vault.readConfiguration(at: vault)) != nil
        let why =
            isVault ? "there is a vault already: `sfs info` shows it" : "the folder is not empty: a vault is made in an empty or a new one"
        throw Failure(.alreadyExists, why, path: vault)
    }

    private static func isEmpty(_ path: RawPath) throws(Errno) -> Bool {
        let stream = try DirectoryStream(try FileDescriptor.open(path, [.readOnly, .directory]))
        while let entry = try stream.next() {
            if entry.name != [46] && entry.name != [46, 46] { return false }
        }
        return true
    }

    private static func requireParent(_ vault: RawPath) throws(Failure) {
        let parent = System.split(vault).parent
        do throws(Errno) { _ = try System.status(parent) } catch {
            throw Failure(error, "the folder for the vault is missing: make it first", about: .entry, path: parent)
        }
    }

    private static func show(_ recovery: RecoveryKey, _ vault: RawPath) throws(Failure) {
        guard let text = try? recovery.exposedText() else { throw Failure(.failure, "it cannot be written as text") }
        let output = Output()
        try output.line("A vault was made in \(Escaped(vault.bytes)). Its recovery key:")
        try output.line()
        try output.line("    \(text)")
        try output.line()
        try output.line("It opens the vault if the passphrase is lost (`sfs passwd --recovery-key`). It is shown only this once: write it")
        try output.line("down and keep it apart from this computer. Whoever has it and the vault can read everything.")
        try output.flush()
    }
}

/// The cost of a guess at the passphrase.
enum KeyDerivation {
    /// The standard, or what a test says.
    static func parameters(_ arguments: Arguments) throws(Failure) -> Argon2Parameters {
        var parameters = Argon2Parameters.standard
        if let memory = try arguments.number(.kdfMemory, in: 8...4_194_304) {
            parameters.memoryKiB = memory
            parameters.lanes = memory < 1024 ? 1 : parameters.lanes
        }
        if let passes = try arguments.number(.kdfPasses, in: 1...1024) { parameters.passes = passes }
        return parameters
    }
}
