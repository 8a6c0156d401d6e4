import SecureFileCore

/// What is mounted, as this process sees it. The corresponding file is /proc/self/mountinfo.
struct MountTable {
    struct Entry {
        var id: UInt64
        /// As `major:minor`.
        var device: String
        var mountPoint: [UInt8]
        var type: String
        var isReadOnly: Bool
        /// For a vault: its folder.
        var source: [UInt8]
        var isVault: Bool { type == "fuse.sfs" }
    }

    /// In the order of mounting: of several on one place, the last is the one that shows.
    let entries: [Entry]

    init() { self.init(System.content("/proc/self/mountinfo") ?? []) }

    init(_ text: [UInt8]) { entries = text.split(separator: 10).compactMap(Self.parse) }

    /// The mount that shows at `path`, which is absolute and without symlinks.
    func top(at path: RawPath) -> Entry? { entries.last { path.bytes.elementsEqual($0.mountPoint) } }

    /// The mounts on places inside of `entry`.
    func below(_ entry: Entry) -> [Entry] {
        entries.filter {
            $0.id != entry.id && $0.mountPoint.count > entry.mountPoint.count && System.isInside($0.mountPoint, entry.mountPoint)
        }
    }

    /// `36 35 98:0 /root /mount/point options optional… - type source options`
    private static func parse(_ line: ArraySlice<UInt8>) -> Entry? {
        let words = line.split(separator: UInt8(ascii: " ")).map { Array($0) }
        guard words.count >= 10, let id = UInt64(String(decoding: words[0], as: UTF8.self)),
            let dash = words.dropFirst(6).firstIndex(of: [UInt8(ascii: "-")]), dash + 2 < words.count
        else { return nil }
        return Entry(
            id: id, device: String(decoding: words[2], as: UTF8.self), mountPoint: unescaped(words[4]),
            type: String(decoding: words[dash + 1], as: UTF8.self),
            isReadOnly: words[5].split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual("ro".utf8) },
            source: unescaped(words[dash + 2]))
    }

    /// Space, tab, newline and backslash stand there as `\040` and so on.
    private static func unescaped(_ word: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var i = 0
        while i < word.count {
            if word[i] == UInt8(ascii: "\\"), i + 3 < word.count {
                let digits = word[i + 1...i + 3].map { Int($0) - 48 }
                if digits.allSatisfy({ (0...7).contains($0) }), let byte = UInt8(exactly: digits[0] * 64 + digits[1] * 8 + digits[2]) {
                    result.append(byte)
                    i += 4
                    continue
                }
            }
            result.append(word[i])
            i += 1
        }
        return result
    }
}
