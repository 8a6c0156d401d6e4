extension SecureFileError {
    /// A failure of libcrypto. What does not authenticate is damage; a caller for whom it is a wrong key says so itself.
    init(_ failure: CryptoFailure, _ message: String, path: String? = nil) {
        switch failure {
        case .authentication: self.init(.damaged, message, path: path)
        case .library: self.init(.system, message + " (libcrypto failed)", path: path)
        case .noKey: self.init(.keyNotAvailable, message + ": the key is locked away", path: path)
        }
    }
}

/// Runs a system call and says what failed.
@inline(__always)
func explained<R>(_ message: @autoclosure () -> String, path: String? = nil, _ body: () throws(Errno) -> R) throws(SecureFileError) -> R {
    do { return try body() } catch { throw SecureFileError(error, message(), path: path) }
}
