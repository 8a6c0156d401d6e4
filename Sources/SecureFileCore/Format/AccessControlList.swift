/// A POSIX access control list, as acl(5) describes it, in the form that the attributes `system.posix_acl_access` and `…_default` have. FORMAT
/// section 6.1.
///
/// The entries of the owner, of the class of groups (the mask, or the owning group where there is none) and of others say the same as the
/// inode's mode; where they differ, the mode counts (``withMode(_:)``).
public struct AccessControlList: Hashable, Sendable {
    /// Whom an entry is about.
    public enum Tag: UInt16, Sendable {
        case owner = 0x01
        case user = 0x02
        case owningGroup = 0x04
        case group = 0x08
        case mask = 0x10
        case others = 0x20

        /// The entry names somebody.
        public var isNamed: Bool { self == .user || self == .group }
    }

    public struct Entry: Hashable, Sendable {
        public var tag: Tag
        /// Bits as in a mode: 4 read, 2 write, 1 execute.
        public var permissions: UInt32
        /// Number of the user or group; means something only where ``Tag/isNamed``.
        public var id: UInt32
        public init(_ tag: Tag, _ permissions: UInt32, id: UInt32 = .max) {
            self.tag = tag
            self.permissions = permissions
            self.id = id
        }
    }

    /// Why bytes are no list.
    public enum Failure: Error { case malformed, unsupportedVersion }

    /// In the order of the tags: owner, users, owning group, groups, mask, others.
    public private(set) var entries: [Entry]

    private static let version: UInt32 = 2
    private static let headerLength = 4
    private static let entryLength = 8

    /// Reads the attribute's value: version (4), then entries of tag (2), permissions (2) and id (4).
    ///
    /// - Returns: nil for a value without entries: there is to be no list.
    /// - Throws: ``Failure``, for what a system's own file system refuses.
    public static func read(_ value: [UInt8]) throws(Failure) -> AccessControlList? {
        if value.isEmpty { return nil }
        guard value.count >= headerLength else { throw .malformed }
        guard number(value, 0, 4) == version else { throw .unsupportedVersion }
        guard (value.count - headerLength) % entryLength == 0 else { throw .malformed }
        var entries: [Entry] = []
        for start in stride(from: headerLength, to: value.count, by: entryLength) {
            guard let tag = Tag(rawValue: UInt16(truncatingIfNeeded: number(value, start, 2))) else { throw .malformed }
            entries.append(Entry(tag, number(value, start + 2, 2), id: tag.isNamed ? number(value, start + 4, 4) : .max))
        }
        if entries.isEmpty { return nil }
        guard isValid(entries) else { throw .malformed }
        return AccessControlList(entries: entries)
    }

    private init(entries: [Entry]) { self.entries = entries }

    /// What the kernel asks of a list: the classes in their order, one entry each of owner, owning group and others, a mask where somebody is
    /// named. Numbers may come in any order, and more than once.
    private static func isValid(_ entries: [Entry]) -> Bool {
        var seen: Set<Tag> = []
        var last: UInt16 = 0
        for entry in entries {
            let tag = entry.tag
            if entry.permissions & ~0o7 != 0 || tag.rawValue < last { return false }
            if !tag.isNamed, !seen.insert(tag).inserted { return false }
            if tag.isNamed, entry.id == .max { return false }
            if tag.isNamed { seen.insert(tag) }
            last = tag.rawValue
        }
        guard seen.isSuperset(of: [.owner, .owningGroup, .others]) else { return false }
        return seen.contains(.mask) || seen.isDisjoint(with: [.user, .group])
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt32 {
        (0..<count).reduce(0) { $0 | UInt32(bytes[start + $1]) << (8 * UInt32($1)) }
    }

    /// The attribute's value.
    public var value: [UInt8] {
        func bytes(_ number: UInt32, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) } }
        return bytes(Self.version, 4) + entries.flatMap { bytes(UInt32($0.tag.rawValue), 2) + bytes($0.permissions, 2) + bytes($0.id, 4) }
    }

    // MARK: Lists and modes

    /// The list says nothing that its ``permissionBits`` do not.
    public var isMinimal: Bool { entries.count == 3 }

    /// The nine permission bits that go with the list.
    public var permissionBits: UInt32 {
        entries.reduce(0) { bits, entry in shift(of: entry.tag).map { bits | entry.permissions << $0 } ?? bits }
    }

    /// Where the permissions of an entry stand in a mode; nil for entries that are in none.
    private func shift(of tag: Tag) -> UInt32? {
        switch tag {
        case .owner: 6
        case .owningGroup: entries.contains { $0.tag == .mask } ? nil : 3
        case .mask: 3
        case .others: 0
        case .user, .group: nil
        }
    }

    /// The list of an inode whose mode is now `mode`.
    public func withMode(_ mode: UInt32) -> AccessControlList {
        AccessControlList(entries: entries.map { entry in
            guard let shift = shift(of: entry.tag) else { return entry }
            return Entry(entry.tag, mode >> shift & 0o7)
        })
    }

    /// What a new inode has of this default list: the list, which may be minimal and says the mode then. `mode` is what its maker asked for;
    /// the umask does not count.
    public func inherited(mode: UInt32) -> AccessControlList { withMode(permissionBits & mode) }
}
