import SecureFileCore

enum Cat: Command {
    static let name = "cat"
    static let operands = ["VAULT|FILE", "[PATH]"]
    static let options: [Option] = StandaloneKey.options
    static let summary = "Print a file of a vault, without a mount; or an encrypted file outside of a vault."
    static let details = """
        PATH begins at the root of the vault, with or without a slash. Symlinks are followed as long as they stay in the vault.
        It may be done while the vault is mounted; what the mount has not written yet is not there.
        Of a damaged file, what lies before the first damaged block is printed.
        With FILE alone, the key is taken from the kernel's keyring, where `sfs unlock` puts it, or from the vault that --vault names.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        if arguments.operands.count == 1 { return try printStandalone(arguments) }
        if arguments.has(.vault) { throw .usage("--vault is for files outside of a vault") }
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

    private static func printStandalone(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let file = arguments.operands[0]
        let services = try StandaloneKey.services(for: file, arguments)
        let handle = try explaining(.entry, file) { () throws(SecureFileError) in
            try SecureFileHandle(opening: file, for: .reading, services: services)
        }
        let output = Output()
        let buffer = PageBuffer(count: 1 << 20)
        var offset: UInt64 = 0
        while true {
            let got = try read(handle, at: offset, into: buffer, file)
            if got == 0 { break }
            try output.write(buffer, 0..<got)
            offset += UInt64(got)
        }
        try output.flush()
        return .success
    }

    /// Short before a damaged block: the next call throws.
    private static func read(_ handle: SecureFileHandle, at offset: UInt64, into buffer: PageBuffer, _ file: RawPath) throws(Failure) -> Int {
        do throws(SecureFileError) { return try handle.read(into: buffer, at: offset) } catch {
            let good = (error.block?.rawValue ?? 0) * Int64(ContentGeometry.blockSize) - Int64(offset)
            guard error.code == .damaged, good > 0, good < Int64(buffer.count) else { throw Failure(error, about: .entry, path: file) }
            let part = PageBuffer(count: Int(good))
            let got = try explaining(.entry, file) { () throws(SecureFileError) in try handle.read(into: part, at: offset) }
            buffer.copy(0..<got, of: part, to: 0)
            return got
        }
    }
}
