import SecureFS
import SecureFileCore
import Synchronization

/// A directory of plain files shown as it is: the session loop measured without the vault, beside libfuse's passthrough_ll.
final class PassthroughFileSystem: FileSystemOperations {
    private final class Node: Sendable {
        let descriptor: FileDescriptor
        let key: Key
        let lookups = Mutex<UInt64>(1)
        init(_ descriptor: FileDescriptor, _ key: Key) {
            self.descriptor = descriptor
            self.key = key
        }
    }
    private struct Key: Hashable { var device, inode: UInt64 }
    private struct Tables: Sendable {
        var nodes: [UInt64: Node] = [:]
        var byKey: [Key: UInt64] = [:]
        var next: UInt64 = 2
        var files: [UInt64: FileDescriptor] = [:]
        var streams: [UInt64: DirectoryStream] = [:]
        var nextHandle: UInt64 = 1
    }
    private let tables = Mutex(Tables())

    init(_ root: RawPath) throws(Errno) {
        let descriptor = try FileDescriptor.open(root, [.pathOnly, .directory])
        let status = try descriptor.status()
        let node = Node(descriptor, Key(device: status.device, inode: status.inode))
        tables.withLock { $0.nodes[1] = node }
    }

    private func node(_ id: NodeID) throws(Errno) -> Node {
        guard let node = tables.withLock({ $0.nodes[id.rawValue] }) else { throw .stale }
        return node
    }

    private func file(_ id: HandleID) throws(Errno) -> FileDescriptor {
        guard let file = tables.withLock({ $0.files[id.rawValue] }) else { throw .badDescriptor }
        return file
    }

    private func register(_ file: FileDescriptor) -> HandleID {
        tables.withLock { tables in
            tables.nextHandle += 1
            tables.files[tables.nextHandle] = file
            return HandleID(rawValue: tables.nextHandle)
        }
    }

    private func entry(_ name: [UInt8], _ parent: Node) throws(Errno) -> Entry {
        let descriptor = try parent.descriptor.open(RawPath(name), [.pathOnly, .noFollow])
        let status = try descriptor.status()
        let key = Key(device: status.device, inode: status.inode)
        let id: UInt64 = tables.withLock { tables in
            if let id = tables.byKey[key], let node = tables.nodes[id] {
                node.lookups.withLock { $0 += 1 }
                return id
            }
            let id = tables.next
            tables.next += 1
            tables.nodes[id] = Node(descriptor, key)
            tables.byKey[key] = id
            return id
        }
        return Entry(node: NodeID(rawValue: id), attributes: status)
    }

    let keepsAccessControlLists = false
    let isSoleUser = true

    func lookup(_ name: [UInt8], in parent: NodeID) throws(Errno) -> Entry? {
        do throws(Errno) {
            return try entry(name, try node(parent))
        } catch {
            if error == .noEntry { return nil }
            throw error
        }
    }

    func forget(_ node: NodeID, count: UInt64) {
        tables.withLock { tables in
            guard let found = tables.nodes[node.rawValue], node != .root else { return }
            let left = found.lookups.withLock { lookups in
                lookups -= min(count, lookups)
                return lookups
            }
            if left == 0 {
                tables.nodes[node.rawValue] = nil
                tables.byKey[found.key] = nil
            }
        }
    }

    func makeFile(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry {
        let directory = try node(parent)
        _ = try directory.descriptor.open(RawPath(name), [.create, .exclusive, .readWrite], permissions: mode)
        return try entry(name, directory)
    }

    func makeDirectory(_ name: [UInt8], in parent: NodeID, mode: UInt32, _ caller: Caller) throws(Errno) -> Entry {
        let directory = try node(parent)
        try directory.descriptor.makeDirectory(RawPath(name), permissions: mode)
        return try entry(name, directory)
    }

    func makeSymlink(_ name: [UInt8], in parent: NodeID, target: [UInt8], _ caller: Caller) throws(Errno) -> Entry {
        let directory = try node(parent)
        try directory.descriptor.makeSymlink(RawPath(name), target: RawPath(target))
        return try entry(name, directory)
    }

    func symlinkTarget(of node: NodeID) throws(Errno) -> [UInt8] { try self.node(node).descriptor.symlinkTarget(RawPath("")) }

    func link(_ node: NodeID, as name: [UInt8], in parent: NodeID) throws(Errno) -> Entry {
        let directory = try self.node(parent)
        try self.node(node).descriptor.link(as: RawPath(name), in: directory.descriptor)
        return try entry(name, directory)
    }

    func remove(_ name: [UInt8], in parent: NodeID) throws(Errno) { try node(parent).descriptor.remove(RawPath(name)) }
    func removeDirectory(_ name: [UInt8], in parent: NodeID) throws(Errno) { try node(parent).descriptor.removeDirectory(RawPath(name)) }

    func rename(
        _ name: [UInt8], in parent: NodeID, to newName: [UInt8], in newParent: NodeID, _ rule: FileDescriptor.RenameRule
    ) throws(Errno) {
        try node(parent).descriptor.rename(RawPath(name), to: try node(newParent).descriptor, RawPath(newName), rule)
    }

    func attributes(of node: NodeID) throws(Errno) -> FileStatus { try self.node(node).descriptor.status() }

    func setAttributes(of node: NodeID, _ handle: HandleID?, _ change: AttributeChange) throws(Errno) -> FileStatus {
        let path = RawPath("/proc/self/fd/\(try self.node(node).descriptor.rawValue)")
        let opened = try FileDescriptor.open(path, [.readOnly, .nonBlocking])
        if let permissions = change.permissions { try opened.setPermissions(permissions) }
        if change.owner != nil || change.group != nil { try opened.setOwner(change.owner, group: change.group) }
        if let size = change.size { try FileDescriptor.open(path, .readWrite).setLength(size) }
        try opened.setTimes(accessed: change.accessed, modified: change.modified)
        return try opened.status()
    }

    func filesystemStatus() throws(Errno) -> FilesystemStatus { try node(.root).descriptor.filesystemStatus() }
    func extendedAttribute(_ name: [UInt8], of node: NodeID) throws(Errno) -> [UInt8] { throw .noData }
    func setExtendedAttribute(
        _ name: [UInt8], of node: NodeID, _ value: [UInt8], _ rule: FileDescriptor.AttributeRule, _ caller: Caller
    ) throws(Errno) { throw .notSupported }
    func removeExtendedAttribute(_ name: [UInt8], of node: NodeID) throws(Errno) { throw .noData }
    func extendedAttributeNames(of node: NodeID) throws(Errno) -> [[UInt8]] { [] }

    func create(
        _ name: [UInt8], in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID) {
        let directory = try node(parent)
        let made = try directory.descriptor.open(RawPath(name), [.create, .readWrite, .noFollow], permissions: mode)
        return (try entry(name, directory), register(made))
    }

    func createUnnamed(
        in parent: NodeID, mode: UInt32, _ intent: OpenIntent, _ caller: Caller
    ) throws(Errno) -> (entry: Entry, handle: HandleID) { throw .notSupported }

    func open(_ node: NodeID, _ intent: OpenIntent) throws(Errno) -> HandleID {
        var mode: FileDescriptor.OpenMode = intent.writes ? .readWrite : .readOnly
        if intent.truncates { mode.insert(.truncate) }
        return register(try self.node(node).descriptor.reopened(mode))
    }

    func read(_ node: NodeID, _ handle: HandleID, at offset: Int64, count: Int, into buffer: PageBuffer) throws(Errno) -> Int {
        try file(handle).read(at: offset, into: buffer, 0..<count)
    }

    func write(_ node: NodeID, _ handle: HandleID, _ data: Span<UInt8>, at offset: Int64, _ origin: WriteOrigin) throws(Errno) {
        let copy = PageBuffer(uninitialized: max(1, data.count))
        copy.copy(data, 0..<data.count, to: 0)
        try file(handle).write(copy, 0..<data.count, at: offset)
    }

    func flush(_ node: NodeID, _ handle: HandleID) throws(Errno) {}
    func release(_ node: NodeID, _ handle: HandleID) { tables.withLock { _ = $0.files.removeValue(forKey: handle.rawValue) } }
    func synchronize(_ node: NodeID, _ handle: HandleID, contentOnly: Bool) throws(Errno) { try file(handle).synchronize() }
    func allocate(_ node: NodeID, _ handle: HandleID, at offset: Int64, count: Int64, _ mode: AllocationMode, _ caller: Caller) throws(Errno) {
        throw .notSupported
    }
    func seek(_ node: NodeID, _ handle: HandleID, from offset: Int64, to target: SeekTarget) throws(Errno) -> Int64 { throw .noSystemCall }

    func openDirectory(_ node: NodeID) throws(Errno) -> HandleID {
        let stream = try DirectoryStream(try self.node(node).descriptor.reopened([.readOnly, .directory]))
        return tables.withLock { tables in
            tables.nextHandle += 1
            tables.streams[tables.nextHandle] = stream
            return HandleID(rawValue: tables.nextHandle)
        }
    }

    func readDirectory(
        _ node: NodeID, _ handle: HandleID, from position: Int, withAttributes: Bool, into reply: any DirectoryReply
    ) throws(Errno) {
        guard let stream = tables.withLock({ $0.streams[handle.rawValue] }) else { throw .badDescriptor }
        stream.seek(to: position)
        while let next = try stream.next() {
            guard withAttributes, next.name != [46], next.name != [46, 46] else {
                if reply.add(next.name, inode: next.inode, kind: next.kind ?? .regular, nextPosition: next.nextPosition) { continue }
                return
            }
            guard let found = try lookup(next.name, in: node) else { continue }
            if !reply.add(next.name, found.attributes, node: found.node, nextPosition: next.nextPosition) {
                forget(found.node, count: 1)
                return
            }
        }
    }

    func releaseDirectory(_ node: NodeID, _ handle: HandleID) { tables.withLock { _ = $0.streams.removeValue(forKey: handle.rawValue) } }
    func synchronizeDirectory(_ node: NodeID, _ handle: HandleID) throws(Errno) {}
}
