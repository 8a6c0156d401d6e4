/// base64url without padding (RFC 4648 section 5): what encrypted names look like. FORMAT section 1.
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each character, 255 for what is none.
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()

    /// Characters that `count` bytes take.
    static func encodedLength(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    /// Bytes that `length` characters stand for; nil for a length that no encoding has.
    static func decodedCount(_ length: Int) -> Int? { length % 4 == 1 ? nil : length * 3 / 4 }

    static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes, after: []) }

    /// `prefix`, then the encoding of `bytes`.
    static func encode(_ bytes: [UInt8], after prefix: [UInt8]) -> [UInt8] {
        let table = alphabet
        var text = prefix
        text.reserveCapacity(prefix.count + encodedLength(bytes.count) + 1)
        var i = 0
        while i + 2 < bytes.count {
            let group = UInt32(bytes[i]) << 16 | UInt32(bytes[i + 1]) << 8 | UInt32(bytes[i + 2])
            text.append(table[Int(group >> 18)])
            text.append(table[Int(group >> 12 & 63)])
            text.append(table[Int(group >> 6 & 63)])
            text.append(table[Int(group & 63)])
            i += 3
        }
        let left = bytes.count - i
        if left > 0 {
            let group = UInt32(bytes[i]) << 16 | (left == 2 ? UInt32(bytes[i + 1]) << 8 : 0)
            text.append(table[Int(group >> 18)])
            text.append(table[Int(group >> 12 & 63)])
            if left == 2 { text.append(table[Int(group >> 6 & 63)]) }
        }
        return text
    }

    /// The bytes that `text` stands for; nil where it is not canonical base64url: another character, an impossible length, or unused
    /// bits that are not zero.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard let count = decodedCount(text.count) else { return nil }
        let table = values
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var bits: UInt32 = 0
        var held = 0
        for character in text {
            let value = table[Int(character)]
            if value == 255 { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> held))
                bits &= 1 << held - 1
            }
        }
        return bits == 0 ? bytes : nil
    }

    static func decode(_ text: [UInt8]) -> [UInt8]? { decode(text[...]) }
}
