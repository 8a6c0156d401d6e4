import SecureFileCore

/// How `sfs` ends. A contract: docs/CLI.md has the same table, and a test compares the two.
enum ExitCode: Int32, CaseIterable {
    case success = 0
    /// Something failed for which there is no code of its own.
    case failure = 1
    case usage = 2
    case wrongKey = 3
    case noVault = 4
    case unsupportedVersion = 5
    case vaultInUse = 6
    case mountPoint = 7
    /// The passphrase or recovery key could not be had: a file that cannot be read, an empty one, two that differ, a failing command.
    case noSecret = 8
    case damagedData = 9
    case keyNotAvailable = 10
    case permissionDenied = 11
    case noSpace = 12
    case damagedConfiguration = 13
    case mountBusy = 14
    case fuseUnavailable = 15
    case notFound = 16
    case alreadyExists = 17
    case notMounted = 18
    case inputOutput = 19

    /// What the table in docs/CLI.md says of the code.
    var meaning: String {
        switch self {
        case .success: "done"
        case .failure: "another failure"
        case .usage: "wrong usage: unknown command or option, missing operand"
        case .wrongKey: "wrong passphrase or recovery key"
        case .noVault: "no vault there, or not a vault"
        case .unsupportedVersion: "made by a newer version of SecureFS"
        case .vaultInUse: "another process has the vault open for writing"
        case .mountPoint: "mount point missing, no directory, not empty, or not apart from the vault"
        case .noSecret: "passphrase or recovery key not to be had: passfile unreadable, passcommand failed, empty, mistyped"
        case .damagedData: "damaged data found"
        case .keyNotAvailable: "the key is locked away"
        case .permissionDenied: "permission denied, or a read-only filesystem"
        case .noSpace: "no space left"
        case .damagedConfiguration: "the vault's configuration is damaged or was tampered with"
        case .mountBusy: "the mount is in use"
        case .fuseUnavailable: "FUSE does not work here"
        case .notFound: "no such file or directory, or not of the kind asked for"
        case .alreadyExists: "the folder for a new vault is not empty"
        case .notMounted: "no vault is mounted there"
        case .inputOutput: "the disk or its filesystem failed"
        }
    }

    /// What an error is about decides what some codes mean.
    enum Subject: CaseIterable {
        /// The vault as a whole: its folder, configuration, session record.
        case vault
        /// A file, directory or symlink in it.
        case entry
    }

    init(_ error: SecureFileError, about subject: Subject) {
        switch error.code.kind {
        case .closed, .limitExceeded, .notSupported: self = .failure
        case .notFound: self = subject == .vault ? .noVault : .notFound
        case .alreadyExists: self = .alreadyExists
        case .permissionDenied, .readOnly: self = .permissionDenied
        case .noSpace: self = .noSpace
        case .system: self = error.cause.map { ExitCode($0, about: subject) } ?? .failure
        case .notSecureFile, .damaged, .truncated: self = subject == .vault ? .damagedConfiguration : .damagedData
        case .unsupportedVersion: self = .unsupportedVersion
        case .wrongKey: self = subject == .vault ? .wrongKey : .damagedData
        case .keyNotAvailable, .keyAbsent, .keyRetired: self = .keyNotAvailable
        case .invalidArgument: self = subject == .vault ? .usage : .notFound
        case .inUse: self = .vaultInUse
        case .notAVault: self = .noVault
        case .regularFileOnly: self = .notFound
        case .tampered: self = .damagedConfiguration
        }
    }

    init(_ errno: Errno, about subject: Subject) {
        switch errno {
        case .noEntry, .notDirectory: self = subject == .vault ? .noVault : .notFound
        case .isDirectory, .nameTooLong: self = subject == .vault ? .failure : .notFound
        case .accessDenied, .notPermitted, .readOnly: self = .permissionDenied
        case .noSpace, .quotaExceeded: self = .noSpace
        case .inputOutput, .stale, .notConnected: self = .inputOutput
        case .noKey: self = .keyNotAvailable
        default: self = .failure
        }
    }
}
