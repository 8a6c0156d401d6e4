import SecureFileCore

/// What the kernel calls an inode of the mount: our own number, never used twice while the process lives.
package struct NodeID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static let root = NodeID(rawValue: 1)

    /// The numbers from here on are of objects that others change too: the kernel is to remember nothing of them.
    static let firstVolatile: UInt64 = 1 << 62
    package var isVolatile: Bool { rawValue >= Self.firstVolatile }
}

/// An open file or directory, as the kernel names it.
package struct HandleID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Of an object as ``NodeID/isVolatile`` says.
    package var isVolatile: Bool { rawValue >= NodeID.firstVolatile }
}

/// Who makes a request. It travels with the request, as a value: one request's user never shows in another's.
package struct Caller: Sendable {
    package var user: UInt32
    package var group: UInt32
    package var process: Int32
    package var umask: UInt32
    /// Further groups; known only where they decide something.
    package var groups: [UInt32] = []
    package init(user: UInt32, group: UInt32, process: Int32, umask: UInt32) {
        self.user = user
        self.group = group
        self.process = process
        self.umask = umask
    }

    func belongs(to group: UInt32) -> Bool { user == 0 || self.group == group || groups.contains(group) }
}

/// The answer to a lookup: a node, its lookup count raised by one, and its attributes.
package struct Entry: Sendable {
    package var node: NodeID
    package var attributes: FileStatus
    package init(node: NodeID, attributes: FileStatus) {
        self.node = node
        self.attributes = attributes
    }
}

/// How a file is opened: what is left of open(2)'s flags once the kernel has done its part.
package struct OpenIntent: Sendable {
    package var reads: Bool
    package var writes: Bool
    package var truncates: Bool
    package var appends: Bool
    /// Set-id bits go with the truncation, as far as this caller may not keep them; nil: they stay.
    package var losesPrivileges: Caller?
    package init(reads: Bool, writes: Bool, truncates: Bool = false, appends: Bool = false, losesPrivileges: Caller? = nil) {
        self.reads = reads
        self.writes = writes
        self.truncates = truncates
        self.appends = appends
        self.losesPrivileges = losesPrivileges
    }
}

/// Where the data of a write comes from.
package struct WriteOrigin: Sendable {
    /// Set-id bits go, as far as this caller may not keep them; nil: they stay.
    package var losesPrivileges: Caller?
    /// The kernel writes what it had cached, or keeps such a cache at all. The time of modification is its affair then: it says it by a change of
    /// attributes, or it has not moved.
    package var isWriteBack = false
    package init(losesPrivileges: Caller? = nil, isWriteBack: Bool = false) {
        self.losesPrivileges = losesPrivileges
        self.isWriteBack = isWriteBack
    }
}

/// What setattr is to change; nil and `.keep` leave a thing as it is.
package struct AttributeChange: Sendable {
    package var permissions: UInt32?
    package var owner: UInt32?
    package var group: UInt32?
    package var size: Int64?
    package var accessed = FileDescriptor.TimeChange.keep
    package var modified = FileDescriptor.TimeChange.keep
    /// The time of change, which the kernel keeps of regular files; to be compared only.
    package var changed: FileTime?
    /// Set-id bits go with a new size, as far as ``caller`` may not keep them. With chown(2) they always do.
    package var losesPrivileges = false
    /// chown(2) that changes neither owner nor group, of a regular file: the kernel keeps its time of change, and says that alone.
    package var isOwnerConfirmed = false
    /// Nothing at all: the same of all else; of a regular file, that it will be written.
    package var isEmpty = false
    /// Who asks, with all groups where the file may have set-id bits that go.
    package var caller: Caller?
    package init() {}
}

/// What fallocate(2) is to do.
package enum AllocationMode: Sendable {
    case allocate(keepSize: Bool)
    case punchHole
    case zeroRange(keepSize: Bool)
}

/// What lseek(2) is to look for.
package enum SeekTarget: Sendable { case data, hole }

/// Takes the entries of a directory until the reply is full.
package protocol DirectoryReply: AnyObject {
    /// Adds an entry by name and kind; false when there is no room, and then nothing was added.
    func add(_ name: [UInt8], inode: UInt64, kind: FileKind, nextPosition: Int) -> Bool
    /// Adds an entry with its attributes. An entry whose node is nil is shown, but not looked up (`.` and `..`).
    func add(_ name: [UInt8], _ attributes: FileStatus, node: NodeID?, nextPosition: Int) -> Bool
}
