import Glibc

extension FileStatus {
    /// The status of an object that has no inode of its own: a directory or a regular file.
    package init(synthetic inode: UInt64, isDirectory: Bool, permissions: UInt32, size: Int64, modified: FileTime, like other: FileStatus) {
        self = other
        self.inode = inode
        mode = (isDirectory ? S_IFDIR : S_IFREG) | permissions
        deviceNumber = 0
        linkCount = isDirectory ? 2 : 1
        self.size = size
        blocks = (size + 511) / 512
        (accessed, self.modified, changed) = (modified, modified, modified)
    }
}
