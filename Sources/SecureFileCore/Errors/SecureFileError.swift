/// Why something could not be done with a vault or a file of it.
///
/// Wrong key, key not available, damaged data and a failing disk are different codes up to the errno and the exit code. No key and no
/// plaintext is ever in a message.
public struct SecureFileError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure. A struct, so that codes can be added.
    public struct Code: Hashable, Sendable {
        package enum Kind: String, Sendable, CaseIterable {
            case closed, notFound, alreadyExists, permissionDenied, noSpace, system
            case notSecureFile, unsupportedVersion, wrongKey, keyNotAvailable, damaged, truncated
            case limitExceeded, invalidArgument, inUse, notAVault, readOnly, regularFileOnly, tampered
            case keyAbsent, keyRetired, notSupported
        }
        package let kind: Kind
        package init(kind: Kind) { self.kind = kind }
        /// The handle, file or vault was closed before.
        public static let closed = Code(kind: .closed)
        public static let notFound = Code(kind: .notFound)
        public static let alreadyExists = Code(kind: .alreadyExists)
        public static let permissionDenied = Code(kind: .permissionDenied)
        public static let noSpace = Code(kind: .noSpace)
        /// The operating system failed; ``SecureFileError/cause`` says how.
        public static let system = Code(kind: .system)
        /// The file does not begin as a content file does: it is plaintext, or not ours.
        public static let notSecureFile = Code(kind: .notSecureFile)
        /// Made by a newer version, or with a cipher or feature that is not known here.
        public static let unsupportedVersion = Code(kind: .unsupportedVersion)
        /// The key or passphrase is not that of the file or vault.
        public static let wrongKey = Code(kind: .wrongKey)
        /// There is a key, but it is locked away now.
        public static let keyNotAvailable = Code(kind: .keyNotAvailable)
        /// Bytes on the disk are not what was written; ``SecureFileError/block`` says where, if it is a block.
        public static let damaged = Code(kind: .damaged)
        /// The backing file is shorter than its recorded size needs.
        public static let truncated = Code(kind: .truncated)
        public static let limitExceeded = Code(kind: .limitExceeded)
        public static let invalidArgument = Code(kind: .invalidArgument)
        /// Another process has the vault or file open for writing.
        public static let inUse = Code(kind: .inUse)
        public static let notAVault = Code(kind: .notAVault)
        public static let readOnly = Code(kind: .readOnly)
        /// A directory, socket, pipe, device or symlink where only a regular file will do.
        public static let regularFileOnly = Code(kind: .regularFileOnly)
        /// The configuration does not belong to its key: somebody changed it on purpose.
        public static let tampered = Code(kind: .tampered)
        /// No key has been given yet.
        public static let keyAbsent = Code(kind: .keyAbsent)
        /// The key has been given up for good.
        public static let keyRetired = Code(kind: .keyRetired)
        /// An operation that secure files do not have, or that the kernel does not offer.
        public static let notSupported = Code(kind: .notSupported)
        public var name: String { kind.rawValue }
    }

    public var code: Code
    /// What failed and what to do, in words.
    public var message: String
    /// The file or folder it is about, as far as known.
    public var path: String?
    public var block: BlockIndex?
    public var cause: Errno?

    public init(_ code: Code, _ message: String, path: String? = nil, block: BlockIndex? = nil, cause: Errno? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.block = block
        self.cause = cause
    }

    /// The failure of a system call, its common errors told apart.
    // Disfavored: `SecureFileError(.invalidArgument, "…")` means the code, not the errno of the same name.
    @_disfavoredOverload
    public init(_ errno: Errno, _ message: String, path: String? = nil) {
        let code: Code =
            switch errno {
            case .noEntry: .notFound
            case .exists: .alreadyExists
            case .accessDenied, .notPermitted: .permissionDenied
            case .noSpace, Errno(rawValue: 122): .noSpace  // EDQUOT
            case .readOnly: .readOnly
            case .noKey: .keyNotAvailable
            default: .system
            }
        self.init(code, message, path: path, cause: errno)
    }

    public func at(_ path: String) -> SecureFileError {
        var copy = self
        if copy.path == nil { copy.path = path }
        return copy
    }

    public var description: String {
        var text = path.map { "\($0): \(message)" } ?? message
        if let block { text += " (block \(block))" }
        if let cause { text += ": \(cause)" }
        return text
    }

    /// The error number a program sees. The system's own where there is one; damage is EIO, never EPERM.
    public var errno: Errno {
        if let cause { return cause }
        return switch code.kind {
        case .closed: .badDescriptor
        case .notFound: .noEntry
        case .alreadyExists: .exists
        case .permissionDenied, .wrongKey: .accessDenied
        case .noSpace: .noSpace
        case .keyNotAvailable, .keyAbsent: .noKey
        case .keyRetired: .keyRevoked
        case .notSupported: .notSupported
        case .limitExceeded: .fileTooLarge
        case .invalidArgument, .notAVault: .invalidArgument
        case .inUse: .busy
        case .readOnly: .readOnly
        case .regularFileOnly: .invalidArgument
        case .system, .notSecureFile, .unsupportedVersion, .damaged, .truncated, .tampered: .inputOutput
        }
    }
}
