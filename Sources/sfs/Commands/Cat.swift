import SecureFileCore

enum Cat: Command {
    static let name = "cat"
    static let operands = ["VAULT", "PATH"]
    static let options: [Option] = Option.ofKeys
    static let summary = "Print a file of a vault, without a mount."
    static let details = """
        PATH begins at the root of the vault, with or without a slash. Symlinks are followed as long as they stay in the vault.
        It may be done while the vault is mounted; what the mount has not written yet is not there.
        Of a damaged file, what lies before the first damaged block is printed.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let reader = try VaultReader(arguments)
        let path = arguments.operands[1]
        guard case .entry(let name, let status, let directory) = try reader.resolve(path, followingLast: true), status.kind == .regular
        else {
            throw Failure(.notFound, "is a directory", path: path)
        }
        let file: FileDescriptor
        do throws(Errno) { file = try directory.openFile(name, .readOnly) } catch {
            throw Failure(error, "cannot be opened", about: .entry, path: path)
        }
        try copy(ContentReader(file, reader.vault, path), to: Output())
        return .success
    }

    private static func copy(_ content: ContentReader, to output: Output) throws(Failure) {
        let buffer = PageBuffer(count: 1 << 20)
        var offset: Int64 = 0
        while true {
            let got = try content.read(at: offset, into: buffer)
            if got == 0 { break }
            try output.write(buffer, 0..<got)
            offset += Int64(got)
        }
        try output.flush()
    }
}
