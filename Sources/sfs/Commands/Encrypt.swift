import SecureFileCore

enum Encrypt: Command {
    static let name = "encrypt"
    static let operands = ["FILE"]
    static let options: [Option] = [.output] + StandaloneKey.options
    static let summary = "Make an encrypted file of a plaintext file, outside of a vault."
    static let details = """
        The key is that of the vault that --vault names; if `sfs unlock` has left it in the kernel's keyring, no passphrase is asked for.
        The encrypted file takes the place of FILE once it is complete, verified and on the disk; the plaintext is then overwritten.
        With --output it becomes another file, and FILE stays.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let file = arguments.operands[0]
        let files = SecureFiles(try StandaloneKey.services(arguments))
        try explaining(.entry, file) { () throws(SecureFileError) in
            if let output = arguments.value(.output) {
                try files.importFile(file, to: RawPath(output))
            } else {
                try files.encrypt(file)
            }
        }
        return .success
    }
}
