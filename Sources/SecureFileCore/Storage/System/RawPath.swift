/// A path or file name as the system sees it: bytes without NUL, in no particular encoding.
public struct RawPath: Hashable, Sendable, CustomStringConvertible {
    /// The bytes with a NUL behind them, so that a call needs no copy.
    private let terminated: [UInt8]

    /// - Precondition: no byte is NUL.
    public init(_ bytes: some Sequence<UInt8>) {
        var copy = Array(bytes)
        precondition(!copy.contains(0), "a path holds no NUL")
        copy.append(0)
        terminated = copy
    }

    public init(_ string: String) { self.init(string.utf8.prefix { $0 != 0 }) }

    public var bytes: ArraySlice<UInt8> { terminated.dropLast() }
    public var count: Int { terminated.count - 1 }
    public var isEmpty: Bool { count == 0 }

    /// For messages: bytes that are no UTF-8 are replaced.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// This path, a slash, and `name`.
    public func appending(_ name: RawPath) -> RawPath {
        isEmpty ? name : RawPath(Array(bytes) + [UInt8(ascii: "/")] + name.bytes)
    }

    public func appending(_ name: String) -> RawPath { appending(RawPath(name)) }

    @inline(__always)
    @unsafe
    public func withCString<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
        unsafe terminated.withUnsafeBytes { bytes in
            unsafe body(bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
        }
    }
}
