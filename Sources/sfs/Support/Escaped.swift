/// Bytes that may hold anything, as text that is safe to show: no control character reaches a terminal, and no two texts look the same.
///
/// Control and format characters and bytes that are no UTF-8 become `\xNN` for each byte, newline and tab `\n` and `\t`, a backslash `\\`.
struct Escaped: CustomStringConvertible {
    let description: String

    init(_ bytes: some Sequence<UInt8>) {
        var result = ""
        var decoder = UTF8()
        let all = Array(bytes)
        var position = 0
        var iterator = all.makeIterator()
        decoding: while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar):
                let length = UTF8.width(scalar)
                Self.append(scalar, all[position..<position + length], to: &result)
                position += length
            case .emptyInput: break decoding
            case .error:
                // The decoder may have taken any part of a sequence: show one byte and go on behind it.
                result += Self.hexadecimal(all[position])
                position += 1
                decoder = UTF8()
                iterator = Array(all[position...]).makeIterator()
            }
        }
        description = result
    }

    private static func append(_ scalar: Unicode.Scalar, _ bytes: ArraySlice<UInt8>, to result: inout String) {
        switch scalar {
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        default:
            if isShown(scalar) { result.unicodeScalars.append(scalar) } else { for byte in bytes { result += hexadecimal(byte) } }
        }
    }

    /// Directional and other invisible marks can make a name look like another one.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: false
        default: true
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = Array("0123456789abcdef".unicodeScalars)
        var text = "\\x"
        text.unicodeScalars.append(digits[Int(byte >> 4)])
        text.unicodeScalars.append(digits[Int(byte & 15)])
        return text
    }
}
