/// The error domain of AppConnect's secure file I/O: what ``SecureFileError/domain`` is for the failures that have a code there.
public let ACErrorDomain = "ACErrorDomain"

/// The codes of ``ACErrorDomain``, with their numbers.
public enum ACErrorCode: Int, Sendable, CaseIterable {
    case noError = 0
    /// The encryption key is not available: none was given, it is locked away, or retired. ``SecureFileError/code`` tells which.
    case noKeys = 1
    case fileTooBig = 2
    case negativeFileLength = 3
    case lowMemory = 4
    /// A wrong key, or data that is not what was written, or no secure file at all. ``SecureFileError/code`` tells which.
    case badKeyOrCorruptData = 5
    case invalidArgument = 6
    case regularFileOnly = 7
    case `internal` = 444
}

extension SecureFileError {
    /// The domain of what the operating system reports.
    public static let posixDomain = "NSPOSIXErrorDomain"

    /// The code in ``ACErrorDomain``; nil for what the operating system reports, whose domain is POSIX. docs/API.md has the table.
    public var acErrorCode: ACErrorCode? {
        switch code.kind {
        case .keyNotAvailable, .keyAbsent, .keyRetired: .noKeys
        case .limitExceeded: .fileTooBig
        case .wrongKey, .damaged, .truncated, .tampered, .notSecureFile, .unsupportedVersion: .badKeyOrCorruptData
        // A reason of the system's own says more: a name that is too long, a handle not open for writing.
        case .invalidArgument: cause == nil ? .invalidArgument : nil
        case .notAVault: .invalidArgument
        case .regularFileOnly: .regularFileOnly
        case .system:
            switch cause {
            case nil: .internal
            case .noMemory?: .lowMemory
            default: nil
            }
        case .closed, .notFound, .alreadyExists, .permissionDenied, .noSpace, .inUse, .readOnly, .notSupported: nil
        }
    }

    /// ``ACErrorDomain``, or that of POSIX errors.
    public var domain: String { acErrorCode == nil ? Self.posixDomain : ACErrorDomain }

    /// The number in ``domain``.
    public var codeInDomain: Int { acErrorCode?.rawValue ?? Int(errno.rawValue) }

    // What the standard library asks of an error; `as NSError` takes domain and code from here, without this module knowing Foundation.
    public var _domain: String { domain }
    public var _code: Int { codeInDomain }
}
