/// Why something could not be done with a secure store. No key and no value is ever in a message.
///
/// A wrong key, a damaged store and a failing disk are different: `authenticationFailed`; `backingStoreError` or `openFailed` with SQLite's
/// code 11 (SQLITE_CORRUPT); the same with other codes. Codes are SQLite's, the extended ones where it has them; never 0, 100 or 101.
public enum SecureStorageError: Error, Sendable, Equatable {
    /// The store could not be opened.
    case openFailed(code: Int, message: String)
    /// Used while closed.
    case closed
    /// Wrong key.
    case authenticationFailed(message: String)
    /// The key could not be changed; the old one still opens the store.
    case encryptionKeyChangeFailed(code: Int, message: String)
    /// The value is not of the type asked for, or cannot be decoded to it.
    case typeConversionFailed
    /// Anything else.
    case backingStoreError(code: Int, message: String)
}

extension SecureStorageError: CustomStringConvertible {
    /// A message describing the error.
    public var message: String {
        switch self {
        case .openFailed(let code, let message): "the store could not be opened (\(code)): \(message)"
        case .closed: "the store is closed"
        case .authenticationFailed(let message): "wrong key: \(message)"
        case .encryptionKeyChangeFailed(let code, let message): "the key could not be changed (\(code)): \(message)"
        case .typeConversionFailed: "the value is not of the type asked for"
        case .backingStoreError(let code, let message): "the store failed (\(code)): \(message)"
        }
    }

    public var description: String { message }
}
