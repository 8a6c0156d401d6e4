import COpenSSL

/// Random bytes of libcrypto's generator, fit for keys.
public enum RandomBytes {
    /// `count` random bytes.
    public static func make(_ count: Int) throws(CryptoFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBufferPointer { unsafe RAND_bytes($0.baseAddress, Int32($0.count)) }
        try check(result)
        return bytes
    }

    /// A random key of `count` bytes.
    public static func makeKey(_ count: Int) throws(CryptoFailure) -> SecretKey {
        try unsafe SecretKey(count: count) { (bytes: UnsafeMutableRawBufferPointer) throws(CryptoFailure) in
            try check(unsafe RAND_priv_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)))
        }
    }

    /// Fills the bytes `range` of `buffer`.
    static func fill(_ buffer: PageBuffer, _ range: Range<Int>) throws(CryptoFailure) {
        let result = unsafe buffer.withPointer(range) {
            unsafe RAND_bytes($0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count))
        }
        try check(result)
    }
}
