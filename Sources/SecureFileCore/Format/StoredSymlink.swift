/// The target of a symlink as it stands in the backing folder. FORMAT section 6.
enum StoredSymlink: Equatable {
    /// `r ‖ SIV(…)`, in base64url.
    case inline([UInt8])
    /// The sealed target is the file `sfs.links/B64(id)`; `length` is that of the plaintext.
    case file(name: [UInt8], length: Int)

    /// Bytes of the longest target, of the longest that is stored in the symlink, and of what sealing adds (random part and SIV).
    static let maximum = 4095
    static let inlineMaximum = 3039
    static let overhead = 32
    /// Bytes of a backing target that names a file: a length no base64url has.
    static let fileFormLength = 37

    private static let prefix = Array("sfs.link.".utf8)
    private static let idLength = 22

    /// The text that the backing symlink holds.
    var text: [UInt8] {
        switch self {
        case .inline(let sealed): return Base64URL.encode(sealed)
        case .file(let name, let length):
            let digits = String(length, radix: 16)
            return Self.prefix + name + [46] + Array(repeating: UInt8(ascii: "0"), count: 5 - digits.utf8.count) + Array(digits.utf8)
        }
    }

    /// Nil where `text` is neither form.
    init?(text: [UInt8]) {
        if text.count == Self.fileFormLength {
            let name = text[9..<9 + Self.idLength]
            guard text.starts(with: Self.prefix), text[31] == 46, Base64URL.decode(name)?.count == 16,
                let length = Self.length(text[32...]), length > Self.inlineMaximum, length <= Self.maximum
            else { return nil }
            self = .file(name: Array(name), length: length)
        } else {
            guard let sealed = Base64URL.decode(text), sealed.count > Self.overhead, sealed.count - Self.overhead <= Self.inlineMaximum
            else {
                return nil
            }
            self = .inline(sealed)
        }
    }

    /// Five lower-case hex digits.
    private static func length(_ text: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for character in text {
            switch character {
            case 48...57: value = value << 4 | Int(character - 48)
            case 97...102: value = value << 4 | Int(character - 87)
            default: return nil
            }
        }
        return value
    }

    /// The plaintext's length where the backing target has `length` bytes; nil for the form that has to be read.
    static func plaintextLength(backing length: Int64) -> Int64? {
        length == Int64(fileFormLength) ? nil : max(0, length * 3 / 4 - Int64(overhead))
    }
}
