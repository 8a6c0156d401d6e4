import COpenSSL

/// Why a cryptographic operation gave nothing.
public enum CryptoFailure: Error, Sendable {
    /// The tag does not fit: changed data or another key. Nothing unverified is released.
    case authentication
    /// libcrypto itself failed (out of memory, an algorithm that is missing).
    case library
    /// The key has been taken away for now.
    case noKey
}

/// Throws unless libcrypto said 1. Its error queue, which is per thread, is emptied so that it cannot lie to the next caller.
@inline(__always)
func check(_ result: Int32) throws(CryptoFailure) {
    if result != 1 {
        ERR_clear_error()
        throw .library
    }
}

/// Overwrites memory so that no compiler removes it.
@inline(__always)
@unsafe
func wipe(_ pointer: UnsafeMutableRawPointer, _ count: Int) { unsafe OPENSSL_cleanse(pointer, count) }

extension [UInt8] {
    /// Overwrites the bytes before they go: for arrays that held a secret.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { unsafe OPENSSL_cleanse(base, bytes.count) }
        }
        removeAll()
    }

    /// Whether two byte strings are the same, in a time that depends on their lengths only.
    package func equalsInConstantTime(_ other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { a in unsafe other.withUnsafeBytes { b in unsafe CRYPTO_memcmp(a.baseAddress, b.baseAddress, a.count) == 0 } }
    }
}
