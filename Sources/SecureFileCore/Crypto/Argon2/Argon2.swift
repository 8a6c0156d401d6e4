import CArgon2

/// Argon2id, version 0x13 (RFC 9106), by libargon2: the key of a passphrase. FORMAT section 7.
enum Argon2 {
    /// Derives 32 bytes.
    ///
    /// - Parameters:
    ///   - passphrase: its bytes as they are; the caller wipes them.
    ///   - parameters: checked before anything is allocated.
    /// - Throws: `.limits` where the parameters are outside FORMAT's, `.memory` where `memoryKiB` cannot be had.
    static func hash(
        _ passphrase: [UInt8], salt: [UInt8], _ parameters: Argon2Parameters, secret: [UInt8] = [], associatedData: [UInt8] = []
    ) throws(Failure) -> SecretKey {
        guard parameters.isAllowed else { throw .limits }
        return try unsafe SecretKey(count: 32) { (output: UnsafeMutableRawBufferPointer) throws(Failure) in
            var (passphrase, salt, secret, associatedData) = (passphrase, salt, secret, associatedData)
            defer {
                passphrase.wipe()
                secret.wipe()
            }
            let inputs = Inputs(
                passphrase: passphrase.count, salt: salt.count, secret: secret.count, associatedData: associatedData.count)
            let result = unsafe passphrase.withUnsafeMutableBufferPointer { p in
                unsafe salt.withUnsafeMutableBufferPointer { s in
                    unsafe secret.withUnsafeMutableBufferPointer { k in
                        unsafe associatedData.withUnsafeMutableBufferPointer { x in
                            unsafe call(output, p.baseAddress, s.baseAddress, k.baseAddress, x.baseAddress, inputs, parameters)
                        }
                    }
                }
            }
            if result == ARGON2_MEMORY_ALLOCATION_ERROR.rawValue || result == ARGON2_THREAD_FAIL.rawValue { throw .memory }
            if result != ARGON2_OK.rawValue { throw .limits }
        }
    }

    enum Failure: Error, Sendable { case limits, memory }

    private struct Inputs {
        var passphrase, salt, secret, associatedData: Int
    }

    private static func call(
        _ output: UnsafeMutableRawBufferPointer, _ passphrase: UnsafeMutablePointer<UInt8>?, _ salt: UnsafeMutablePointer<UInt8>?,
        _ secret: UnsafeMutablePointer<UInt8>?, _ associatedData: UnsafeMutablePointer<UInt8>?, _ inputs: Inputs,
        _ parameters: Argon2Parameters
    ) -> Int32 {
        var context = unsafe argon2_context()
        unsafe context.out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe context.outlen = UInt32(output.count)
        unsafe context.pwd = passphrase
        unsafe context.pwdlen = UInt32(inputs.passphrase)
        unsafe context.salt = salt
        unsafe context.saltlen = UInt32(inputs.salt)
        unsafe context.secret = secret
        unsafe context.secretlen = UInt32(inputs.secret)
        unsafe context.ad = associatedData
        unsafe context.adlen = UInt32(inputs.associatedData)
        unsafe context.t_cost = UInt32(parameters.passes)
        unsafe context.m_cost = UInt32(parameters.memoryKiB)
        unsafe context.lanes = UInt32(parameters.lanes)
        unsafe context.threads = UInt32(parameters.lanes)
        unsafe context.version = ARGON2_VERSION_13.rawValue
        return unsafe argon2id_ctx(&context)
    }
}
