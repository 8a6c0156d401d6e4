import SecureFileCore

enum Decrypt: Command {
    static let name = "decrypt"
    static let operands = ["FILE"]
    static let options: [Option] = [.output] + StandaloneKey.options
    static let summary = "Make a plaintext file of one that `sfs encrypt` or a program has made."
    static let details = """
        The key is taken from the kernel's keyring, where `sfs unlock` puts it, or from the vault that --vault names.
        The plaintext file takes the place of FILE once it is complete, verified and on the disk. With --output it becomes another file.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let file = arguments.operands[0]
        let files = SecureFiles(try StandaloneKey.services(for: file, arguments))
        try explaining(.entry, file) { () throws(SecureFileError) in
            if let output = arguments.value(.output) {
                try files.exportFile(file, to: RawPath(output))
            } else {
                try files.decrypt(file)
            }
        }
        return .success
    }
}
