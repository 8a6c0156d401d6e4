import SecureFileCore

/// The file system of a vault with the hidden store directory in its root: whatever has a volatile number is the stores', all else the vault's.
///
/// `.stores` can be looked up but is not listed, unless the mount shows it: `cp -r`, `find` and `rm -r` pass it by. A file of that name in the vault's
/// root is hidden behind it.
package final class StoreDirectoryFileSystem: FileSystemOperations {
    let vault: VaultFileSystem
    private let stores: StoreDirectory
    private let showsStores: Bool
    /// Where reading the root goes on behind the entry `.stores`, which comes first.
    private static let behindStores = Int.max - 0x5346_5331

    package var keepsAccessControlLists: Bool { vault.keepsAccessControlLists }
    package var isSoleUser: Bool { vault.isSoleUser }

    package init(_ vault: VaultFileSystem, showsStores: Bool) {
        self.vault = vault
        self.showsStores = showsStores
        stores = StoreDirectory(vault.vault, vault.log)
    }

    package func start() throws(Errno) { try vault.start() }

    package func finish() throws(SecureFileError) {
        stores.close()
        try vault.finish()
    }

    /// Before the key goes: changed values are put, and no plaintext is kept here.
    func giveUpPlaintext() {
        stores.giveUpPlaintext()
        vault.streams.forgetNames()
    }

    private func isStores(_ name: [UInt8], in parent: NodeID) -> Bool { parent == .root && name == StoreDirectory.name }

    // MARK: Names

    package func lookup(_ name: [UInt8], in parent: NodeID) throws(Errno) -> Entry? {
        if isStores(name, in: parent) { return try stores.lookupTop() }
        return parent.isVolatile ? try stores.lookup(name, in: parent) : try vault.lookup(name, in: parent)
    }

    package func forget(_ node: NodeID, count: UInt64) {
        if node.isVolatile { stores.forget(node, count: count) } else { vault.forget(node, count: count) }
    }

    package func dropForgotten() { vault.dropForgotten() }

    package func makeFile(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry {
        if isStores(name, in: parent) { throw .exists }
        guard parent.isVolatile else { return try vault.makeFile(name, in: parent, mode: mode, caller) }
        let (entry, handle) = try stores.create(name, in: parent)
        stores.forget(entry.node, count: 1)
        defer { stores.release(handle) }
        try stores.synchronize(handle)
        return try stores.lookup(name, in: parent)
    }

    package func makeSpecialFile(
        _ name: [UInt8], in parent: NodeID, _ kind: FileKind, mode: UInt32, device: UInt64, _ caller: Caller
    ) throws(Errno) -> Entry {
        if isStores(name, in: parent) { throw .exists }
        if parent.isVolatile { throw .notPermitted }
        return try vault.makeSpecialFile(name, in: parent, kind, mode: mode, device: device, caller)
    }

    package func makeDirectory(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry {
        if isStores(name, in: parent) { throw .exists }
        return parent.isVolatile ? try stores.makeStore(name, in: parent) : try vault.makeDirectory(name, in: parent, mode: mode, caller)
    }

    package func makeSymlink(_ name: [UInt8], in parent: NodeID, target: [UInt8], _ caller: Caller) throws(Errno) -> Entry {
        if isStores(name, in: parent) { throw .exists }
        if parent.isVolatile { throw .notPermitted }
        return try vault.makeSymlink(name, in: parent, target: target, caller)
    }

    package func symlinkTarget(of node: NodeID) throws(Errno) -> [UInt8] {
        if node.isVolatile { throw .invalidArgument }
        return try vault.symlinkTarget(of: node)
    }

    package func link(_ node: NodeID, as name: [UInt8], in parent: NodeID) throws(Errno) -> Entry {
        if isStores(name, in: parent) { throw .exists }
        if node.isVolatile != parent.isVolatile { throw .crossDevice }
        if node.isVolatile { throw .notPermitted }
        return try vault.link(node, as: name, in: parent)
    }

    package func remove(_ name: [UInt8], in parent: NodeID) throws(Errno) {
        if isStores(name, in: parent) { throw .isDirectory }
        if parent.isVolatile { try stores.remove(name, in: parent) } else { try vault.remove(name, in: parent) }
    }

    package func removeDirectory(_ name: [UInt8], in parent: NodeID) throws(Errno) {
        if isStores(name, in: parent) { throw .busy }
        if parent.isVolatile { try stores.removeStore(name, in: parent) } else { try vault.removeDirectory(name, in: parent) }
    }

    package func rename(
        _ name: [UInt8], in parent: NodeID, to newName: [UInt8], in newParent: NodeID, _ rule: FileDescriptor.RenameRule
    ) throws(Errno) {
        if isStores(name, in: parent) || isStores(newName, in: newParent) { throw .busy }
        if parent.isVolatile != newParent.isVolatile { throw .crossDevice }
        if parent.isVolatile {
            try stores.rename(name, in: parent, to: newName, in: newParent, rule)
        } else {
            try vault.rename(name, in: parent, to: newName, in: newParent, rule)
        }
    }

    // MARK: Attributes

    package func attributes(of node: NodeID) throws(Errno) -> FileStatus {
        node.isVolatile ? try stores.attributes(of: node) : shown(try vault.attributes(of: node), node)
    }

    /// A directory that is listed in the root counts there.
    private func shown(_ status: FileStatus, _ node: NodeID) -> FileStatus {
        var status = status
        if node == .root, showsStores, status.linkCount >= 2 { status.linkCount += 1 }
        return status
    }

    package func setAttributes(of node: NodeID, _ handle: HandleID?, _ change: AttributeChange) throws(Errno) -> FileStatus {
        node.isVolatile ? try stores.setAttributes(of: node, handle, change) : shown(try vault.setAttributes(of: node, handle, change), node)
    }

    package func attributesOfRemoved(_ node: NodeID, modified: FileTime, changed: FileTime) -> FileStatus? {
        node.isVolatile ? nil : vault.attributesOfRemoved(node, modified: modified, changed: changed)
    }

    package func birthTime(of node: NodeID) throws(Errno) -> FileTime? { node.isVolatile ? nil : try vault.birthTime(of: node) }

    package func filesystemStatus() throws(Errno) -> FilesystemStatus { try vault.filesystemStatus() }

    package func extendedAttribute(_ name: [UInt8], of node: NodeID) throws(Errno) -> [UInt8] {
        if node.isVolatile { throw .noData }
        return try vault.extendedAttribute(name, of: node)
    }

    package func setExtendedAttribute(
        _ name: [UInt8], of node: NodeID, _ value: [UInt8], _ rule: FileDescriptor.AttributeRule, _ caller: Caller
    ) throws(Errno) {
        if node.isVolatile { throw .notSupported }
        try vault.setExtendedAttribute(name, of: node, value, rule, caller)
    }

    package func removeExtendedAttribute(_ name: [UInt8], of node: NodeID) throws(Errno) {
        if node.isVolatile { throw .noData }
        try vault.removeExtendedAttribute(name, of: node)
    }

    package func extendedAttributeNames(of node: NodeID) throws(Errno) -> [[UInt8]] {
        node.isVolatile ? [] : try vault.extendedAttributeNames(of: node)
    }

    // MARK: Files

    package func create(
        _ name: [UInt8], in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID) {
        if isStores(name, in: parent) { throw .exists }
        return parent.isVolatile ? try stores.create(name, in: parent) : try vault.create(name, in: parent, mode: mode, intent, caller)
    }

    package func createUnnamed(
        in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID) {
        if parent.isVolatile { throw .notSupported }
        return try vault.createUnnamed(in: parent, mode: mode, intent, caller)
    }

    package func open(_ node: NodeID, _ intent: OpenIntent) throws(Errno) -> HandleID {
        node.isVolatile ? try stores.open(node, truncating: intent.truncates) : try vault.open(node, intent)
    }

    package func read(_ node: NodeID, _ handle: HandleID, at offset: Int64, count: Int, into buffer: PageBuffer) throws(Errno) -> Int {
        node.isVolatile
            ? try stores.read(handle, at: offset, count: count, into: buffer) : try vault.read(node, handle, at: offset, count: count, into: buffer)
    }

    package func write(_ node: NodeID, _ handle: HandleID, _ data: Span<UInt8>, at offset: Int64, _ origin: WriteOrigin) throws(Errno) {
        if node.isVolatile { return try stores.write(handle, data, at: offset) }
        try vault.write(node, handle, data, at: offset, origin)
    }

    package func flush(_ node: NodeID, _ handle: HandleID) throws(Errno) {
        if node.isVolatile { try stores.synchronize(handle) } else { try vault.flush(node, handle) }
    }

    package func release(_ node: NodeID, _ handle: HandleID) {
        if node.isVolatile { stores.release(handle) } else { vault.release(node, handle) }
    }

    package func synchronize(_ node: NodeID, _ handle: HandleID, contentOnly: Bool) throws(Errno) {
        if node.isVolatile { try stores.synchronize(handle) } else { try vault.synchronize(node, handle, contentOnly: contentOnly) }
    }

    package func allocate(
        _ node: NodeID, _ handle: HandleID, at offset: Int64, count: Int64, _ mode: AllocationMode, _ caller: Caller
    ) throws(Errno) {
        if node.isVolatile { throw .notSupported }
        try vault.allocate(node, handle, at: offset, count: count, mode, caller)
    }

    package func seek(_ node: NodeID, _ handle: HandleID, from offset: Int64, to target: SeekTarget) throws(Errno) -> Int64 {
        guard node.isVolatile else { return try vault.seek(node, handle, from: offset, to: target) }
        let size = try stores.attributes(of: node).size
        guard offset >= 0, offset < size else { throw .noSuchAddress }
        return target == .data ? offset : size
    }

    // MARK: Directories

    package func openDirectory(_ node: NodeID) throws(Errno) -> HandleID {
        node.isVolatile ? try stores.openDirectory(node) : try vault.openDirectory(node)
    }

    package func readDirectory(
        _ node: NodeID, _ handle: HandleID, from position: Int, withAttributes: Bool, into reply: any DirectoryReply
    ) throws(Errno) {
        if node.isVolatile { return try stores.readDirectory(handle, from: position, into: reply) }
        var position = position
        if node == .root, showsStores {
            if position == 0 {
                guard reply.add(StoreDirectory.name, inode: StoreNode.top.inode, kind: .directory, nextPosition: Self.behindStores) else { return }
            }
            if position == Self.behindStores { position = 0 }
        }
        try vault.readDirectory(node, handle, from: position, withAttributes: withAttributes, into: reply)
    }

    package func releaseDirectory(_ node: NodeID, _ handle: HandleID) {
        if node.isVolatile { stores.release(handle) } else { vault.releaseDirectory(node, handle) }
    }

    package func synchronizeDirectory(_ node: NodeID, _ handle: HandleID) throws(Errno) {
        if !node.isVolatile { try vault.synchronizeDirectory(node, handle) }
    }
}
