import CLinux
import Glibc
import SecureFileCore

/// A passphrase or recovery key to be used once: a process that goes on serving for months does not keep it.
final class HeldCredential {
    private var credential: Credential

    init(_ credential: consuming Credential) { self.credential = credential }

    /// Gives the credential to `body`, and wipes it.
    func use<R>(_ body: (Credential) throws(SecureFileError) -> R) throws(SecureFileError) -> R {
        defer { wipe() }
        return try body(credential)
    }

    private func wipe() {
        guard case .passphrase(var bytes) = credential else { return }
        credential = .keyFile([])  // nobody else holds the bytes now: what is wiped is no copy
        bytes.wipe()
    }
}

/// Where passphrases and recovery keys come from: a file, a command, the terminal (without echo), or standard input. Never from an
/// argument.
///
/// Everywhere but on a terminal the secret is the first line. The line ends at a newline, which is dropped, with one carriage return
/// directly before it: a file written on Windows holds the same passphrase as one typed. Nothing else is changed.
struct Secrets {
    /// What is asked for: words for prompts and messages.
    struct Wanted {
        var what: String
        /// The option that names a file.
        var file: Option
        var command: Option?
        /// Typed twice on a terminal.
        var isNew = false
        static let passphrase = Wanted(what: "passphrase", file: .passfile, command: .passcommand)
        static let newPassphrase = Wanted(what: "new passphrase", file: .newPassfile, command: .newPasscommand, isNew: true)
        static let recoveryKey = Wanted(what: "recovery key", file: .recoveryFile, command: nil)
    }

    static let limit = 4096
    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    /// What opens the vault, from wherever the options say.
    func credential(for vault: RawPath) throws(Failure) -> HeldCredential {
        try arguments.requireAtMostOne(of: Option.ofKeys)
        guard arguments.has(.recoveryKey) || arguments.has(.recoveryFile) else {
            return HeldCredential(.passphrase(try secret(.passphrase, for: vault)))
        }
        var bytes = try secret(.recoveryKey, for: vault)
        defer { bytes.wipe() }
        do { return HeldCredential(.recoveryKey(try RecoveryKey(String(decoding: bytes, as: UTF8.self)))) } catch {
            throw Failure(.noSecret, error.message, path: vault)
        }
    }

    /// The secret that `wanted` describes, checked for what no passphrase can be. The caller wipes it.
    func secret(_ wanted: Wanted, for vault: RawPath) throws(Failure) -> [UInt8] {
        try arguments.requireAtMostOne(of: [wanted.file] + (wanted.command.map { [$0] } ?? []))
        if let file = arguments.value(wanted.file) { return try Self.fromFile(RawPath(file), wanted) }
        if let option = wanted.command, let command = arguments.value(option) { return try Self.fromCommand(RawPath(command), wanted) }
        if Console.inputIsTerminal { return try fromTerminal(wanted, vault) }
        guard let line = try Self.firstLine(Console.descriptor(0), RawPath("standard input")) else {
            throw Failure(.noSecret, "no \(wanted.what): standard input is at its end; give --\(wanted.file.name), or run it on a terminal")
        }
        return try Self.checked(line, wanted, from: nil)
    }

    /// The first line of a file.
    static func fromFile(_ path: RawPath, _ wanted: Wanted) throws(Failure) -> [UInt8] {
        let file: FileDescriptor
        do throws(Errno) {
            file = try FileDescriptor.open(path, .readOnly)
            if try file.status().kind == .directory { throw .isDirectory }
        } catch { throw Failure(.noSecret, "the \(wanted.what) file cannot be read: \(error)", path: path) }
        return try checked(try firstLine(file, path) ?? [], wanted, from: path)
    }

    private static func fromCommand(_ command: RawPath, _ wanted: Wanted) throws(Failure) -> [UInt8] {
        guard let pipe = unsafe command.withCString({ unsafe popen($0, "re") }) else {
            throw Failure(.noSecret, "the \(wanted.what) command cannot be run: \(Errno(rawValue: CLinux_errno()))")
        }
        var line: [UInt8]?
        var failure: Failure?
        do throws(Failure) {
            let descriptor = FileDescriptor(adopting: dup(unsafe fileno(pipe)))
            line = try firstLine(descriptor, RawPath("the \(wanted.what) command"))
            while let rest = try? readByte(descriptor) { _ = rest }  // to its end: it must not die of a closed pipe
        } catch { failure = error }
        let status = unsafe pclose(pipe)
        if let failure { throw failure }
        guard status == 0 else {
            let end = status & 0x7f == 0 ? "exit status \(status >> 8 & 0xff)" : "signal \(status & 0x7f)"
            throw Failure(.noSecret, "the \(wanted.what) command failed (\(end))")
        }
        return try checked(line ?? [], wanted, from: nil)
    }

    private func fromTerminal(_ wanted: Wanted, _ vault: RawPath) throws(Failure) -> [UInt8] {
        let name = wanted.what.prefix(1).uppercased() + wanted.what.dropFirst()
        let first = try Self.checked(try prompt("\(name) for \(Escaped(vault.bytes)): "), wanted, from: nil)
        guard wanted.isNew else { return first }
        var second = try prompt("Again: ")
        defer { second.wipe() }
        if second == first { return first }
        throw Failure(.noSecret, "the two passphrases differ: nothing was changed", path: vault)
    }

    private func prompt(_ text: String) throws(Failure) -> [UInt8] {
        let buffer = PageBuffer(count: Self.limit)
        defer { buffer.zero(0..<Self.limit) }
        var length = -2
        while length == -2 {  // stopped and continued: begin again
            Console.print(text, terminator: "")
            length = unsafe buffer.withPointer(0..<Self.limit) {
                unsafe CLinux_read_without_echo(0, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
            }
        }
        if length < 0 {
            let error = Errno(rawValue: CLinux_errno())
            throw Failure(.noSecret, error.rawValue == 0 ? "nothing was typed" : "the terminal cannot be read: \(error)")
        }
        if length > Self.limit { throw Failure(.noSecret, "what was typed is longer than \(Self.limit) bytes") }
        return buffer.bytes(0..<length)
    }

    private static func checked(_ secret: [UInt8], _ wanted: Wanted, from path: RawPath?) throws(Failure) -> [UInt8] {
        if secret.isEmpty {
            throw Failure(.noSecret, "the \(wanted.what) is empty" + (path == nil ? "" : ": it is the file's first line"), path: path)
        }
        if secret.contains(0) { throw Failure(.noSecret, "the \(wanted.what) contains a NUL byte", path: path) }
        return secret
    }

    // MARK: Lines

    /// The first line, without its end; nil at the end of the input. Takes nothing behind the line.
    private static func firstLine(_ descriptor: FileDescriptor, _ path: RawPath) throws(Failure) -> [UInt8]? {
        var line: [UInt8] = []
        line.reserveCapacity(limit + 2)  // no copies left behind by growing
        var isEnded = false
        do throws(Errno) {
            while let byte = try readByte(descriptor) {
                if byte == UInt8(ascii: "\n") {
                    isEnded = true
                    break
                }
                if line.count > limit {
                    line.wipe()
                    throw .fileTooLarge
                }
                line.append(byte)
            }
        } catch {
            let why = error == .fileTooLarge ? "its first line is longer than \(limit) bytes" : "\(error)"
            throw Failure(.noSecret, "cannot be read: \(why)", path: path)
        }
        if isEnded, line.last == UInt8(ascii: "\r") { line.removeLast() }
        if line.count > limit { throw Failure(.noSecret, "cannot be read: its first line is longer than \(limit) bytes", path: path) }
        return line.isEmpty && !isEnded ? nil : line
    }

    private static func readByte(_ descriptor: FileDescriptor) throws(Errno) -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let got = unsafe read(descriptor.rawValue, &byte, 1)
            if got == 1 { return byte }
            if got == 0 { return nil }
            let error = Errno(rawValue: CLinux_errno())
            if error != .interrupted { throw error }
        }
    }
}
