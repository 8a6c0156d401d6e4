import Foundation
import SecureFileCore
import Testing

/// The table of errors in docs/API.md, row by row.
@Suite struct ACErrorTests {
    typealias Row = (code: SecureFileError.Code, cause: Errno?, ac: ACErrorCode?, errno: Errno)
    static let rows: [Row] = [
        (.keyAbsent, nil, .noKeys, .noKey),
        (.keyNotAvailable, nil, .noKeys, .noKey),
        (.keyRetired, nil, .noKeys, .keyRevoked),
        (.wrongKey, nil, .badKeyOrCorruptData, .accessDenied),
        (.damaged, nil, .badKeyOrCorruptData, .inputOutput),
        (.truncated, nil, .badKeyOrCorruptData, .inputOutput),
        (.tampered, nil, .badKeyOrCorruptData, .inputOutput),
        (.notSecureFile, nil, .badKeyOrCorruptData, .inputOutput),
        (.unsupportedVersion, nil, .badKeyOrCorruptData, .inputOutput),
        (.regularFileOnly, nil, .regularFileOnly, .invalidArgument),
        (.limitExceeded, nil, .fileTooBig, .fileTooLarge),
        (.invalidArgument, nil, .invalidArgument, .invalidArgument),
        (.invalidArgument, .badDescriptor, nil, .badDescriptor),
        (.notAVault, nil, .invalidArgument, .invalidArgument),
        (.system, nil, .internal, .inputOutput),
        (.system, .noMemory, .lowMemory, .noMemory),
        (.system, .inputOutput, nil, .inputOutput),
        (.closed, nil, nil, .badDescriptor),
        (.notFound, nil, nil, .noEntry),
        (.alreadyExists, nil, nil, .exists),
        (.permissionDenied, nil, nil, .accessDenied),
        (.noSpace, nil, nil, .noSpace),
        (.inUse, nil, nil, .busy),
        (.readOnly, nil, nil, .readOnly),
        (.notSupported, nil, nil, .notSupported),
    ]

    @Test func everyCodeHasItsRow() {
        #expect(Set(Self.rows.map(\.code.name)) == Set(SecureFileError.Code.Kind.allCases.map(\.rawValue)))
    }

    @Test(arguments: rows.indices) func errorsAreMappedByTheTable(_ index: Int) {
        let row = Self.rows[index]
        let error = SecureFileError(row.code, "message", cause: row.cause)
        #expect(error.acErrorCode == row.ac)
        #expect(error.errno == row.errno)
        let bridged = error as NSError
        #expect(bridged.domain == (row.ac == nil ? NSPOSIXErrorDomain : ACErrorDomain))
        #expect(bridged.code == row.ac?.rawValue ?? Int(row.errno.rawValue))
    }

    @Test func theNumbersAreThoseOfAppConnect() {
        #expect(ACErrorCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 444])
        #expect(ACErrorDomain == "ACErrorDomain")
    }
}
