import SecureFileCore

extension Errno {
    /// What a program is told of a failure of the vault. Whatever is wrong with a file's bytes is EIO, a key that is not its own too: to
    /// the program the file cannot be read, and no permission would help.
    init(_ error: SecureFileError) {
        switch error.code {
        case .damaged, .truncated, .wrongKey, .notSecureFile, .unsupportedVersion, .tampered:
            self = error.cause == nil || error.code == .wrongKey ? .inputOutput : error.errno
        default: self = error.errno
        }
    }
}

extension SecureFileError {
    /// The file itself is wrong, not the request or the disk: worth a line in the log.
    var isAboutContent: Bool {
        [.damaged, .truncated, .wrongKey, .notSecureFile, .unsupportedVersion, .tampered].contains(code)
    }
}

/// Runs a call of the vault or the engine; its error becomes the system's.
@inline(__always)
func asErrno<R>(_ body: () throws(SecureFileError) -> R) throws(Errno) -> R {
    do throws(SecureFileError) { return try body() } catch { throw Errno(error) }
}
