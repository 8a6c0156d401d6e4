import SecureFileCore

/// A file system whose key can go: all of it passes through a ``LockGate``.
///
/// Locked, a program still sees the attributes of directories, closes what it has open, and unmounts. All else fails with ENOKEY.
final class GatedFileSystem: FileSystemOperations {
    private let inner: any FileSystemOperations
    let gate = LockGate()

    init(_ inner: any FileSystemOperations) { self.inner = inner }

    var keepsAccessControlLists: Bool { inner.keepsAccessControlLists }
    var isSoleUser: Bool { inner.isSoleUser }
    var mayBeRemembered: Bool { gate.state == .open }

    // MARK: Names

    func lookup(_ name: [UInt8], in parent: NodeID) throws(Errno) -> Entry? {
        try gate.enter()
        return try inner.lookup(name, in: parent)
    }

    func forget(_ node: NodeID, count: UInt64) { inner.forget(node, count: count) }
    func dropForgotten() { inner.dropForgotten() }

    func makeFile(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry {
        try gate.enter()
        return try inner.makeFile(name, in: parent, mode: mode, caller)
    }

    func makeSpecialFile(
        _ name: [UInt8], in parent: NodeID, _ kind: FileKind, mode: UInt32, device: UInt64, _ caller: Caller
    ) throws(Errno) -> Entry {
        try gate.enter()
        return try inner.makeSpecialFile(name, in: parent, kind, mode: mode, device: device, caller)
    }

    func makeDirectory(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry {
        try gate.enter()
        return try inner.makeDirectory(name, in: parent, mode: mode, caller)
    }

    func makeSymlink(_ name: [UInt8], in parent: NodeID, target: [UInt8], _ caller: Caller) throws(Errno) -> Entry {
        try gate.enter()
        return try inner.makeSymlink(name, in: parent, target: target, caller)
    }

    func symlinkTarget(of node: NodeID) throws(Errno) -> [UInt8] {
        try gate.enter()
        return try inner.symlinkTarget(of: node)
    }

    func link(_ node: NodeID, as name: [UInt8], in parent: NodeID) throws(Errno) -> Entry {
        try gate.enter()
        return try inner.link(node, as: name, in: parent)
    }

    func remove(_ name: [UInt8], in parent: NodeID) throws(Errno) {
        try gate.enter()
        try inner.remove(name, in: parent)
    }

    func removeDirectory(_ name: [UInt8], in parent: NodeID) throws(Errno) {
        try gate.enter()
        try inner.removeDirectory(name, in: parent)
    }

    func rename(
        _ name: [UInt8], in parent: NodeID, to newName: [UInt8], in newParent: NodeID, _ rule: FileDescriptor.RenameRule
    ) throws(Errno) {
        try gate.enter()
        try inner.rename(name, in: parent, to: newName, in: newParent, rule)
    }

    // MARK: Attributes

    /// A write(2) asks for them first, once the kernel may not remember them: refusing keeps new data out of its cache.
    func attributes(of node: NodeID) throws(Errno) -> FileStatus {
        let status = try inner.attributes(of: node)
        if status.kind != .directory, gate.state != .open { throw .noKey }
        return status
    }

    func setAttributes(of node: NodeID, _ handle: HandleID?, _ change: AttributeChange) throws(Errno) -> FileStatus {
        // Without a size it may be the kernel's own, of the times of what it has written. Those need no key.
        if change.size != nil { try gate.enter() }
        return try inner.setAttributes(of: node, handle, change)
    }

    func attributesOfRemoved(_ node: NodeID, modified: FileTime, changed: FileTime) -> FileStatus? {
        inner.attributesOfRemoved(node, modified: modified, changed: changed)
    }

    func birthTime(of node: NodeID) throws(Errno) -> FileTime? { gate.state == .open ? try inner.birthTime(of: node) : nil }

    func filesystemStatus() throws(Errno) -> FilesystemStatus { try inner.filesystemStatus() }

    func extendedAttribute(_ name: [UInt8], of node: NodeID) throws(Errno) -> [UInt8] {
        // The kernel asks for security.capability before it writes.
        try gate.finish()
        return try inner.extendedAttribute(name, of: node)
    }

    func setExtendedAttribute(
        _ name: [UInt8], of node: NodeID, _ value: [UInt8], _ rule: FileDescriptor.AttributeRule, _ caller: Caller
    ) throws(Errno) {
        try gate.enter()
        try inner.setExtendedAttribute(name, of: node, value, rule, caller)
    }

    func removeExtendedAttribute(_ name: [UInt8], of node: NodeID) throws(Errno) {
        try gate.enter()
        try inner.removeExtendedAttribute(name, of: node)
    }

    func extendedAttributeNames(of node: NodeID) throws(Errno) -> [[UInt8]] {
        try gate.enter()
        return try inner.extendedAttributeNames(of: node)
    }

    // MARK: Files

    func create(
        _ name: [UInt8], in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID) {
        try gate.enter()
        return try inner.create(name, in: parent, mode: mode, intent, caller)
    }

    func createUnnamed(in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller) throws(Errno) -> (entry: Entry, handle: HandleID) {
        try gate.enter()
        return try inner.createUnnamed(in: parent, mode: mode, intent, caller)
    }

    func open(_ node: NodeID, _ intent: OpenIntent) throws(Errno) -> HandleID {
        try gate.enter()
        return try inner.open(node, intent)
    }

    func read(_ node: NodeID, _ handle: HandleID, at offset: Int64, count: Int, into buffer: PageBuffer) throws(Errno) -> Int {
        // The kernel reads for itself too, to complete a page it has data for.
        gate.uses.add(1, ordering: .relaxed)
        try gate.finish()
        return try inner.read(node, handle, at: offset, count: count, into: buffer)
    }

    func write(_ node: NodeID, _ handle: HandleID, _ data: Span<UInt8>, at offset: Int64, _ origin: WriteOrigin) throws(Errno) {
        gate.uses.add(1, ordering: .relaxed)
        gate.writes.add(1, ordering: .relaxed)
        try gate.finish()
        do throws(Errno) { try inner.write(node, handle, data, at: offset, origin) } catch {
            gate.noteRefusal(error)
            throw error
        }
    }

    /// Closing is no failure: nothing is held back while the key is away.
    func flush(_ node: NodeID, _ handle: HandleID) throws(Errno) {
        if gate.state == .locked { return }
        do throws(Errno) { try inner.flush(node, handle) } catch {
            if error != .noKey { throw error }
        }
    }

    func release(_ node: NodeID, _ handle: HandleID) { inner.release(node, handle) }

    func synchronize(_ node: NodeID, _ handle: HandleID, contentOnly: Bool) throws(Errno) {
        try gate.finish()
        try inner.synchronize(node, handle, contentOnly: contentOnly)
    }

    func allocate(_ node: NodeID, _ handle: HandleID, at offset: Int64, count: Int64, _ mode: AllocationMode, _ caller: Caller) throws(Errno) {
        try gate.enter()
        try inner.allocate(node, handle, at: offset, count: count, mode, caller)
    }

    func seek(_ node: NodeID, _ handle: HandleID, from offset: Int64, to target: SeekTarget) throws(Errno) -> Int64 {
        try gate.enter()
        return try inner.seek(node, handle, from: offset, to: target)
    }

    // MARK: Directories

    func openDirectory(_ node: NodeID) throws(Errno) -> HandleID {
        // Whoever locks opens the root itself, to have the kernel write what it holds.
        try gate.finish()
        return try inner.openDirectory(node)
    }

    func readDirectory(
        _ node: NodeID, _ handle: HandleID, from position: Int, withAttributes: Bool, into reply: any DirectoryReply
    ) throws(Errno) {
        try gate.enter()
        try inner.readDirectory(node, handle, from: position, withAttributes: withAttributes, into: reply)
    }

    func releaseDirectory(_ node: NodeID, _ handle: HandleID) { inner.releaseDirectory(node, handle) }

    func synchronizeDirectory(_ node: NodeID, _ handle: HandleID) throws(Errno) {
        try gate.finish()
        try inner.synchronizeDirectory(node, handle)
    }
}
