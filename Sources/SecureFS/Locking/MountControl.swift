import SecureFileCore

/// The other end of a mount's control socket: for commands.
public struct MountControl: Sendable {
    private let path: RawPath
    /// A lock may have much to write.
    private static let seconds: Int32 = 3600

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

    private func send(_ order: ControlMessage.Order, discarding: Bool = false, key: SecretKey? = nil) throws(SecureFileError) {
        let request = PageBuffer(count: ControlMessage.requestLength)
        ControlMessage.encode(order, discarding: discarding, key: key, into: request)
        let reply = PageBuffer(count: 3 + ControlMessage.textMaximum)
        var (number, length) = (0, 0)
        do throws(Errno) {
            let connection = try LocalSocket.connect(to: path, seconds: Self.seconds)
            try connection.writeStream(request, 0..<ControlMessage.requestLength)
            request.zero(0..<request.count)
            try connection.readStream(into: reply, 0..<3)
            (number, length) = (Int(reply[0]), Int(reply[1]) | Int(reply[2]) << 8)
            guard length <= ControlMessage.textMaximum else { throw .inputOutput }
            try connection.readStream(into: reply, 3..<3 + length)
        } catch {
            // Without a listener the socket is a leftover; the process that made it has died, or is ending.
            let isMissing = error == .noEntry || error.rawValue == 111  // ECONNREFUSED
            throw SecureFileError(isMissing ? .notFound : .system, "the mount's process does not answer", path: path.description, cause: error)
        }
        if number == 0 { return }
        let code = number <= ControlMessage.codes.count ? ControlMessage.codes[number - 1] : .system
        throw SecureFileError(code, String(decoding: reply.bytes(3..<3 + length), as: UTF8.self))
    }
}
