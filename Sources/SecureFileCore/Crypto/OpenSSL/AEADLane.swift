import COpenSSL

/// Seals and opens blocks and metadata pages with kept cipher contexts: making one costs more than sealing a block.
///
/// One thread at a time uses a lane; ``LanePool`` lends them out.
@safe
final class AEADLane: @unchecked Sendable {
    private let sealing = KeyedContext()
    private let opening = KeyedContext()
    private let nonces = PageBuffer(count: 3072)
    private var nextNonce = 3072
    /// Room for what goes to or comes from the store in one call; grown on demand, kept.
    private(set) var staging = PageBuffer(count: 65536)

    /// The staging buffer, at least `count` bytes long. Its content is lost when it has to grow.
    func staging(atLeast count: Int) -> PageBuffer {
        if staging.count < count { staging = PageBuffer(uninitialized: count) }
        return staging
    }

    /// A nonce never used before, from the random generator.
    private func makeNonce() throws(CryptoFailure) -> Nonce {
        if nextNonce == nonces.count {
            try RandomBytes.fill(nonces, 0..<nonces.count)
            nextNonce = 0
        }
        defer { nextNonce += 12 }
        return Nonce(low: nonces.load(at: nextNonce), high: nonces.load(at: nextNonce + 8))
    }

    /// The 8 bytes of associated data of a block, as a little-endian integer. FORMAT section 3.2.
    private static func associatedData(_ cipher: CipherKind, index: Int, length: Int) -> UInt64 {
        0x42 | UInt64(MetadataPage.version) << 8 | UInt64(cipher.rawValue) << 16 | UInt64(index) << 32 | UInt64(length) << 48
    }

    // MARK: Blocks

    /// Seals the bytes `range` of `plaintext` (1 to 4096) as the block at `index` of the key's group; the ciphertext goes to `offset` of `output`.
    func sealBlock(
        _ plaintext: Span<UInt8>, _ range: Range<Int>, at index: Int, _ key: SecretKey, _ cipher: CipherKind,
        to output: PageBuffer, _ offset: Int
    ) throws(CryptoFailure) -> Slot {
        precondition(range.lowerBound >= 0 && range.upperBound <= plaintext.count)
        return try unsafe plaintext.withUnsafeBufferPointer { (source) throws(CryptoFailure) in
            try unsafe output.withPointer(offset..<offset + range.count) { (target) throws(CryptoFailure) in
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(source)[range])
                return try unsafe sealBlock(bytes, at: index, key, cipher, to: target)
            }
        }
    }

    /// The same within one buffer, in place.
    func sealBlock(
        inPlace buffer: PageBuffer, length: Int, at index: Int, _ key: SecretKey, _ cipher: CipherKind
    ) throws(CryptoFailure) -> Slot {
        try unsafe buffer.withPointer(0..<length) { (bytes) throws(CryptoFailure) in
            try unsafe sealBlock(UnsafeRawBufferPointer(bytes), at: index, key, cipher, to: bytes)
        }
    }

    private func sealBlock(
        _ plaintext: UnsafeRawBufferPointer, at index: Int, _ key: SecretKey, _ cipher: CipherKind, to target: UnsafeMutableRawBufferPointer
    ) throws(CryptoFailure) -> Slot {
        let nonce = try makeNonce()
        try sealing.begin(key, cipher, nonce, encrypting: true)
        var extra = Self.associatedData(cipher, index: index, length: plaintext.count).littleEndian
        try unsafe withUnsafeBytes(of: &extra) { (extra) throws(CryptoFailure) in try unsafe sealing.authenticate(extra) }
        try unsafe sealing.update(plaintext, to: target)
        return Slot(nonce: nonce, tag: try sealing.finishSealing(), length: UInt16(plaintext.count))
    }

    /// Opens the sealed block of `slot.length` bytes at `source` into `output`, which may be the same place.
    /// On `.authentication` the output is zeroed.
    func openBlock(
        _ slot: Slot, at index: Int, _ key: SecretKey, _ cipher: CipherKind, from source: PageBuffer, _ sourceOffset: Int,
        to output: PageBuffer, _ offset: Int
    ) throws(CryptoFailure) {
        let length = Int(slot.length)
        try unsafe source.withPointer(sourceOffset..<sourceOffset + length) { (source) throws(CryptoFailure) in
            try unsafe output.withPointer(offset..<offset + length) { (target) throws(CryptoFailure) in
                try opening.begin(key, cipher, slot.nonce, encrypting: false)
                var extra = Self.associatedData(cipher, index: index, length: length).littleEndian
                try unsafe withUnsafeBytes(of: &extra) { (extra) throws(CryptoFailure) in try unsafe opening.authenticate(extra) }
                try unsafe opening.update(UnsafeRawBufferPointer(source), to: target)
                do throws(CryptoFailure) {
                    try opening.finishOpening(slot.tag)
                } catch {
                    // What was written there is unverified.
                    unsafe wipe(target.baseAddress!, target.count)
                    throw error
                }
            }
        }
    }

    // MARK: Metadata pages

    /// Seals a page: sets its nonce and tag. In the inline form `content` is what lies behind the head; the ciphertext goes into the page.
    func seal(_ page: MetadataPage, _ key: SecretKey, _ cipher: CipherKind, inline content: (buffer: PageBuffer, count: Int)?) throws(CryptoFailure) {
        let nonce = try makeNonce()
        page.nonce = nonce
        try sealing.begin(key, cipher, nonce, encrypting: true)
        try authenticate(page, with: sealing, entries: content == nil)
        if let content, content.count > 0 {
            try unsafe content.buffer.withPointer(0..<content.count) { (source) throws(CryptoFailure) in
                try unsafe page.buffer.withPointer(Self.inlineRange(content.count)) { (target) throws(CryptoFailure) in
                    try unsafe sealing.update(UnsafeRawBufferPointer(source), to: target)
                }
            }
        }
        page.tag = try sealing.finishSealing()
    }

    /// Verifies a page by its tag. In the inline form the content is opened into `content`, which is zeroed on `.authentication`.
    func open(_ page: MetadataPage, _ key: SecretKey, _ cipher: CipherKind, inline content: (buffer: PageBuffer, count: Int)?) throws(CryptoFailure) {
        try opening.begin(key, cipher, page.nonce, encrypting: false)
        try authenticate(page, with: opening, entries: content == nil)
        if let content, content.count > 0 {
            try unsafe page.buffer.withPointer(Self.inlineRange(content.count)) { (source) throws(CryptoFailure) in
                try unsafe content.buffer.withPointer(0..<content.count) { (target) throws(CryptoFailure) in
                    try unsafe opening.update(UnsafeRawBufferPointer(source), to: target)
                }
            }
        }
        do {
            try opening.finishOpening(page.tag)
        } catch {
            if let content { content.buffer.zero(0..<content.count) }
            throw error
        }
    }

    private static func inlineRange(_ count: Int) -> Range<Int> { ContentGeometry.headSize..<ContentGeometry.headSize + count }

    private func authenticate(_ page: MetadataPage, with context: KeyedContext, entries: Bool) throws(CryptoFailure) {
        let rest = MetadataPage.authenticatedRest.lowerBound..<(entries ? ContentGeometry.blockSize : MetadataPage.authenticatedRest.upperBound)
        for range in [MetadataPage.authenticatedHead, rest] {
            try unsafe page.buffer.withPointer(range) { (bytes) throws(CryptoFailure) in
                try unsafe context.authenticate(UnsafeRawBufferPointer(bytes))
            }
        }
    }
}

/// One EVP cipher context and the key it holds.
@safe
private final class KeyedContext {
    private let context: OpaquePointer?
    /// The key in the context; compared by identity, as keys do not change.
    private var key: SecretKey?
    private var cipher: CipherKind?

    init() { unsafe context = EVP_CIPHER_CTX_new() }
    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    func forget() {
        unsafe EVP_CIPHER_CTX_reset(context)
        key = nil
        cipher = nil
    }

    /// Starts one message. The key schedule is made only when the key is another one than the last.
    func begin(_ key: SecretKey, _ cipher: CipherKind, _ nonce: Nonce, encrypting: Bool) throws(CryptoFailure) {
        var iv = (nonce.low.littleEndian, nonce.high.littleEndian)
        let sameCipher = self.cipher == cipher
        let sameKey = sameCipher && self.key === key
        let result = unsafe withUnsafeBytes(of: &iv) { iv in
            let iv = unsafe iv.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let algorithm = unsafe sameCipher ? nil : algorithms.cipher(cipher)
            if sameKey { return unsafe EVP_CipherInit_ex2(context, nil, nil, iv, encrypting ? 1 : 0, nil) }
            return unsafe key.withBytes { key in
                unsafe EVP_CipherInit_ex2(context, algorithm, key.baseAddress?.assumingMemoryBound(to: UInt8.self), iv, encrypting ? 1 : 0, nil)
            }
        }
        if result != 1 { forget() }
        try check(result)
        self.key = key
        self.cipher = cipher
    }

    @unsafe func authenticate(_ bytes: UnsafeRawBufferPointer) throws(CryptoFailure) {
        var length: Int32 = 0
        try check(unsafe EVP_CipherUpdate(context, nil, &length, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)))
    }

    @unsafe func update(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) throws(CryptoFailure) {
        var length: Int32 = 0
        let result = unsafe EVP_CipherUpdate(
            context, target.baseAddress?.assumingMemoryBound(to: UInt8.self), &length,
            source.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(source.count))
        try check(result)
        if Int(length) != source.count { throw .library }
    }

    func finishSealing() throws(CryptoFailure) -> Tag {
        var tag = (UInt64(0), UInt64(0))
        var length: Int32 = 0
        let result = unsafe withUnsafeMutableBytes(of: &tag) { tag -> Int32 in
            let bytes = unsafe tag.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard unsafe EVP_CipherFinal_ex(context, bytes, &length) == 1 else { return 0 }
            return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, bytes)
        }
        try check(result)
        return Tag(low: UInt64(littleEndian: tag.0), high: UInt64(littleEndian: tag.1))
    }

    func finishOpening(_ expected: Tag) throws(CryptoFailure) {
        var tag = (expected.low.littleEndian, expected.high.littleEndian)
        var scratch = UInt64(0)
        var length: Int32 = 0
        let isGenuine = unsafe withUnsafeMutableBytes(of: &tag) { tag -> Bool in
            let bytes = tag.baseAddress
            guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, bytes) == 1 else { return false }
            return unsafe withUnsafeMutableBytes(of: &scratch) {
                unsafe EVP_CipherFinal_ex(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), &length) == 1
            }
        }
        if !isGenuine {
            ERR_clear_error()
            throw .authentication
        }
    }
}
