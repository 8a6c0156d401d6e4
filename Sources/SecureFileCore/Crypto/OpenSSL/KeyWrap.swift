import COpenSSL

/// AES-256-GCM of a key under another: what a key slot holds. FORMAT section 7. One message a context: slots are opened once in a session.
enum KeyWrap {
    static let nonceLength = 12
    static let tagLength = 16

    /// The ciphertext of `key`, then the tag.
    static func wrap(_ key: SecretKey, under kek: SecretKey, nonce: [UInt8], associatedData: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        precondition(kek.count == 32 && nonce.count == nonceLength)
        let context = GCMContext()
        var wrapped = [UInt8](repeating: 0, count: key.count + tagLength)
        let result: Int32 = unsafe wrapped.withUnsafeMutableBufferPointer { output in
            unsafe kek.withBytes { kek in
                unsafe key.withBytes { key in unsafe context.seal(key, kek, nonce, associatedData, into: output) }
            }
        }
        try check(result)
        return wrapped
    }

    /// - Throws: `.authentication` where the tag does not fit.
    static func unwrap(_ wrapped: [UInt8], under kek: SecretKey, nonce: [UInt8], associatedData: [UInt8]) throws(CryptoFailure) -> SecretKey
    {
        precondition(kek.count == 32 && nonce.count == nonceLength)
        guard wrapped.count > tagLength else { throw .authentication }
        let context = GCMContext()
        // A failure wipes what was decrypted: the new key is given back to its arena, which wipes.
        return try unsafe SecretKey(count: wrapped.count - tagLength) { (output: UnsafeMutableRawBufferPointer) throws(CryptoFailure) in
            let result: Int32 = unsafe kek.withBytes { kek in
                unsafe context.open(wrapped, kek, nonce, associatedData, into: output)
            }
            ERR_clear_error()
            if result == 0 { throw .library }
            if result < 0 {
                unsafe wipe(output.baseAddress!, output.count)
                throw .authentication
            }
        }
    }
}

/// A context for one message.
@safe
private final class GCMContext {
    private let context: OpaquePointer?

    init() { unsafe context = EVP_CIPHER_CTX_new() }
    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// 1, or 0 when libcrypto failed.
    @unsafe
    func seal(
        _ key: UnsafeRawBufferPointer, _ kek: UnsafeRawBufferPointer, _ nonce: [UInt8], _ associatedData: [UInt8],
        into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int32 {
        guard let start = output.baseAddress else { return 0 }
        var length: Int32 = 0
        let ok =
            unsafe EVP_EncryptInit_ex2(context, algorithms.aes256GCM, kek.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce, nil) == 1
            && EVP_EncryptUpdate(context, nil, &length, associatedData, Int32(associatedData.count)) == 1
            && EVP_EncryptUpdate(context, start, &length, key.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(key.count)) == 1
            && EVP_EncryptFinal_ex(context, start + key.count, &length) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(KeyWrap.tagLength), start + key.count) == 1
        return ok ? 1 : 0
    }

    /// 1; -1 when the tag does not fit, 0 when libcrypto failed.
    @unsafe
    func open(
        _ wrapped: [UInt8], _ kek: UnsafeRawBufferPointer, _ nonce: [UInt8], _ associatedData: [UInt8],
        into output: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        guard let start = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
        var tag = Array(wrapped.suffix(KeyWrap.tagLength))
        var length: Int32 = 0
        let ok =
            unsafe EVP_DecryptInit_ex2(context, algorithms.aes256GCM, kek.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce, nil) == 1
            && EVP_DecryptUpdate(context, nil, &length, associatedData, Int32(associatedData.count)) == 1
            && EVP_DecryptUpdate(context, start, &length, wrapped, Int32(output.count)) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(KeyWrap.tagLength), &tag) == 1
        if !ok { return 0 }
        return unsafe EVP_DecryptFinal_ex(context, start + output.count, &length) == 1 ? 1 : -1
    }
}
