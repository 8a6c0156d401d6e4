/// Which backing inode a file is.
struct BackingKey: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64

    init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
    }
}

extension FileStatus {
    /// Whether nobody has changed the content between this status and `other`, as far as times and length tell.
    func hasSameContent(as other: FileStatus) -> Bool { size == other.size && modified == other.modified && changed == other.changed }
}
