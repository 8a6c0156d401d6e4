/// The names in a vault's folders that stand for no entry of the user. FORMAT section 5.1.
enum ReservedNames {
    static let configuration = RawPath("sfs.json")
    static let session = RawPath("sfs.session")
    static let spare = RawPath("sfs.spare")
    static let lock = RawPath("sfs.lock")
    static let links = RawPath("sfs.links")
    static let stores = RawPath("sfs.stores")
    /// Those of the root, beside `sfs.dir`.
    static let inRoot = [configuration, session, spare, lock, links, stores]
    static let directoryID = RawPath("sfs.dir")
    static let directoryAttribute = RawPath("user.sfs.dir")

    static let prefix = Array("sfs.".utf8)
    static let temporaryPrefix = Array("sfs.tmp.".utf8)
    static let longPrefix = Array("sfs.long.".utf8)
    static let companionSuffix = Array(".name".utf8)

    /// What an entry's name in the backing folder says of it.
    enum Meaning: Equatable {
        /// `.` or `..`
        case dots
        /// A short name, as far as can be told without a key.
        case short
        /// A long name's entry.
        case long
        /// The file that holds a long name's ciphertext.
        case companion
        /// A leftover of an unfinished operation.
        case temporary
        /// `sfs.dir`
        case directoryID
        /// Another name that begins with `sfs.`
        case other
    }

    static func meaning(of name: [UInt8]) -> Meaning {
        if name == [46] || name == [46, 46] { return .dots }
        guard name.starts(with: prefix) else { return .short }
        if name.starts(with: temporaryPrefix) { return .temporary }
        if name.starts(with: longPrefix) {
            return name.count > companionSuffix.count && name.suffix(companionSuffix.count).elementsEqual(companionSuffix)
                ? .companion : .long
        }
        return directoryID.bytes.elementsEqual(name) ? .directoryID : .other
    }
}
