import COpenSSL
import Synchronization

/// AES-256-SIV (RFC 5297): deterministic authenticated encryption, for names, symlink targets and attributes. FORMAT section 1.
///
/// Built from libcrypto's AES-CBC and AES-CTR, not its own AES-SIV. In OpenSSL 3.0 an AES-SIV context cannot be used for a second
/// message (the second update fails even after an init without a key), a new key costs 3.5 to 4.2 µs, and a copy of a keyed context 1.1
/// to 1.7 µs a name. This way the two contexts keep their keys, and what S2V makes of the associated data is kept too (``Prefix``): one
/// name costs 0.2 to 0.6 µs. Safe to use from several threads.
public final class SIVCipher: Sendable {
    /// Bytes of the synthetic IV, which stands before the ciphertext.
    public static let overhead = 16

    /// S2V after the associated data: it can be kept for all messages with the same.
    public struct Prefix: Sendable {
        fileprivate let state: SIVBlock
    }

    private let key: SecretKey
    private let subkey1: SIVBlock
    private let subkey2: SIVBlock
    private let start: SIVBlock
    private let lanes = Mutex<[SIVLane]>([])
    private static let lanesKept = 16

    /// - Parameter key: 64 bytes.
    public init(key: SecretKey) throws(CryptoFailure) {
        precondition(key.count == 64)
        self.key = key
        let lane = try SIVLane(key: key)
        subkey1 = try lane.authenticate(.zero).doubled
        subkey2 = subkey1.doubled
        start = try lane.authenticate(SIVBlock.zero ^ subkey1)  // CMAC of one zero block
        lanes.withLock { $0.append(lane) }
    }

    /// The state for the associated data `components`, in order.
    public func prefix(_ components: [[UInt8]]) throws(CryptoFailure) -> Prefix {
        try withLane { lane throws(CryptoFailure) in
            var state = start
            for component in components { state = try state.doubled ^ cmac(component, lane) }
            return Prefix(state: state)
        }
    }

    /// The synthetic IV, then as many bytes of ciphertext as `plaintext` has.
    public func seal(_ plaintext: [UInt8], _ prefix: Prefix) throws(CryptoFailure) -> [UInt8] {
        try withLane { lane throws(CryptoFailure) in
            let iv = try cmac(plaintext, lane, endXOR: prefix.state)
            var sealed = iv.bytes
            try lane.crypt(plaintext[...], iv.counter, into: &sealed)
            return sealed
        }
    }

    public func seal(_ plaintext: [UInt8], associatedData: [[UInt8]]) throws(CryptoFailure) -> [UInt8] {
        try seal(plaintext, prefix(associatedData))
    }

    /// The plaintext of what ``seal(_:_:)`` gave.
    ///
    /// - Throws: `.authentication` where it is too short, or changed, or sealed with another key or other associated data.
    public func open(_ sealed: [UInt8], _ prefix: Prefix) throws(CryptoFailure) -> [UInt8] {
        guard sealed.count >= Self.overhead else { throw .authentication }
        return try withLane { lane throws(CryptoFailure) in
            let iv = SIVBlock(sealed[..<16])
            var plaintext: [UInt8] = []
            try lane.crypt(sealed[16...], iv.counter, into: &plaintext)
            let expected = try cmac(plaintext, lane, endXOR: prefix.state)
            if (expected.high ^ iv.high) | (expected.low ^ iv.low) != 0 {  // no branch on a single byte
                plaintext.wipe()
                throw .authentication
            }
            return plaintext
        }
    }

    public func open(_ sealed: [UInt8], associatedData: [[UInt8]]) throws(CryptoFailure) -> [UInt8] {
        try open(sealed, prefix(associatedData))
    }

    private func withLane<R>(_ body: (SIVLane) throws(CryptoFailure) -> R) throws(CryptoFailure) -> R {
        let idle = lanes.withLock { $0.popLast() }
        let lane = if let idle { idle } else { try SIVLane(key: key) }
        defer { lanes.withLock { if $0.count < Self.lanesKept { $0.append(lane) } } }
        return try body(lane)
    }

    /// AES-CMAC (RFC 4493) of `message`.
    private func cmac(_ message: [UInt8], _ lane: SIVLane) throws(CryptoFailure) -> SIVBlock {
        try lane.authenticate(padded(message))
    }

    /// The last step of S2V (RFC 5297 section 2.4): CMAC of `message` with `state` in its last 16 bytes, or of the padded message.
    private func cmac(_ message: [UInt8], _ lane: SIVLane, endXOR state: SIVBlock) throws(CryptoFailure) -> SIVBlock {
        if message.count < 16 { return try lane.authenticate(SIVBlock(padding: message) ^ state.doubled ^ subkey1) }
        var text = message
        state.xor(into: &text, at: message.count - 16)
        return try lane.authenticate(padded(text))
    }

    /// The message as CMAC feeds it to AES-CBC: whole blocks, with a subkey in the last.
    private func padded(_ message: [UInt8]) -> [UInt8] {
        var text = message
        let isWhole = !message.isEmpty && message.count % 16 == 0
        if !isWhole {
            text.append(0x80)
            while text.count % 16 != 0 { text.append(0) }
        }
        (isWhole ? subkey1 : subkey2).xor(into: &text, at: text.count - 16)
        return text
    }
}

/// 16 bytes as S2V computes with them: a number with the first byte highest.
private struct SIVBlock: Sendable {
    var high: UInt64
    var low: UInt64
    static let zero = SIVBlock(high: 0, low: 0)

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Precondition: 16 bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        for byte in bytes.prefix(8) { high = high << 8 | UInt64(byte) }
        for byte in bytes.suffix(8) { low = low << 8 | UInt64(byte) }
        self.init(high: high, low: low)
    }

    /// `message`, shorter than a block, then a one bit, then zeros.
    init(padding message: [UInt8]) {
        var block = message + [0x80]
        block += [UInt8](repeating: 0, count: 16 - block.count)
        self.init(block[...])
    }

    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        xor(into: &bytes, at: 0)
        return bytes
    }

    /// Doubling in GF(2¹²⁸), RFC 5297 section 2.3.
    var doubled: SIVBlock {
        SIVBlock(high: high << 1 | low >> 63, low: low << 1 ^ (high >> 63 == 0 ? 0 : 0x87))
    }

    /// The counter that CTR starts at: the IV without two bits, RFC 5297 section 2.5.
    var counter: SIVBlock { SIVBlock(high: high, low: low & 0x7fff_ffff_7fff_ffff) }

    static func ^ (a: SIVBlock, b: SIVBlock) -> SIVBlock { SIVBlock(high: a.high ^ b.high, low: a.low ^ b.low) }

    func xor(into text: inout [UInt8], at offset: Int) {
        for i in 0..<8 {
            text[offset + i] ^= UInt8(truncatingIfNeeded: high >> (56 - 8 * i))
            text[offset + 8 + i] ^= UInt8(truncatingIfNeeded: low >> (56 - 8 * i))
        }
    }
}

/// Two keyed contexts, used by one thread at a time: AES-CBC for the CMAC, AES-CTR for the text.
@safe
private final class SIVLane: @unchecked Sendable {
    private let cbc: OpaquePointer?
    private let ctr: OpaquePointer?

    init(key: SecretKey) throws(CryptoFailure) {
        unsafe cbc = EVP_CIPHER_CTX_new()
        unsafe ctr = EVP_CIPHER_CTX_new()
        let iv = [UInt8](repeating: 0, count: 16)
        let result: Int32 = unsafe key.withBytes { key in
            guard let first = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
            let a = unsafe EVP_EncryptInit_ex2(cbc, algorithms.aes256CBC, first, iv, nil)
            let b = unsafe EVP_EncryptInit_ex2(ctr, algorithms.aes256CTR, first + 32, iv, nil)
            return a == 1 && b == 1 ? unsafe EVP_CIPHER_CTX_set_padding(cbc, 0) : 0
        }
        try check(result)
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(cbc)
        unsafe EVP_CIPHER_CTX_free(ctr)
    }

    func authenticate(_ block: SIVBlock) throws(CryptoFailure) -> SIVBlock { try authenticate(block.bytes) }

    /// The last block of AES-CBC of `text`, whole blocks, under a zero IV.
    func authenticate(_ text: [UInt8]) throws(CryptoFailure) -> SIVBlock {
        let iv = [UInt8](repeating: 0, count: 16)
        var output = [UInt8](repeating: 0, count: text.count)
        let result: Int32 = unsafe output.withUnsafeMutableBufferPointer { output in
            var length: Int32 = 0
            guard unsafe EVP_EncryptInit_ex2(cbc, nil, nil, iv, nil) == 1,
                unsafe EVP_EncryptUpdate(cbc, output.baseAddress, &length, text, Int32(text.count)) == 1
            else { return 0 }
            return Int(length) == text.count ? 1 : 0
        }
        try check(result)
        return SIVBlock(output[(text.count - 16)...])
    }

    /// Appends the encryption, which is also the decryption, of `text` to `destination`.
    func crypt(_ text: ArraySlice<UInt8>, _ counter: SIVBlock, into destination: inout [UInt8]) throws(CryptoFailure) {
        if text.isEmpty { return }
        let iv = counter.bytes
        let offset = destination.count
        destination += text
        let result: Int32 = unsafe destination.withUnsafeMutableBufferPointer { bytes in
            var length: Int32 = 0
            guard let start = unsafe bytes.baseAddress.map({ unsafe $0 + offset }),
                unsafe EVP_EncryptInit_ex2(ctr, nil, nil, iv, nil) == 1,
                unsafe EVP_EncryptUpdate(ctr, start, &length, start, Int32(text.count)) == 1
            else { return 0 }
            return Int(length) == text.count ? 1 : 0
        }
        try check(result)
    }
}
