import CSQLite
import SecureFileCore

/// A result code of SQLite, primary or extended. A struct: SQLite may have more than are named here.
package struct ResultCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let ok = ResultCode(rawValue: SQLITE_OK)
    package static let row = ResultCode(rawValue: SQLITE_ROW)
    package static let done = ResultCode(rawValue: SQLITE_DONE)
    package static let error = ResultCode(rawValue: SQLITE_ERROR)
    package static let busy = ResultCode(rawValue: SQLITE_BUSY)
    package static let noMemory = ResultCode(rawValue: SQLITE_NOMEM)
    package static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    package static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
    package static let shortRead = ResultCode(rawValue: SQLITE_IOERR | 2 << 8)
    package static let notThereToDelete = ResultCode(rawValue: SQLITE_IOERR | 23 << 8)
    package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    package static let notFound = ResultCode(rawValue: SQLITE_NOTFOUND)
    package static let full = ResultCode(rawValue: SQLITE_FULL)
    package static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    package static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
    package static let range = ResultCode(rawValue: SQLITE_RANGE)
    package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    package static let permission = ResultCode(rawValue: SQLITE_PERM)
    package static let authentication = ResultCode(rawValue: SQLITE_AUTH)

    /// The code without its extension.
    package var primary: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

    /// What a failure of a file means to SQLite: damage, a full disk and everything else are told apart.
    package init(_ error: SecureFileError) {
        switch error.code {
        case .damaged, .truncated, .tampered: self = .corrupt
        case .notSecureFile, .wrongKey, .unsupportedVersion: self = .notADatabase
        case .noSpace: self = .full
        case .permissionDenied: self = .permission
        case .readOnly: self = .readOnly
        case .keyNotAvailable: self = .authentication
        default: self = .inputOutput
        }
    }
}
