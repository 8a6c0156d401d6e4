import SecureFileCore
import Synchronization

/// Which backing inode a node stands for.
struct InodeKey: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
    init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
    }
}

/// A name by which a node's backing inode can be found.
struct Alias: Sendable {
    var parent: Node
    var name: StoredName
}

/// An inode the kernel knows of. Small, because there may be a million: an idle node holds no descriptor, only where to find its inode.
///
/// What changes is protected by the lock of the ``NodeTable``, but for ``content``, which has its own; that one is taken first.
final class Node: @unchecked Sendable {
    let id: NodeID
    let key: InodeKey
    let kind: FileKind

    /// The open content of a regular file. Its lock also keeps two threads from opening one file twice.
    let content = Mutex<OpenContent?>(nil)

    // Under the table's lock.

    /// How often the kernel was told of the node, less what it has forgotten.
    var lookups: UInt32 = 0
    /// Nodes that are found through this one.
    var children: UInt32 = 0
    var alias: Alias?
    /// The backing inode has no name any more.
    var isDeleted = false
    /// ``content`` is there.
    var isInUse = false
    /// Its content has been open: the kernel may hold some of it.
    var wasInUse = false
    /// The inode is known to have no extended attributes of ours.
    var hasNoAttributes = false
    /// Changes with each attribute that is set.
    var attributeEpoch: UInt16 = 0
    /// A failure of this file has been logged.
    var isReported = false
    var rare: Rare?

    /// What few nodes have.
    final class Rare: @unchecked Sendable {
        /// Further names (hard links).
        var aliases: [Alias] = []
        /// Keeps the inode reachable where no name leads to it.
        var anchor: FileDescriptor?
        /// The size, where the backing length does not tell it.
        var recordedSize: Int64?
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
