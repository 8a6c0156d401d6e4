import SecureFileCore
import Synchronization

/// Which backing inode a node stands for.
struct InodeKey: Hashable, Sendable {
    var inode: UInt64
    /// The kernel's numbers of devices have 32 bits.
    var device: UInt32
}

extension InodeKey {
    init(_ status: FileStatus) { self.init(inode: status.inode, device: UInt32(truncatingIfNeeded: status.device)) }
}

/// A name by which a node's backing inode can be found.
struct Alias: Sendable {
    var parent: Node
    var name: StoredName
}

/// An inode the kernel knows of. Small, because there may be a million: an idle node holds no descriptor, only where to find its inode. Its fields
/// are in an order that leaves no gaps: 88 bytes, and no more fit the allocator's piece of 96.
///
/// What changes is protected by the lock of the ``NodeTable``, but for ``content``, which has its own; that one is taken first.
final class Node: @unchecked Sendable {
    let id: NodeID
    let key: InodeKey
    let kind: FileKind

    // Under the table's lock.

    private var marks: Marks = []
    /// Changes with each attribute that is set.
    var attributeEpoch: UInt16 = 0

    /// The open content of a regular file. Its lock also keeps two threads from opening one file twice.
    let content = Mutex<OpenContent?>(nil)

    /// How often the kernel was told of the node, less what it has forgotten.
    var lookups: UInt32 = 0
    /// Nodes that are found through this one.
    var children: UInt32 = 0
    // The alias.
    private var parent: Node?
    private var entry: RawPath?
    var rare: Rare?

    /// What few nodes have.
    final class Rare: @unchecked Sendable {
        /// Of the alias, where its name is long.
        var companion: [UInt8]?
        /// Further names (hard links).
        var aliases: [Alias] = []
        /// Keeps the inode reachable where no name leads to it.
        var anchor: FileDescriptor?
        /// The size, where the backing length does not tell it.
        var recordedSize: Int64?
        /// When the backing inode had changed last as that was found out; nil where it may be changing still. For a mount that only reads.
        var recordedChange: FileTime?
    }

    private struct Marks: OptionSet {
        var rawValue: UInt8
        static let deleted = Marks(rawValue: 1)
        static let inUse = Marks(rawValue: 2)
        static let onceInUse = Marks(rawValue: 4)
        static let withoutAttributes = Marks(rawValue: 8)
        static let reported = Marks(rawValue: 16)

        subscript(_ mark: Marks) -> Bool {
            get { contains(mark) }
            set { if newValue { formUnion(mark) } else { subtract(mark) } }
        }
    }

    init(_ id: NodeID, _ key: InodeKey, _ kind: FileKind) {
        self.id = id
        self.key = key
        self.kind = kind
    }

    func madeRare() -> Rare {
        if let rare { return rare }
        let made = Rare()
        rare = made
        return made
    }
}

/// What the node keeps in few bytes.
extension Node {
    /// The name by which it is found.
    var alias: Alias? {
        get {
            guard let parent, let entry else { return nil }
            return Alias(parent: parent, name: StoredName(entry: entry, companion: rare?.companion))
        }
        set {
            parent = newValue?.parent
            entry = newValue?.name.entry
            if let companion = newValue?.name.companion { madeRare().companion = companion } else { rare?.companion = nil }
        }
    }

    /// All names that are known.
    var allAliases: [Alias] { [alias].compactMap { $0 } + (rare?.aliases ?? []) }

    /// Whether ``alias`` is this one.
    func isFound(as other: Alias) -> Bool { parent === other.parent && entry == other.name.entry }

    /// The backing inode has no name any more.
    var isDeleted: Bool {
        get { marks[.deleted] }
        set { marks[.deleted] = newValue }
    }
    /// ``content`` is there.
    var isInUse: Bool {
        get { marks[.inUse] }
        set { marks[.inUse] = newValue }
    }
    /// Its content has been open: the kernel may hold some of it.
    var wasInUse: Bool {
        get { marks[.onceInUse] }
        set { marks[.onceInUse] = newValue }
    }
    /// The inode is known to have no extended attributes of ours.
    var hasNoAttributes: Bool {
        get { marks[.withoutAttributes] }
        set { marks[.withoutAttributes] = newValue }
    }
    /// A failure of this file has been logged.
    var isReported: Bool {
        get { marks[.reported] }
        set { marks[.reported] = newValue }
    }
}
