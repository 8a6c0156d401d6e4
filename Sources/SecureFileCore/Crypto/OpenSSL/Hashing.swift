import COpenSSL

/// SHA-256, HMAC-SHA-256 and HKDF, by libcrypto.
public enum Hashing {
    /// SHA-256 of `message`: 32 bytes.
    public static func sha256(_ message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let result = unsafe message.withUnsafeBytes { message in
            unsafe digest.withUnsafeMutableBufferPointer { digest in
                unsafe EVP_Digest(message.baseAddress, message.count, digest.baseAddress, nil, algorithms.sha256, nil)
            }
        }
        try check(result)
        return digest
    }

    /// HMAC-SHA-256 of `message` under `key`: 32 bytes.
    public static func hmac(_ key: SecretKey, _ message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: 32)
        let result = unsafe tag.withUnsafeMutableBytes { tag in unsafe key.withBytes { key in unsafe hmac(key, message, into: tag) } }
        try check(result)
        return tag
    }

    /// HKDF-Expand (RFC 5869 section 2.3) of `key` with `info = label ‖ 00 ‖ context`: `count` bytes, 1 to 64. FORMAT section 1.
    public static func expand(_ key: SecretKey, _ label: String, _ context: [UInt8] = [], count: Int) throws(CryptoFailure) -> SecretKey {
        try expand(key, info: Array(label.utf8) + [0] + context, count: count)
    }

    private static func expand(_ key: SecretKey, info: [UInt8], count: Int) throws(CryptoFailure) -> SecretKey {
        try unsafe SecretKey(count: count) { (output: UnsafeMutableRawBufferPointer) throws(CryptoFailure) in
            try unsafe key.withBytes { (prk) throws(CryptoFailure) in
                var previous = [UInt8]()
                var block = [UInt8](repeating: 0, count: 32)
                defer {
                    previous.wipe()
                    block.wipe()
                }
                var done = 0
                var counter: UInt8 = 1
                while done < output.count {
                    // Reserved first: growing would leave a copy of the output so far behind.
                    var message = [UInt8]()
                    message.reserveCapacity(previous.count + info.count + 1)
                    message += previous
                    message += info
                    message.append(counter)
                    defer { message.wipe() }
                    try check(unsafe block.withUnsafeMutableBytes { block in unsafe hmac(prk, message, into: block) })
                    let take = min(32, output.count - done)
                    for i in 0..<take { unsafe output[done + i] = block[i] }
                    done += take
                    counter += 1
                    previous.wipe()
                    previous = block.map { $0 }  // a copy of its own: shared storage would be copied, not wiped
                }
            }
        }
    }

    /// HKDF (RFC 5869), extract and expand: `count` bytes, 1 to 64. FORMAT section 7.
    public static func hkdf(_ input: [UInt8], salt: [UInt8], info: [UInt8], count: Int = 32) throws(CryptoFailure) -> SecretKey {
        let prk = try unsafe SecretKey(count: 32) { (output: UnsafeMutableRawBufferPointer) throws(CryptoFailure) in
            try check(unsafe salt.withUnsafeBytes { salt in unsafe hmac(salt, input, into: output) })
        }
        return try expand(prk, info: info, count: count)
    }

    private static func hmac(
        _ key: UnsafeRawBufferPointer, _ message: [UInt8], into tag: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        var length: UInt32 = 32
        let result = unsafe message.withUnsafeBufferPointer { message in
            unsafe HMAC(
                algorithms.sha256, key.baseAddress, Int32(key.count), message.baseAddress, message.count,
                tag.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
        }
        return unsafe result == nil ? 0 : 1
    }
}
