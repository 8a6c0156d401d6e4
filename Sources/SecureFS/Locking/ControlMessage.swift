import SecureFileCore

/// What is said on a control socket: a request of 40 bytes, and a reply of one byte and text.
///
/// The request is `53 46 53 43` (magic), 1 (version), the order, flags (1: discard what cannot be written), 0, and the volume key, 32 bytes, or
/// zeros. The reply is a number, 0 where nothing failed, two bytes of length (low one first), and the message. The number is the place of the
/// error in ``ControlMessage/codes``, from 1, or 128 and the errno where the system failed. To ``Order/attend`` there are two replies: one at once, one
/// when the mount has ended.
package enum ControlMessage {
    package enum Order: UInt8, Sendable { case lock = 1, unlock = 2, status = 3, attend = 4 }

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

    static func encode(_ failure: SecureFileError?) -> [UInt8] {
        guard let failure else { return [0, 0, 0] }
        var (number, text) = ((codes.firstIndex(of: failure.code) ?? 0) + 1, failure.message)
        if failure.code == .system, let cause = failure.cause, let errno = UInt8(exactly: cause.rawValue), errno < 128 {
            number = 128 + Int(errno)
        } else if let cause = failure.cause {
            text += ": \(cause)"
        }
        let bytes = Array(text.utf8.prefix(textMaximum))
        return [UInt8(number), UInt8(truncatingIfNeeded: bytes.count), UInt8(truncatingIfNeeded: bytes.count >> 8)] + bytes
    }

    /// What the number and the text of a reply say; nil where nothing failed.
    static func decode(_ number: UInt8, _ text: [UInt8]) -> SecureFileError? {
        if number == 0 { return nil }
        let message = String(decoding: text, as: UTF8.self)
        if number > 128 { return SecureFileError(.system, message, cause: Errno(rawValue: Int32(number) - 128)) }
        return SecureFileError(Int(number) <= codes.count ? codes[Int(number) - 1] : .system, message)
    }

    /// The errors that have a number; others travel as `.system`.
    static let codes: [SecureFileError.Code] = [
        .system, .noSpace, .wrongKey, .keyNotAvailable, .damaged, .truncated, .tampered, .closed, .inUse, .permissionDenied, .notSupported,
        .limitExceeded, .readOnly,
    ]
}
