import Foundation
import SecureFileCore
import Testing

/// docs/API.md against the code.
@Suite struct APIDocumentTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..").standardized
    private static func read(_ path: String) throws -> String { try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8) }

    /// The lines of the table under `heading`, as cells.
    private func table(_ heading: String) throws -> [[String]] {
        let lines = try Self.read("docs/API.md").components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix(heading) })
        return lines[start...].drop { !$0.hasPrefix("|---") }.dropFirst().prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func eachRowNamesATestThatExists() throws {
        let folder = Self.root.appendingPathComponent("Tests/SecureFileCoreTests/Handle")
        let sources = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let rows = try table("## The table")
        #expect(rows.count >= 30)
        for row in rows {
            #expect(row.count == 6, "\(row)")
            let tests = row[5].split(separator: "`").map(String.init).filter { !$0.trimmingCharacters(in: .whitespaces).isEmpty }
            if row[5] == "–" || row[5] == "the same" { continue }
            for test in tests { #expect(sources.contains("func \(test)("), "\(test)") }
        }
    }

    @Test func theTableOfErrorsIsThatOfTheCode() throws {
        var documented: [String: (errno: String, ac: String)] = [:]
        for row in try table("## Errors") {
            let (codes, errnos) = (row[0].split(separator: "`").filter { $0 != " " && !$0.hasPrefix(",") }, row[1].split(separator: " "))
            for (place, code) in codes.enumerated() where documented[String(code)] == nil {
                documented[String(code)] = (String(errnos.count == codes.count ? errnos[place] : errnos[0]), row[2])
            }
        }
        let numbers: [String: Errno] = [
            "ENOKEY": .noKey, "EKEYREVOKED": .keyRevoked, "EACCES": .accessDenied, "EIO": .inputOutput, "EINVAL": .invalidArgument, "EFBIG": .fileTooLarge,
            "EBADF": .badDescriptor, "ENOENT": .noEntry, "EEXIST": .exists, "ENOSPC": .noSpace, "EROFS": .readOnly, "EBUSY": .busy, "EOPNOTSUPP": .notSupported,
        ]
        for kind in SecureFileError.Code.Kind.allCases where kind != .system {
            let error = SecureFileError(SecureFileError.Code(kind: kind), "message")
            let row = try #require(documented[kind.rawValue], "\(kind.rawValue) is not documented")
            #expect(numbers[row.errno] == error.errno, "\(kind.rawValue)")
            #expect(row.ac.hasPrefix(error.acErrorCode.map { String($0.rawValue) } ?? "–"), "\(kind.rawValue)")
        }
    }
}
