/// A value of JSON (RFC 8259) as far as `sfs.json` has any. FORMAT section 7.
///
/// A parser of our own because the platform's accept what must be refused here: members that occur twice, and any depth and size.
indirect enum StrictJSON: Equatable, Sendable {
    case string(String)
    case integer(Int64)
    case array([StrictJSON])
    case object([String: StrictJSON])
    /// What JSON has and this format has not: true, false, null, fractions, text with escapes. It may stand in a format to come.
    case foreign

    /// Bytes of the longest text, and how deep it nests.
    static let lengthMaximum = 65536
    static let depthMaximum = 8

    /// Nil for what is no JSON, holds a byte outside ASCII, repeats a member, or passes the limits.
    init?(parsing text: [UInt8]) {
        guard text.count <= Self.lengthMaximum, text.allSatisfy({ $0 < 128 }) else { return nil }
        var parser = Parser(text: text)
        guard let value = parser.value(depth: 0) else { return nil }
        parser.skipSpace()
        guard parser.isAtEnd else { return nil }
        self = value
    }

    /// Members sorted by their bytes, no white space, no escapes.
    var canonical: [UInt8] {
        switch self {
        case .string(let text): return Array("\"\(text)\"".utf8)
        case .integer(let number): return Array(String(number).utf8)
        case .array(let elements): return [91] + Array(elements.map(\.canonical).joined(separator: [44])) + [93]
        case .object(let members):
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let parts = sorted.map { Array("\"\($0.key)\":".utf8) + $0.value.canonical }
            return [123] + Array(parts.joined(separator: [44])) + [125]
        case .foreign: return Array("null".utf8)
        }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    var array: [StrictJSON]? { if case .array(let elements) = self { elements } else { nil } }
    var object: [String: StrictJSON]? { if case .object(let members) = self { members } else { nil } }
}

/// Recursive descent, its depth bounded; every step takes a byte, so it ends.
private struct Parser {
    let text: [UInt8]
    var position = 0

    init(text: [UInt8]) { self.text = text }

    var isAtEnd: Bool { position == text.count }
    private var next: UInt8? { position < text.count ? text[position] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, next == byte else { return false }
        position += 1
        return true
    }

    mutating func value(depth: Int) -> StrictJSON? {
        guard depth <= StrictJSON.depthMaximum else { return nil }
        skipSpace()
        switch next ?? 0 {
        case UInt8(ascii: "{"): return object(depth)
        case UInt8(ascii: "["): return array(depth)
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        default: return ["true", "false", "null"].contains { word($0) } ? .foreign : nil
        }
    }

    private mutating func word(_ word: String) -> Bool {
        guard text[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    private mutating func object(_ depth: Int) -> StrictJSON? {
        guard take("{") else { return nil }
        var members: [String: StrictJSON] = [:]
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard case .string(let name)? = string() else { return nil }
            skipSpace()
            guard take(":"), let member = value(depth: depth + 1), members.updateValue(member, forKey: name) == nil else { return nil }
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { return nil }
        }
    }

    private mutating func array(_ depth: Int) -> StrictJSON? {
        guard take("[") else { return nil }
        var elements: [StrictJSON] = []
        skipSpace()
        if take("]") { return .array(elements) }
        while true {
            guard let element = value(depth: depth + 1) else { return nil }
            elements.append(element)
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { return nil }
        }
    }

    private mutating func string() -> StrictJSON? {
        guard take("\"") else { return nil }
        let start = position
        var hasEscape = false
        while let byte = next {
            if byte < 32 || byte == 127 { return nil }
            if byte == UInt8(ascii: "\"") {
                defer { position += 1 }
                return hasEscape ? .foreign : .string(String(decoding: text[start..<position], as: UTF8.self))
            }
            if byte == UInt8(ascii: "\\") {
                hasEscape = true
                position += 1
            }
            position += 1
        }
        return nil
    }

    private mutating func number() -> StrictJSON? {
        let start = position
        let inNumber = Set("+-.eE0123456789".utf8)
        while let byte = next, inNumber.contains(byte) { position += 1 }
        let digits = String(decoding: text[start..<position], as: UTF8.self)
        // Only the form that Int64 itself prints is canonical: no leading zero, no plus, no -0.
        guard let value = Int64(digits) else { return digits.contains { ".eE".contains($0) } ? .foreign : nil }
        return String(value) == digits ? .integer(value) : nil
    }
}
