/// What opens a vault.
public enum Credential: Sendable {
    /// 1 to 4096 bytes without NUL or newline, taken as they are. The caller wipes its copy.
    case passphrase([UInt8])
    case recoveryKey(RecoveryKey)
    /// The content of a key file: 32 bytes to 1 MiB.
    case keyFile([UInt8])

    /// The type of the slots it can open.
    var slotType: KeySlot.SlotType {
        switch self {
        case .passphrase: .passphrase
        case .recoveryKey: .recovery
        case .keyFile: .keyFile
        }
    }

    /// - Throws: ``SecureFileError``: `.invalidArgument` where no vault can have such a passphrase or key file.
    func validate() throws(SecureFileError) {
        switch self {
        case .passphrase(let bytes):
            if bytes.isEmpty { throw SecureFileError(.invalidArgument, "the passphrase is empty") }
            if bytes.count > 4096 { throw SecureFileError(.invalidArgument, "the passphrase is longer than 4096 bytes") }
            if bytes.contains(0) || bytes.contains(10) {
                throw SecureFileError(.invalidArgument, "the passphrase contains a NUL or a newline")
            }
        case .recoveryKey: return
        case .keyFile(let bytes):
            if !(32...1_048_576).contains(bytes.count) {
                throw SecureFileError(.invalidArgument, "a key file has 32 bytes to 1 MiB; this one has \(bytes.count) bytes")
            }
        }
    }
}

extension Credential {
    /// - Throws: as ``validate()``.
    package func check() throws(SecureFileError) { try validate() }
}

extension Vault {
    public typealias Credential = SecureFileCore.Credential
}
