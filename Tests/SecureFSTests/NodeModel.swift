@testable import SecureFS
@testable import SecureFileCore

/// What a node table should hold, in dictionaries: as it is described, not as it is made.
struct NodeModel {
    struct Name: Equatable {
        var parent: NodeID
        var name: StoredName
    }
    struct Known {
        var inode: UInt64
        var kind: FileKind
        var lookups = 0
        var names: [Name] = []
        var isDeleted = false
        var isInUse = false
    }
    var nodes: [NodeID: Known] = [.root: Known(inode: 1, kind: .directory, lookups: 1)]
    var byInode: [UInt64: NodeID] = [1: .root]

    func children(_ id: NodeID) -> Int { nodes.values.reduce(0) { $0 + $1.names.count { $0.parent == id } } }

    /// The node that is entered, nil for a new one.
    mutating func known(_ inode: UInt64, _ kind: FileKind, isNew: Bool) -> NodeID? {
        guard let id = byInode[inode] else { return nil }
        if !isNew, nodes[id]?.kind == kind { return id }
        byInode[inode] = nil
        return nil
    }

    mutating func add(_ name: Name, to id: NodeID) {
        guard var node = nodes[id], !node.names.contains(name) else { return }
        if node.kind == .directory { node.names = [] }
        node.names.append(name)
        nodes[id] = node
    }

    mutating func remove(_ name: Name, from id: NodeID, isLast: Bool) {
        guard let place = nodes[id]?.names.firstIndex(of: name) else { return }
        let last = nodes[id]?.names.count ?? 0
        // The newest takes the place of the first.
        if place == 0, last > 1 { nodes[id]?.names.swapAt(0, last - 1) }
        nodes[id]?.names.remove(at: place == 0 ? last - 1 : place)
        if isLast {
            nodes[id]?.isDeleted = true
            hide(id)
        }
        drop(name.parent)
        drop(id)
    }

    mutating func hide(_ id: NodeID) { if let inode = nodes[id]?.inode, byInode[inode] == id { byInode[inode] = nil } }

    mutating func reveal(_ id: NodeID) {
        guard let node = nodes[id], node.isDeleted else { return }
        nodes[id]?.isDeleted = false
        if byInode[node.inode] == nil { byInode[node.inode] = id }
    }

    mutating func forget(_ id: NodeID, _ count: Int) {
        guard id != .root, let node = nodes[id] else { return }
        nodes[id]?.lookups = max(0, node.lookups - count)
        drop(id)
    }

    mutating func drop(_ id: NodeID) {
        guard id != .root, let node = nodes[id], node.lookups == 0, !node.isInUse, children(id) == 0 else { return }
        hide(id)
        nodes[id] = nil
        for name in node.names { drop(name.parent) }
    }
}
