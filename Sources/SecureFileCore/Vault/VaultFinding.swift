/// Something a check of a vault has found.
public struct VaultFinding: Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A block, a metadata page or the header of a file does not open.
        case damagedContent
        /// A file is shorter than its recorded size needs.
        case truncatedContent
        /// A file that is plaintext, or of another vault.
        case foreignContent
        /// A file made by a newer version.
        case unsupportedContent
        /// An entry has the form of an encrypted name, and does not open: changed, or moved from another directory.
        case damagedName
        /// A directory has lost its id: nothing in it can be read.
        case damagedDirectory
        case damagedSymlink
        case damagedAttribute
        /// The system did not let it be read.
        case unreadable
        /// A directory's id is only in its attribute; the file that should hold it too is missing or damaged.
        case directoryIDInAttributeOnly
        /// A file of somebody else's in the vault's folder.
        case foreignEntry
        /// A socket, pipe or device, which a vault shows only where it was asked for.
        case specialFile
        /// A session that died was writing the file: it reads as what had become durable.
        case lenientlyRead
        /// Bytes behind the end of a file, which are ignored.
        case excessBytes
        /// What an unfinished operation has left.
        case leftover
        /// The file of a long name that no entry has.
        case orphanedName
        /// The file of a long symlink target that no symlink has.
        case orphanedTarget

        public var severity: Severity {
            switch self {
            case .damagedContent, .truncatedContent, .foreignContent, .unsupportedContent, .damagedName, .damagedDirectory, .damagedSymlink,
                .damagedAttribute:
                .damage
            case .unreadable: .unreadable
            case .directoryIDInAttributeOnly, .foreignEntry, .specialFile, .lenientlyRead, .excessBytes, .leftover, .orphanedName, .orphanedTarget: .note
            }
        }
    }

    public enum Severity: String, Sendable, CaseIterable {
        /// Data that was written cannot be read.
        case damage
        /// It could not be checked.
        case unreadable
        /// Nothing is lost.
        case note
    }

    public var kind: Kind
    /// What it is about, relative to the vault's folder, as it stands there.
    public var storedPath: RawPath
    /// The user's name for it, relative to the root; nil where there is none.
    public var path: [UInt8]?
    public var block: BlockIndex?
    /// In words, without names.
    public var message: String
    public var cause: Errno?
    /// It was taken care of.
    public var isRepaired = false

    public var severity: Severity { kind.severity }
}
