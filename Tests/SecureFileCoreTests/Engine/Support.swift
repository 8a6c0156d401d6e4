import SecureFileCore
import TestSupport
import Testing

/// The environment of the tests, where a number is set.
func environmentNumber(_ name: String) -> UInt64? { Environment.value(name).flatMap { UInt64($0) } }

/// The seeds of a random test: SEED alone if it is set, else `count` from `first` on.
func seeds(from first: UInt64, count: Int) -> [UInt64] {
    if let seed = environmentNumber("SEED") { return [seed] }
    return (0..<count).map { first + UInt64($0) }
}

extension SecureFile {
    /// Writes bytes that `seed` names; returns them.
    @discardableResult
    func write(_ count: Int, at offset: Int64, seed: UInt64) throws(SecureFileError) -> [UInt8] {
        let content = FileAction.content(count, seed: seed)
        try content.withSpan(0..<count) { (span) throws(SecureFileError) in try write(span, 0..<count, at: ByteOffset(offset)) }
        return content.bytes(0..<count)
    }

    /// Reads at most `count` bytes.
    func bytes(at offset: Int64, count: Int) throws(SecureFileError) -> [UInt8] {
        let buffer = PageBuffer(count: max(1, count))
        // What is not read must not be mistaken for zeros.
        buffer.fill(0..<buffer.count, seed: 99)
        let got = try read(at: ByteOffset(offset), count: count, into: buffer)
        return buffer.bytes(0..<got)
    }

    var allBytes: [UInt8] {
        get throws(SecureFileError) { try bytes(at: 0, count: Int(size.rawValue)) }
    }
}

/// The sizes around every edge of the format.
let edgeSizes: [Int64] = [
    0, 1, 2, 255, 256, 3838, 3839, 3840, 4095, 4096, 4097, 8191, 8192, 8193, 262_143, 262_144, 262_145, 266_239, 266_240, 266_241, 524_287,
    524_288, 524_289,
]

/// Expects an error of SecureFS with this code.
func expectError<R>(_ code: SecureFileError.Code, _ comment: Comment? = nil, at location: SourceLocation = #_sourceLocation, _ body: () throws -> R) {
    do {
        _ = try body()
        Issue.record("no error, \(code.name) was expected. \(comment?.rawValue ?? "")", sourceLocation: location)
    } catch let error as SecureFileError {
        #expect(error.code == code, "\(error)", sourceLocation: location)
    } catch {
        Issue.record("another error: \(error)", sourceLocation: location)
    }
}
