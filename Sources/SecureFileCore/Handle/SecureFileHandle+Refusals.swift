// Members of Foundation's FileHandle that a secure file cannot have. Each refuses, at once and without harm: a descriptor would give out
// ciphertext, or take plaintext into the encrypted file; asynchronous I/O and connections are for pipes and sockets. For reading in the
// background there are ``SecureFileHandle/chunks(ofCount:)`` and ``SecureFileHandle/bytes``.
extension SecureFileHandle {
    private static func refused(_ what: String) -> SecureFileError {
        SecureFileError(.notSupported, "\(what) is not possible with a secure file")
    }

    /// Always -1: whoever has the descriptor reads and writes ciphertext.
    public var fileDescriptor: Int32 { -1 }

    /// Refused: a descriptor does not say which file it is, nor who else has it.
    ///
    /// - Throws: ``SecureFileError``: `.notSupported`, always.
    public convenience init(fileDescriptor: Int32, closeOnDealloc: Bool = false) throws(SecureFileError) {
        throw Self.refused("a handle for a descriptor")
    }

    /// Always nil. Setting one is refused, which ``lastError`` tells.
    public var readabilityHandler: (@Sendable (SecureFileHandle) -> Void)? {
        get { nil }
        set { if newValue != nil { note(Self.refused("a readability handler")) } }
    }

    /// Always nil. Setting one is refused, which ``lastError`` tells.
    public var writeabilityHandler: (@Sendable (SecureFileHandle) -> Void)? {
        get { nil }
        set { if newValue != nil { note(Self.refused("a writeability handler")) } }
    }

    /// Refused. - Throws: ``SecureFileError``: `.notSupported`, always.
    public func readInBackgroundAndNotify() throws(SecureFileError) { throw Self.refused("reading in the background") }

    /// Refused. - Throws: ``SecureFileError``: `.notSupported`, always.
    public func readInBackgroundAndNotify(forModes modes: [String]?) throws(SecureFileError) { throw Self.refused("reading in the background") }

    /// Refused. - Throws: ``SecureFileError``: `.notSupported`, always.
    public func readToEndOfFileInBackgroundAndNotify() throws(SecureFileError) { throw Self.refused("reading in the background") }

    /// Refused. - Throws: ``SecureFileError``: `.notSupported`, always.
    public func readToEndOfFileInBackgroundAndNotify(forModes modes: [String]?) throws(SecureFileError) {
        throw Self.refused("reading in the background")
    }

    /// Refused. - Throws: ``SecureFileError``: `.notSupported`, always.
    public func waitForDataInBackgroundAndNotify() throws(SecureFileError) { throw Self.refused("waiting for data") }

    /// Refused. - Throws: ``SecureFileError``: `.notSupported`, always.
    public func waitForDataInBackgroundAndNotify(forModes modes: [String]?) throws(SecureFileError) { throw Self.refused("waiting for data") }

    /// Refused. - Throws: ``SecureFileError``: `.notSupported`, always.
    public func acceptConnectionInBackgroundAndNotify() throws(SecureFileError) { throw Self.refused("accepting a connection") }

    /// Refused. - Throws: ``SecureFileError``: `.notSupported`, always.
    public func acceptConnectionInBackgroundAndNotify(forModes modes: [String]?) throws(SecureFileError) {
        throw Self.refused("accepting a connection")
    }
}
