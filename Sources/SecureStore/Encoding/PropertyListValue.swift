/// A property list to be written.
indirect enum PropertyListValue {
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case single(Float)
    case data([UInt8])
    case text(String)
    case uid(Int)
    case array([PropertyListValue])
    case dictionary([(String, PropertyListValue)])
}

/// Writes binary property lists (version 00), as Apple's property list tools read them.
final class BinaryPropertyListWriter {
    private var objects: [[UInt8]] = []
    private var texts: [String: Int] = [:]
    private let referenceSize: Int

    private init(referenceSize: Int) { self.referenceSize = referenceSize }

    static func write(_ value: PropertyListValue) -> [UInt8] {
        let size = bytesFor(count(value))
        let writer = BinaryPropertyListWriter(referenceSize: size)
        let top = writer.add(value)
        return writer.file(top: top)
    }

    private static func bytesFor(_ count: Int) -> Int { count < 1 << 8 ? 1 : count < 1 << 16 ? 2 : count < 1 << 32 ? 4 : 8 }

    /// Objects there can be at most.
    private static func count(_ value: PropertyListValue) -> Int {
        switch value {
        case .array(let values): values.reduce(1) { $0 + count($1) }
        case .dictionary(let members): members.reduce(1) { $0 + 1 + count($1.1) }
        default: 1
        }
    }

    private func add(_ value: PropertyListValue) -> Int {
        if case .text(let text) = value, let known = texts[text] { return known }
        let place = objects.count
        objects.append([])
        if case .text(let text) = value { texts[text] = place }
        objects[place] = bytes(of: value)
        return place
    }

    private func bytes(of value: PropertyListValue) -> [UInt8] {
        switch value {
        case .boolean(let value): return [value ? 9 : 8]
        case .integer(let number): return Self.bytes(of: number)
        case .unsigned(let number): return [0x14] + Self.big(0, 8) + Self.big(number, 8)
        case .real(let number): return [0x23] + Self.big(number.bitPattern, 8)
        case .single(let number): return [0x22] + Self.big(UInt64(number.bitPattern), 4)
        case .data(let bytes): return Self.head(4, bytes.count) + bytes
        case .text(let text):
            if text.utf8.allSatisfy({ $0 < 128 }) { return Self.head(5, text.utf8.count) + text.utf8 }
            return Self.head(6, text.utf16.count) + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        case .uid(let number):
            let size = Self.bytesFor(number)
            return [UInt8(0x80 + size - 1)] + Self.big(UInt64(number), size)
        case .array(let values): return Self.head(10, values.count) + values.flatMap { reference(add($0)) }
        case .dictionary(let members):
            let keys = members.flatMap { reference(add(.text($0.0))) }
            return Self.head(13, members.count) + keys + members.flatMap { reference(add($0.1)) }
        }
    }

    private static func bytes(of number: Int64) -> [UInt8] {
        // Shorter forms are read as unsigned.
        if number < 0 { return [0x13] + big(UInt64(bitPattern: number), 8) }
        switch number {
        case ..<256: return [0x10, UInt8(number)]
        case ..<65536: return [0x11] + big(UInt64(number), 2)
        case ..<(1 << 32): return [0x12] + big(UInt64(number), 4)
        default: return [0x13] + big(UInt64(number), 8)
        }
    }

    private func reference(_ place: Int) -> [UInt8] { Self.big(UInt64(place), referenceSize) }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 15] + bytes(of: Int64(count))
    }

    private static func big(_ value: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }

    private func file(top: Int) -> [UInt8] {
        var file = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(file.count)
            file += object
        }
        let table = file.count
        let size = Self.bytesFor(table)
        for offset in offsets { file += Self.big(UInt64(offset), size) }
        file += [0, 0, 0, 0, 0, 0, UInt8(size), UInt8(referenceSize)]
        return file + Self.big(UInt64(objects.count), 8) + Self.big(UInt64(top), 8) + Self.big(UInt64(table), 8)
    }
}
