/// The bytes of a span, for several threads: a span itself cannot be handed to another one.
///
/// Whoever was given it has to be done with it when ``of(_:_:)`` returns.
@safe
final class LentBytes: @unchecked Sendable {
    private let bytes: UnsafeBufferPointer<UInt8>

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = bytes }

    /// Lends `span` out for the time of `body`.
    static func of<R, E: Error>(_ span: Span<UInt8>, _ body: (LentBytes) throws(E) -> R) throws(E) -> R {
        try unsafe span.withUnsafeBufferPointer { (bytes) throws(E) in try body(unsafe LentBytes(bytes)) }
    }

    func withSpan<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(unsafe Span(_unsafeElements: bytes))
    }
}
