import SecureFileCore

/// A file system in Swift terms: what stands between the FUSE trampolines and the vault.
///
/// Every method may be called from several threads at once. Permissions are checked by the kernel (`default_permissions`). Errors are the
/// system's numbers, because that is all a program on the other side ever sees.
package protocol FileSystemOperations: AnyObject, Sendable {
    /// The file system keeps POSIX access control lists itself: inheritance, modes kept in step, and the umask, which counts where no list does.
    var keepsAccessControlLists: Bool { get }
    /// Nobody else changes the files: what the kernel remembers stays true.
    var isSoleUser: Bool { get }
    /// The kernel may remember what it is told now.
    var mayBeRemembered: Bool { get }

    // Names
    /// Nil when there is no such entry: the kernel may remember that.
    func lookup(_ name: [UInt8], in parent: NodeID) throws(Errno) -> Entry?
    func forget(_ node: NodeID, count: UInt64)
    /// Lets go of removed files that the kernel has forgotten, which may take a moment: to be called when nobody waits, and soon.
    func dropForgotten()
    func makeFile(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry
    /// Makes a pipe, socket or device; `.notPermitted` where there are to be none.
    func makeSpecialFile(
        _ name: [UInt8], in parent: NodeID, _ kind: FileKind, mode: UInt32, device: UInt64, _ caller: Caller
    ) throws(Errno) -> Entry
    func makeDirectory(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry
    func makeSymlink(_ name: [UInt8], in parent: NodeID, target: [UInt8], _ caller: Caller) throws(Errno) -> Entry
    func symlinkTarget(of node: NodeID) throws(Errno) -> [UInt8]
    func link(_ node: NodeID, as name: [UInt8], in parent: NodeID) throws(Errno) -> Entry
    func remove(_ name: [UInt8], in parent: NodeID) throws(Errno)
    func removeDirectory(_ name: [UInt8], in parent: NodeID) throws(Errno)
    func rename(
        _ name: [UInt8], in parent: NodeID, to newName: [UInt8], in newParent: NodeID, _ rule: FileDescriptor.RenameRule
    ) throws(Errno)

    // Attributes
    func attributes(of node: NodeID) throws(Errno) -> FileStatus
    func setAttributes(of node: NodeID, _ handle: HandleID?, _ change: AttributeChange) throws(Errno) -> FileStatus
    /// The attributes of a file that has just lost its last name, with these times, where nothing is to be set for them. Nil: ask ``setAttributes(of:_:_:)``.
    func attributesOfRemoved(_ node: NodeID, modified: FileTime, changed: FileTime) -> FileStatus?
    /// When the inode was made; nil where that is not known.
    func birthTime(of node: NodeID) throws(Errno) -> FileTime?
    func filesystemStatus() throws(Errno) -> FilesystemStatus
    func extendedAttribute(_ name: [UInt8], of node: NodeID) throws(Errno) -> [UInt8]
    func setExtendedAttribute(
        _ name: [UInt8], of node: NodeID, _ value: [UInt8], _ rule: FileDescriptor.AttributeRule, _ caller: Caller
    ) throws(Errno)
    func removeExtendedAttribute(_ name: [UInt8], of node: NodeID) throws(Errno)
    func extendedAttributeNames(of node: NodeID) throws(Errno) -> [[UInt8]]

    // Files
    func create(
        _ name: [UInt8], in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID)
    /// A file without a name (O_TMPFILE).
    func createUnnamed(
        in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID)
    func open(_ node: NodeID, _ intent: OpenIntent) throws(Errno) -> HandleID
    /// Reads into the front of `buffer`; fewer than `count` bytes only at the end of the file.
    func read(_ node: NodeID, _ handle: HandleID, at offset: Int64, count: Int, into buffer: PageBuffer) throws(Errno) -> Int
    func write(_ node: NodeID, _ handle: HandleID, _ data: Span<UInt8>, at offset: Int64, _ origin: WriteOrigin) throws(Errno)
    func flush(_ node: NodeID, _ handle: HandleID) throws(Errno)
    func release(_ node: NodeID, _ handle: HandleID)
    /// - Parameter contentOnly: Owner, mode and times need not be durable, as with fdatasync(2); the size is content.
    func synchronize(_ node: NodeID, _ handle: HandleID, contentOnly: Bool) throws(Errno)
    func allocate(_ node: NodeID, _ handle: HandleID, at offset: Int64, count: Int64, _ mode: AllocationMode, _ caller: Caller) throws(Errno)
    func seek(_ node: NodeID, _ handle: HandleID, from offset: Int64, to target: SeekTarget) throws(Errno) -> Int64

    // Directories
    func openDirectory(_ node: NodeID) throws(Errno) -> HandleID
    /// Reports entries from `position` on (0: from the beginning), with attributes and lookups where `withAttributes`.
    func readDirectory(
        _ node: NodeID, _ handle: HandleID, from position: Int, withAttributes: Bool, into reply: any DirectoryReply
    ) throws(Errno)
    func releaseDirectory(_ node: NodeID, _ handle: HandleID)
    func synchronizeDirectory(_ node: NodeID, _ handle: HandleID) throws(Errno)
}

extension FileSystemOperations {
    package var mayBeRemembered: Bool { true }
    package func dropForgotten() {}
    package func birthTime(of node: NodeID) throws(Errno) -> FileTime? { nil }
    package func attributesOfRemoved(_ node: NodeID, modified: FileTime, changed: FileTime) -> FileStatus? { nil }
    package func makeSpecialFile(
        _ name: [UInt8], in parent: NodeID, _ kind: FileKind, mode: UInt32, device: UInt64, _ caller: Caller
    ) throws(Errno) -> Entry { throw .notPermitted }
}
