import SecureFileCore

/// What is said on a control socket: a request of 40 bytes, and a reply of one byte and text.
///
/// The request is `53 46 53 43` (magic), 1 (version), the order, flags (1: discard what cannot be written), 0, and the volume key, 32 bytes, or
/// zeros. The reply is the number of the error in ``ControlMessage/codes``, 0 for none, two bytes of length (low one first), and the message.
package enum ControlMessage {
    package enum Order: UInt8, Sendable { case lock = 1, unlock = 2, status = 3 }

    static let requestLength = 40
    static let textMaximum = 1000
    private static let magic: UInt32 = 0x4353_4653

    static func encode(_ order: Order, discarding: Bool, key: SecretKey?, into buffer: PageBuffer) {
        buffer.zero(0..<requestLength)
        buffer.store(magic, at: 0)
        buffer[4] = 1
        buffer[5] = order.rawValue
        buffer[6] = discarding ? 1 : 0
        guard let key else { return }
        var bytes = key.exposedBytes()
        buffer.copy(bytes, to: 8)
        bytes.wipe()
    }

    /// Nil where it is not a request that is known here.
    static func decode(_ buffer: PageBuffer) -> (order: Order, discarding: Bool, key: SecretKey)? {
        guard buffer.load(at: 0, as: UInt32.self) == magic, buffer[4] == 1, let order = Order(rawValue: buffer[5]), buffer[6] <= 1, buffer[7] == 0 else {
            return nil
        }
        var bytes = buffer.bytes(8..<requestLength)
        defer { bytes.wipe() }
        return (order, buffer[6] == 1, SecretKey(copying: bytes))
    }

    /// The errors that have a number; others travel as `.system`.
    static let codes: [SecureFileError.Code] = [
        .system, .noSpace, .wrongKey, .keyNotAvailable, .damaged, .truncated, .tampered, .closed, .inUse, .permissionDenied, .notSupported,
        .limitExceeded, .readOnly,
    ]
}
