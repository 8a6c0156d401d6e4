import SecureFileCore

/// The other end of a mount's control socket: for commands.
public struct MountControl: Sendable {
    private let path: RawPath
    /// How long an answer may take: a lock may have much to write.
    private static let (orderSeconds, attendSeconds): (Int32, Int32) = (3600, 5)

    /// - Parameters:
    ///   - pid: The process that serves the mount.
    ///   - user: Who runs it.
    public init(pid: Int32, user: UInt32) { path = ControlFolder.socket(of: pid, user: user) }

    /// Takes the key from the mount.
    ///
    /// - Parameter discardingUnwritten: What cannot be written is given up.
    /// - Throws: ``SecureFileError``: as the mount failed, `.notFound` where it has no control socket, `.permissionDenied`.
    public func lock(discardingUnwritten: Bool) throws(SecureFileError) { try send(.lock, discarding: discardingUnwritten) }

    /// Gives the mount its key.
    public func unlock(with keys: VolumeKeys) throws(SecureFileError) { try send(.unlock, key: keys.volumeKey) }

    /// Whether the mount is locked.
    public func isLocked() throws(SecureFileError) -> Bool {
        do throws(SecureFileError) { try send(.status) } catch {
            if error.code == .keyNotAvailable { return true }
            throw error
        }
        return false
    }

    /// To be called before an unmount.
    ///
    /// - Returns: What tells how the mount ended.
    /// - Throws: ``SecureFileError``: as for ``lock(discardingUnwritten:)``.
    public func attend() throws(SecureFileError) -> Attendance { Attendance(connection: try send(.attend), path: path) }

    /// Is told how a mount ended.
    public struct Attendance: Sendable {
        let connection: FileDescriptor
        let path: RawPath

        /// To be called once, when the process that served the mount has ended.
        ///
        /// - Throws: ``SecureFileError``: why not everything could be written, `.system` where the process ended without a word.
        public func requireGoodEnd() throws(SecureFileError) {
            let failure: SecureFileError?
            do throws(Errno) { failure = try MountControl.reply(connection) } catch {
                throw SecureFileError(.system, "the process that served the mount has ended before everything was written", path: path.description)
            }
            if let failure { throw failure }
        }
    }

    @discardableResult
    private func send(
        _ order: ControlMessage.Order, discarding: Bool = false, key: SecretKey? = nil
    ) throws(SecureFileError) -> FileDescriptor {
        let request = PageBuffer(count: ControlMessage.requestLength)
        ControlMessage.encode(order, discarding: discarding, key: key, into: request)
        let failure: SecureFileError?
        let connection: FileDescriptor
        do throws(Errno) {
            connection = try LocalSocket.connect(to: path, seconds: order == .attend ? Self.attendSeconds : Self.orderSeconds)
            try connection.writeStream(request, 0..<ControlMessage.requestLength)
            request.zero(0..<request.count)
            failure = try Self.reply(connection)
        } catch {
            // Without a listener the socket is a leftover; the process that made it has died, or is ending.
            let isMissing = error == .noEntry || error.rawValue == 111  // ECONNREFUSED
            throw SecureFileError(isMissing ? .notFound : .system, "the mount's process does not answer", path: path.description, cause: error)
        }
        if let failure { throw failure }
        return connection
    }

    private static func reply(_ connection: FileDescriptor) throws(Errno) -> SecureFileError? {
        let reply = PageBuffer(count: 3 + ControlMessage.textMaximum)
        try connection.readStream(into: reply, 0..<3)
        let length = Int(reply[1]) | Int(reply[2]) << 8
        guard length <= ControlMessage.textMaximum else { throw .inputOutput }
        try connection.readStream(into: reply, 3..<3 + length)
        return ControlMessage.decode(reply[0], reply.bytes(3..<3 + length))
    }
}
