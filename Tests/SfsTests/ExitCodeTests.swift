import SecureFileCore
import Testing

@testable import sfs

@Suite struct ExitCodeTests {
    typealias Row = (kind: SecureFileError.Code.Kind, vault: ExitCode, entry: ExitCode)
    static let rows: [Row] = [
        (.closed, .failure, .failure),
        (.notFound, .noVault, .notFound),
        (.alreadyExists, .alreadyExists, .alreadyExists),
        (.permissionDenied, .permissionDenied, .permissionDenied),
        (.noSpace, .noSpace, .noSpace),
        (.system, .failure, .failure),
        (.notSecureFile, .damagedConfiguration, .damagedData),
        (.unsupportedVersion, .unsupportedVersion, .unsupportedVersion),
        (.wrongKey, .wrongKey, .damagedData),
        (.keyNotAvailable, .keyNotAvailable, .keyNotAvailable),
        (.keyAbsent, .keyNotAvailable, .keyNotAvailable),
        (.keyRetired, .keyNotAvailable, .keyNotAvailable),
        (.notSupported, .failure, .failure),
        (.damaged, .damagedConfiguration, .damagedData),
        (.truncated, .damagedConfiguration, .damagedData),
        (.limitExceeded, .failure, .failure),
        (.invalidArgument, .usage, .notFound),
        (.inUse, .vaultInUse, .vaultInUse),
        (.notAVault, .noVault, .noVault),
        (.readOnly, .permissionDenied, .permissionDenied),
        (.regularFileOnly, .notFound, .notFound),
        (.tampered, .damagedConfiguration, .damagedConfiguration),
    ]

    @Test func everyErrorCodeHasItsRow() {
        #expect(Set(Self.rows.map(\.kind)) == Set(SecureFileError.Code.Kind.allCases))
        #expect(Self.rows.count == SecureFileError.Code.Kind.allCases.count)
    }

    @Test(arguments: rows) func errorsAreMappedByTheTable(_ row: Row) {
        let error = SecureFileError(SecureFileError.Code(kind: row.kind), "message")
        #expect(ExitCode(error, about: .vault) == row.vault)
        #expect(ExitCode(error, about: .entry) == row.entry)
    }

    @Test func systemErrorsAreToldApart() {
        func code(_ errno: Errno, _ subject: ExitCode.Subject) -> ExitCode {
            ExitCode(SecureFileError(.system, "message", cause: errno), about: subject)
        }
        let rows: [(Errno, ExitCode, ExitCode)] = [
            (.noEntry, .noVault, .notFound), (.notDirectory, .noVault, .notFound), (.isDirectory, .failure, .notFound),
            (.nameTooLong, .failure, .notFound), (.accessDenied, .permissionDenied, .permissionDenied),
            (.notPermitted, .permissionDenied, .permissionDenied), (.readOnly, .permissionDenied, .permissionDenied),
            (.noSpace, .noSpace, .noSpace), (.inputOutput, .inputOutput, .inputOutput), (.stale, .inputOutput, .inputOutput),
            (.notConnected, .inputOutput, .inputOutput), (.noKey, .keyNotAvailable, .keyNotAvailable), (.noMemory, .failure, .failure),
        ]
        for (errno, vault, entry) in rows {
            #expect(code(errno, .vault) == vault, "\(errno)")
            #expect(code(errno, .entry) == entry, "\(errno)")
        }
    }

    @Test func wrongKeyDamageAndBrokenDiskAreThreeCodes() {
        let codes = [
            ExitCode(SecureFileError(.wrongKey, "", cause: nil), about: .vault), ExitCode(SecureFileError(.damaged, ""), about: .entry),
            ExitCode(SecureFileError(.inputOutput, ""), about: .entry), ExitCode(SecureFileError(.keyNotAvailable, ""), about: .entry),
        ]
        #expect(Set(codes).count == codes.count)
    }

    /// docs/CLI.md is the contract: one row a code, `| 3 | meaning |`.
    @Test func documentHasTheSameTable() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = String(decoding: try FileDescriptor.open(RawPath("/\(root)/docs/CLI.md"), .readOnly).readAll(limit: 1 << 20), as: UTF8.self)
        for code in ExitCode.allCases {
            #expect(text.contains("\n| \(code.rawValue) | \(code.meaning) |"), "docs/CLI.md lacks the row of exit code \(code.rawValue)")
        }
        #expect(Set(ExitCode.allCases.map(\.rawValue)) == Set(0..<Int32(ExitCode.allCases.count)))
    }
}
