/// A JSON value, written with its members in the order given.
indirect enum JSON {
    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])

    static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
    static func number(_ number: (some BinaryInteger)?) -> JSON { number.map { .integer(Int64($0)) } ?? .null }

    /// The members for bytes that need not be text: `key` with the text (what is no UTF-8 replaced), and `keyBase64` with all bytes where
    /// that loses something.
    static func bytes(_ key: String, _ bytes: some Collection<UInt8>) -> [(String, JSON)] {
        let text = String(decoding: bytes, as: UTF8.self)
        if text.utf8.elementsEqual(bytes) { return [(key, .string(text))] }
        return [(key, .string(text)), (key + "Base64", .string(base64(Array(bytes))))]
    }

    /// One line.
    var encoded: String {
        var result = ""
        write(to: &result)
        return result
    }

    private func write(to result: inout String) {
        switch self {
        case .null: result += "null"
        case .bool(let value): result += value ? "true" : "false"
        case .integer(let value): result += "\(value)"
        case .string(let value): Self.write(value, to: &result)
        case .array(let values):
            result += "["
            for (i, value) in values.enumerated() {
                if i > 0 { result += "," }
                value.write(to: &result)
            }
            result += "]"
        case .object(let members):
            result += "{"
            for (i, member) in members.enumerated() {
                if i > 0 { result += "," }
                Self.write(member.0, to: &result)
                result += ":"
                member.1.write(to: &result)
            }
            result += "}"
        }
    }

    private static func write(_ text: String, to result: inout String) {
        result += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if scalar.value < 32 || scalar.value == 127 {
                    let hexadecimal = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        result += "\""
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)
        var result = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
            for i in 0..<4 { result.unicodeScalars.append(i <= part.count ? alphabet[Int(bits >> UInt32(18 - 6 * i) & 63)] : "=") }
        }
        return result
    }
}
