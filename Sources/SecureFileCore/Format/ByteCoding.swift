/// Integers in byte strings, little-endian as everywhere in the format. FORMAT section 1.
enum LittleEndian {
    /// The 8 bytes of `value`.
    static func bytes(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

    /// The 4 bytes of `value`.
    static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

    /// The integer in `count` bytes, up to 8, of `bytes` from `offset`.
    static func load(_ bytes: [UInt8], at offset: Int, count: Int) -> UInt64 {
        precondition(count <= 8 && offset >= 0 && offset + count <= bytes.count)
        var value: UInt64 = 0
        for i in 0..<count { value |= UInt64(bytes[offset + i]) << (i * 8) }
        return value
    }
}

/// Lower-case hexadecimal text. FORMAT section 1.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that `text` stands for; nil where it is not exactly `count` bytes in lower case.
    static func decode(_ text: String, count: Int) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count == count * 2 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for i in stride(from: 0, to: characters.count, by: 2) {
            guard let high = value(characters[i]), let low = value(characters[i + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
