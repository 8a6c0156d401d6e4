import COpenSSL

/// The algorithms, fetched once: a fetch by name for each operation costs more than the operation.
@safe
struct Algorithms: @unchecked Sendable {
    let sha256: OpaquePointer?
    let aes256GCM: OpaquePointer?
    let chaCha20Poly1305: OpaquePointer?
    let aes256CBC: OpaquePointer?
    let aes256CTR: OpaquePointer?

    init() {
        unsafe sha256 = EVP_MD_fetch(nil, "SHA256", nil)
        unsafe aes256GCM = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
        unsafe chaCha20Poly1305 = EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)
        unsafe aes256CBC = EVP_CIPHER_fetch(nil, "AES-256-CBC", nil)
        unsafe aes256CTR = EVP_CIPHER_fetch(nil, "AES-256-CTR", nil)
        ERR_clear_error()
    }

    func cipher(_ kind: CipherKind) -> OpaquePointer? {
        switch kind {
        case .aes256GCM: unsafe aes256GCM
        case .chaCha20Poly1305: unsafe chaCha20Poly1305
        }
    }
}

let algorithms = Algorithms()
