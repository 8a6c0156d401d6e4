import Testing

@testable import SecureFileCore

@Suite struct RecoveryKeyTests {
    private let key = RecoveryKey(secret: SecretKey(copying: Array(1...20)))

    @Test func textComesBack() throws {
        let text = try key.exposedText()
        #expect(text.utf8.count == 44)
        #expect(text.split(separator: "-").map(\.count) == Array(repeating: 4, count: 9))
        #expect(try RecoveryKey(text).secret.exposedBytes() == Array(1...20))
        #expect(try RecoveryKey(" " + text.lowercased().replacing("-", with: "  ") + "\n").secret.exposedBytes() == Array(1...20))
    }

    @Test func lookAlikesAreRead() throws {
        let zeros = RecoveryKey(secret: SecretKey(copying: [UInt8](repeating: 0, count: 20)))
        let text = try zeros.exposedText()
        #expect(try RecoveryKey(text.replacing("0", with: "O")).secret.exposedBytes() == [UInt8](repeating: 0, count: 20))
        // 00001 00001 …: all ones
        let ones = RecoveryKey(secret: SecretKey(copying: (0..<4).flatMap { _ in [0x08, 0x42, 0x10, 0x84, 0x21] as [UInt8] }))
        let other = try ones.exposedText().replacing("1", with: "l")
        #expect(try RecoveryKey(other).secret.exposedBytes() == ones.secret.exposedBytes())
    }

    /// Every other character at every place, and every exchange of neighbours.
    @Test func typingErrorsAreFound() throws {
        let characters = Array(try key.exposedText().replacing("-", with: ""))
        var unnoticed = 0
        for place in characters.indices {
            for other in "0123456789ABCDEFGHJKMNPQRSTVWXYZ" where other != characters[place] {
                var typed = characters
                typed[place] = other
                if failureCode({ _ = try RecoveryKey(String(typed)) }) != .invalidArgument { unnoticed += 1 }
            }
            if place > 0, characters[place] != characters[place - 1] {
                var typed = characters
                typed.swapAt(place, place - 1)
                if failureCode({ _ = try RecoveryKey(String(typed)) }) != .invalidArgument { unnoticed += 1 }
            }
        }
        #expect(unnoticed == 0)
    }

    @Test(arguments: [
        "", "-", "0000", String(repeating: "0", count: 35), String(repeating: "0", count: 37), String(repeating: "U", count: 36), "é",
    ])
    func otherFormsAreRefused(_ text: String) {
        #expect(failureCode { _ = try RecoveryKey(text) } == .invalidArgument)
    }

    @Test func anyTextIsReadWithoutATrap() {
        let seed = VaultTestRandom.seed(7)
        var random = VaultTestRandom(seed: seed)
        for _ in 0..<5000 {
            let count = random.below(60)
            let text = String(decoding: random.bytes(count).map { random.below(3) == 0 ? $0 : $0 % 43 + 48 }, as: UTF8.self)
            #expect(failureCode { _ = try RecoveryKey(text) } == .invalidArgument, "seed \(seed): \(text)")
        }
    }
}
