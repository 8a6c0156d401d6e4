import COpenSSL
import Synchronization

/// AES-256-SIV (RFC 5297): deterministic authenticated encryption, for names, symlink targets and attributes. FORMAT section 1.
///
/// Built from libcrypto's AES-CBC and AES-CTR, not its own AES-SIV. In OpenSSL 3.0 an AES-SIV context cannot be used for a second
/// message (the second update fails even after an init without a key), a new key costs 3.5 to 4.2 µs, and a copy of a keyed context 1.1
/// to 1.7 µs a name. This way the two contexts keep their keys, and what S2V makes of the associated data is kept too (``Prefix``): one
/// name costs 0.3 to 0.65 µs. Safe to use from several threads.
public final class SIVCipher: Sendable {
    /// Bytes of the synthetic IV, which stands before the ciphertext.
    public static let overhead = 16

    /// S2V after the associated data: it can be kept for all messages with the same.
    public struct Prefix: Sendable {
        fileprivate let state: SIVBlock
    }

    /// What comes from the key, as long as it is there.
    private struct Keyed: Sendable {
        let key: SecretKey
        /// Of CMAC: for messages of whole blocks, and for others.
        let subkeys: (SIVBlock, SIVBlock)
        /// CMAC of one zero block.
        let start: SIVBlock
    }
    private struct State: Sendable {
        var keyed: Keyed?
        var idle: [SIVLane] = []
    }
    private let state = Mutex(State())
    /// Calls at work.
    private let users = Atomic<Int>(0)
    private static let lanesKept = 16

    /// - Parameter key: 64 bytes; 32 for AES-128-SIV, which the format does not use but the RFC's vectors do.
    public init(key: SecretKey) throws(CryptoFailure) { try install(key) }

    /// Takes the key after ``forgetKey()``. Prefixes made before stay good if it is the same.
    func install(_ key: SecretKey) throws(CryptoFailure) {
        precondition(key.count == 64 || key.count == 32)
        let lane = try SIVLane(key: key)
        let subkey1 = try lane.encrypt(.zero).doubled
        let start = try lane.encrypt(SIVBlock.zero ^ subkey1)
        state.withLock { state in
            state.keyed = Keyed(key: key, subkeys: (subkey1, subkey1.doubled), start: start)
            state.idle.append(lane)
        }
    }

    /// Wipes the key and all that comes from it; whoever is at work with it is waited for. From then on everything fails with `.noKey`.
    func forgetKey() {
        state.withLock { $0 = State() }
        while users.load(ordering: .sequentiallyConsistent) > 0 { CurrentProcess.yieldProcessor() }
    }

    /// The state for the associated data `components`, in order.
    public func prefix(_ components: [[UInt8]]) throws(CryptoFailure) -> Prefix {
        try withLane { lane, keyed throws(CryptoFailure) in
            var state = keyed.start
            for component in components { state = try state.doubled ^ lane.authenticate(component, keyed.subkeys) }
            return Prefix(state: state)
        }
    }

    /// The synthetic IV, then as many bytes of ciphertext as `plaintext` has.
    public func seal(_ plaintext: [UInt8], _ prefix: Prefix) throws(CryptoFailure) -> [UInt8] {
        try withLane { lane, keyed throws(CryptoFailure) in
            let iv = try lane.authenticate(plaintext, keyed.subkeys, after: prefix.state)
            var sealed: [UInt8] = []
            sealed.reserveCapacity(Self.overhead + plaintext.count)
            iv.append(to: &sealed)
            try lane.crypt(plaintext[...], iv.counter, into: &sealed)
            return sealed
        }
    }

    public func seal(_ plaintext: [UInt8], associatedData: [[UInt8]]) throws(CryptoFailure) -> [UInt8] {
        try seal(plaintext, prefix(associatedData))
    }

    /// The plaintext of what ``seal(_:_:)`` gave.
    ///
    /// - Throws: `.authentication` where it is too short, or changed, or sealed with another key or other associated data; `.noKey`.
    public func open(_ sealed: [UInt8], _ prefix: Prefix) throws(CryptoFailure) -> [UInt8] {
        guard sealed.count >= Self.overhead else { throw .authentication }
        return try withLane { lane, keyed throws(CryptoFailure) in
            let iv = SIVBlock(sealed[..<16])
            var plaintext: [UInt8] = []
            try lane.crypt(sealed[16...], iv.counter, into: &plaintext)
            let expected = try lane.authenticate(plaintext, keyed.subkeys, after: prefix.state)
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

    private func withLane<R>(_ body: (SIVLane, Keyed) throws(CryptoFailure) -> R) throws(CryptoFailure) -> R {
        // Counted before the key is looked for and until nothing of it is held: ``forgetKey()`` waits for that.
        users.add(1, ordering: .sequentiallyConsistent)
        defer { users.subtract(1, ordering: .sequentiallyConsistent) }
        return try lend(body)
    }

    private func lend<R>(_ body: (SIVLane, Keyed) throws(CryptoFailure) -> R) throws(CryptoFailure) -> R {
        let (keyed, idle): (Keyed, SIVLane?) = try state.withLock { (state) throws(CryptoFailure) in
            guard let keyed = state.keyed else { throw .noKey }
            return (keyed, state.idle.popLast())
        }
        let lane = if let idle { idle } else { try SIVLane(key: keyed.key) }
        defer {
            state.withLock { state in
                if state.keyed?.key === keyed.key, state.idle.count < Self.lanesKept { state.idle.append(lane) }
            }
        }
        return try body(lane, keyed)
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

    func append(to text: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) { text.append(UInt8(truncatingIfNeeded: high >> shift)) }
        for shift in stride(from: 56, through: 0, by: -8) { text.append(UInt8(truncatingIfNeeded: low >> shift)) }
    }

    /// Doubling in GF(2¹²⁸), RFC 5297 section 2.3.
    var doubled: SIVBlock {
        SIVBlock(high: high << 1 | low >> 63, low: low << 1 ^ (high >> 63 == 0 ? 0 : 0x87))
    }

    /// The counter that CTR starts at: the IV without two bits, RFC 5297 section 2.5.
    var counter: SIVBlock { SIVBlock(high: high, low: low & 0x7fff_ffff_7fff_ffff) }

    static func ^ (a: SIVBlock, b: SIVBlock) -> SIVBlock { SIVBlock(high: a.high ^ b.high, low: a.low ^ b.low) }

    /// XORs the block into the last 16 bytes of `text`.
    func xorAtEnd(of text: inout [UInt8]) {
        let offset = text.count - 16
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
            let isLong = key.count == 64
            let a = unsafe EVP_EncryptInit_ex2(cbc, isLong ? algorithms.aes256CBC : EVP_aes_128_cbc(), first, iv, nil)
            let b = unsafe EVP_EncryptInit_ex2(ctr, isLong ? algorithms.aes256CTR : EVP_aes_128_ctr(), first + key.count / 2, iv, nil)
            return a == 1 && b == 1 ? unsafe EVP_CIPHER_CTX_set_padding(cbc, 0) : 0
        }
        try check(result)
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(cbc)
        unsafe EVP_CIPHER_CTX_free(ctr)
    }

    /// The message being authenticated: kept, so that a name costs no allocation. What is left in it is ciphertext.
    private var scratch: [UInt8] = []
    private static let scratchKept = 8192
    private static let zeroIV = [UInt8](repeating: 0, count: 16)

    /// AES of one block under the first key.
    func encrypt(_ block: SIVBlock) throws(CryptoFailure) -> SIVBlock {
        scratch.removeAll(keepingCapacity: true)
        block.append(to: &scratch)
        return try authenticateScratch()
    }

    /// AES-CMAC (RFC 4493) of `message`; with `state`, the last step of S2V instead (RFC 5297 section 2.4): CMAC of the message with the
    /// state in its last 16 bytes, or of a short message's padding.
    func authenticate(
        _ message: [UInt8], _ subkeys: (whole: SIVBlock, padded: SIVBlock), after state: SIVBlock? = nil
    ) throws(CryptoFailure) -> SIVBlock {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: message)
        defer { if scratch.capacity > Self.scratchKept { scratch = [] } }
        if let state, message.count < 16 {
            pad()
            (state.doubled ^ subkeys.whole).xorAtEnd(of: &scratch)
            return try authenticateScratch()
        }
        state?.xorAtEnd(of: &scratch)
        if message.isEmpty || message.count % 16 != 0 {
            pad()
            subkeys.padded.xorAtEnd(of: &scratch)
        } else {
            subkeys.whole.xorAtEnd(of: &scratch)
        }
        return try authenticateScratch()
    }

    /// A one bit, then zeros to the end of the block.
    private func pad() {
        scratch.append(0x80)
        while scratch.count % 16 != 0 { scratch.append(0) }
    }

    /// The last block of AES-CBC of the scratch, whole blocks, under a zero IV.
    private func authenticateScratch() throws(CryptoFailure) -> SIVBlock {
        var last = SIVBlock.zero
        let result: Int32 = unsafe scratch.withUnsafeMutableBufferPointer { text in
            var length: Int32 = 0
            guard unsafe EVP_EncryptInit_ex2(cbc, nil, nil, Self.zeroIV, nil) == 1,
                unsafe EVP_EncryptUpdate(cbc, text.baseAddress, &length, text.baseAddress, Int32(text.count)) == 1,
                Int(length) == text.count
            else { return 0 }
            let end = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text).suffix(16))
            last.high = UInt64(bigEndian: unsafe end.loadUnaligned(as: UInt64.self))
            last.low = UInt64(bigEndian: unsafe end.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            return 1
        }
        try check(result)
        return last
    }

    /// Appends the encryption, which is also the decryption, of `text` to `destination`.
    func crypt(_ text: ArraySlice<UInt8>, _ counter: SIVBlock, into destination: inout [UInt8]) throws(CryptoFailure) {
        if text.isEmpty { return }
        let offset = destination.count
        destination.append(contentsOf: text)
        let iv = (counter.high.bigEndian, counter.low.bigEndian)
        let result: Int32 = unsafe withUnsafeBytes(of: iv) { iv in
            unsafe destination.withUnsafeMutableBufferPointer { bytes in
                var length: Int32 = 0
                guard let start = unsafe bytes.baseAddress.map({ unsafe $0 + offset }),
                    unsafe EVP_EncryptInit_ex2(ctr, nil, nil, iv.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1,
                    unsafe EVP_EncryptUpdate(ctr, start, &length, start, Int32(text.count)) == 1
                else { return 0 }
                return Int(length) == text.count ? 1 : 0
            }
        }
        try check(result)
    }
}
