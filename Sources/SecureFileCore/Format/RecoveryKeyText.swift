/// A recovery key as it is typed: Crockford base32 in groups of four. FORMAT section 7. The check value is computed elsewhere: it needs a
/// hash.
enum RecoveryKeyText {
    /// Bytes of the key.
    static let keyCount = 20
    /// Characters of the key and of its check value, without the separators.
    static let characterCount = 36

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// - Parameters:
    ///   - key: 20 bytes.
    ///   - check: 20 bits.
    /// - Returns: nine groups of four characters, joined by `-`.
    static func encode(key: [UInt8], check: UInt32) -> String {
        precondition(key.count == keyCount && check < 1 << 20)
        var characters = base32(key)
        for shift in stride(from: 15, through: 0, by: -5) { characters.append(alphabet[Int(check >> shift & 31)]) }
        var text = ""
        for (i, character) in characters.enumerated() {
            if i > 0, i % 4 == 0 { text.append("-") }
            text.unicodeScalars.append(Unicode.Scalar(character))
        }
        return text
    }

    private static func base32(_ key: [UInt8]) -> [UInt8] {
        var characters: [UInt8] = []
        var bits: UInt32 = 0
        var held = 0
        for byte in key {
            bits = bits << 8 | UInt32(byte)
            held += 8
            while held >= 5 {
                held -= 5
                characters.append(alphabet[Int(bits >> held & 31)])
                bits &= 1 << held - 1
            }
        }
        return characters
    }

    /// The key and check value of a typed text: case, spaces and `-` do not count, `O` is `0`, `I` and `L` are `1`. Nil for another
    /// number of characters or one that is not in the alphabet. The check value is the caller's to compare.
    static func decode(_ text: String) -> (key: [UInt8], check: UInt32)? {
        var digits: [UInt8] = []
        for character in text.utf8 where !isSeparator(character) {
            guard let digit = value(character), digits.count < characterCount else { return nil }
            digits.append(digit)
        }
        guard digits.count == characterCount else { return nil }
        var key: [UInt8] = []
        var bits: UInt32 = 0
        var held = 0
        for digit in digits.prefix(32) {
            bits = bits << 5 | UInt32(digit)
            held += 5
            if held >= 8 {
                held -= 8
                key.append(UInt8(truncatingIfNeeded: bits >> held))
                bits &= 1 << held - 1
            }
        }
        return (key, digits.suffix(4).reduce(0) { $0 << 5 | UInt32($1) })
    }

    private static func isSeparator(_ character: UInt8) -> Bool {
        character == UInt8(ascii: "-") || character == UInt8(ascii: " ") || (9...13).contains(character)
    }

    private static func value(_ character: UInt8) -> UInt8? {
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character - 32 : character
        return switch upper {
        case UInt8(ascii: "O"): 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): 1
        default: alphabet.firstIndex(of: upper).map { UInt8($0) }
        }
    }
}
