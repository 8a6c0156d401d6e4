import SecureFileCore

/// Why a command ends early: what the user reads, and the exit code.
struct Failure: Error {
    var code: ExitCode
    /// What it is about; nil where the message needs no path.
    var path: RawPath?
    /// What failed; what to do. No secret, one line.
    var message: String
    /// The usage is shown after it.
    var showsUsage = false

    init(_ code: ExitCode, _ message: String, path: RawPath? = nil) {
        self.code = code
        self.path = path
        self.message = message
    }

    static func usage(_ message: String) -> Failure {
        var failure = Failure(.usage, message)
        failure.showsUsage = true
        return failure
    }

    /// - Parameter path: What the user called it; shown instead of the error's own path, which is relative to the vault or made absolute.
    init(_ error: SecureFileError, about subject: ExitCode.Subject, path: RawPath) {
        code = ExitCode(error, about: subject)
        self.path = path
        message = error.message
        if let block = error.block { message += " (block \(block))" }
        if let cause = error.cause { message += ": \(cause)" }
    }

    init(_ errno: Errno, _ message: String, about subject: ExitCode.Subject, path: RawPath) {
        code = ExitCode(errno, about: subject)
        self.path = path
        self.message = "\(message): \(errno)"
    }
}

/// Runs `body` and gives an error of the library the words and the path of the command line.
func explaining<R>(_ subject: ExitCode.Subject, _ path: RawPath, _ body: () throws(SecureFileError) -> R) throws(Failure) -> R {
    do throws(SecureFileError) { return try body() } catch { throw Failure(error, about: subject, path: path) }
}
