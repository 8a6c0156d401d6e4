import SecureFileCore
import Synchronization

/// All nodes, by our number and by backing inode.
///
/// One short lock for everything: no call is made to the system under it. Numbers are never used twice. A node stays as long as the kernel
/// knows it, its file is open, or another node is found through it; that way a backing inode has one node at any time.
final class NodeTable: Sendable {
    private struct Tables: Sendable {
        var nodes: NodeSlots
        var index = InodeIndex()
        /// Nodes that went since memory was given back.
        var gone = 0

        init(_ root: Node) {
            nodes = NodeSlots(root: root)
            index.insert(root.key, slot: root.id.slot)
        }
        func find(_ key: InodeKey) -> Node? { index.find(key, in: nodes) }
    }
    private let tables: Mutex<Tables>
    /// The last descriptors of removed inodes the kernel has forgotten: to be closed when nobody waits.
    private let leftovers = Mutex<[FileDescriptor]>([])
    private let hasLeftovers = Atomic<Bool>(false)
    private static let leftoverLimit = 16
    let root: Node
    /// Others change names, and nobody says so: of an inode the name that was found last counts.
    private let hearsOfNothing: Bool

    init(root status: FileStatus, hearsOfNothing: Bool = false) {
        self.hearsOfNothing = hearsOfNothing
        root = Node(.root, InodeKey(status), .directory)
        root.lookups = 1
        tables = Mutex(Tables(root))
    }

    var count: Int { tables.withLock { $0.nodes.count } }

    func node(_ id: NodeID) throws(Errno) -> Node {
        guard let node = tables.withLock({ $0.nodes[id] }) else { throw .stale }
        return node
    }

    func find(_ key: InodeKey) -> Node? { tables.withLock { $0.find(key) } }

    /// The node of an inode that was found as `alias`; made if it is not known. The kernel will be told: its lookup count is raised.
    ///
    /// - Parameter isNew: The inode was made just now: whatever the index says of its number is of an inode that is gone.
    func enter(_ status: FileStatus, as alias: Alias, isNew: Bool = false) -> Node {
        let key = InodeKey(status)
        return tables.withLock { tables in
            var known = tables.find(key)
            // Another kind under the same number is another inode: it was exchanged behind our back.
            if let other = known, isNew || other.kind != status.kind {
                NodeTable.hide(other, &tables)
                known = nil
            }
            let node = known ?? NodeTable.make(key, status.kind, &tables)
            if isNew { node.hasNoAttributes = true }
            node.lookups += 1
            NodeTable.add(alias, to: node, isOnlyName: hearsOfNothing)
            return node
        }
    }

    private static func make(_ key: InodeKey, _ kind: FileKind, _ tables: inout Tables) -> Node {
        let node = tables.nodes.insert { Node($0, key, kind) }
        tables.index.insert(key, slot: node.id.slot)
        return node
    }

    /// A node for an inode that has no name yet (O_TMPFILE).
    func enterUnnamed(_ status: FileStatus) -> Node {
        tables.withLock { tables in
            if let stale = tables.find(InodeKey(status)) { NodeTable.hide(stale, &tables) }
            let node = NodeTable.make(InodeKey(status), status.kind, &tables)
            node.hasNoAttributes = true
            node.isDeleted = true
            node.lookups = 1
            return node
        }
    }

    // MARK: Names

    /// Takes note that `node` is also called `alias`.
    func add(_ alias: Alias, to node: Node) { tables.withLock { _ in NodeTable.add(alias, to: node, isOnlyName: hearsOfNothing) } }

    private static func add(_ alias: Alias, to node: Node, isOnlyName: Bool) {
        if node.isFound(as: alias) || node.rare?.aliases.contains(where: { same($0, alias) }) == true { return }
        guard let first = node.alias else {
            node.alias = alias
            alias.parent.children += 1
            return
        }
        if node.kind == .directory || isOnlyName {
            // There is one name, of a directory always: this one is newer.
            first.parent.children -= 1
            node.alias = alias
        } else {
            node.madeRare().aliases.append(alias)
        }
        alias.parent.children += 1
    }

    private static func same(_ a: Alias, _ b: Alias) -> Bool { a.parent === b.parent && a.name.entry == b.name.entry }

    /// Takes note that `node` is not called `alias` any more. Where it has no other known name, `anchor` keeps its inode reachable.
    func remove(_ alias: Alias, from node: Node, anchor: FileDescriptor?, isLast: Bool) {
        let freed: Anchors = tables.withLock { tables in
            var freed = Anchors()
            if node.isFound(as: alias) {
                node.alias = node.rare?.aliases.popLast()
                alias.parent.children -= 1
            } else if let place = node.rare?.aliases.firstIndex(where: { NodeTable.same($0, alias) }) {
                node.rare?.aliases.remove(at: place)
                alias.parent.children -= 1
            }
            if isLast {
                node.isDeleted = true
                NodeTable.hide(node, &tables)
            }
            if node.alias == nil {
                if let anchor { node.madeRare().anchor = anchor }
            } else {
                freed.keep(node.rare?.anchor)
                node.rare?.anchor = nil
            }
            NodeTable.dropIfUnused(alias.parent, &tables, &freed)
            NodeTable.dropIfUnused(node, &tables, &freed)
            return freed
        }
        _ = freed
    }

    /// The index forgets the node: its inode has gone, or is not what the kernel was told. It can still be reached by its number.
    func hide(_ node: Node) { tables.withLock { NodeTable.hide(node, &$0) } }

    private static func hide(_ node: Node, _ tables: inout Tables) {
        // A node that has gone left its place to others.
        if tables.nodes[node.id] != nil { tables.index.remove(node.key, slot: node.id.slot) }
    }

    /// A node whose inode had no name has one now: the index knows it again, unless another has taken its place.
    func reveal(_ node: Node) {
        tables.withLock { tables in
            guard node.isDeleted, tables.nodes[node.id] != nil else { return }
            node.isDeleted = false
            if tables.find(node.key) == nil { tables.index.insert(node.key, slot: node.id.slot) }
        }
    }

    /// Where the node can be found now: a name, or a descriptor, or neither (the root).
    func whereabouts(of node: Node) -> (alias: Alias?, anchor: FileDescriptor?, isDeleted: Bool) {
        tables.withLock { _ in (node.alias, node.rare?.anchor, node.isDeleted) }
    }

    // MARK: The life of a node

    /// The kernel has forgotten `count` lookups. Says whether so many nodes have gone that their memory is worth giving back.
    @discardableResult func forget(_ id: NodeID, count: UInt64) -> Bool {
        let (freed, isWorthwhile): (Anchors, Bool) = tables.withLock { tables in
            var freed = Anchors()
            guard id != .root, let node = tables.nodes[id] else { return (freed, false) }
            node.lookups -= UInt32(clamping: min(count, UInt64(node.lookups)))
            NodeTable.dropIfUnused(node, &tables, &freed)
            return (freed, tables.gone >= NodeTable.manyNodes)
        }
        if !freed.isEmpty { keep(freed) }
        return isWorthwhile
    }

    private func keep(_ freed: Anchors) {
        let isMany = leftovers.withLock {
            $0 += freed.kept
            return $0.count > NodeTable.leftoverLimit
        }
        hasLeftovers.store(true, ordering: .relaxed)
        if isMany { closeLeftovers() }
    }

    /// Closes what ``forget(_:count:)`` has left: that frees the inodes, with all that is in them.
    func closeLeftovers() {
        guard hasLeftovers.load(ordering: .relaxed) else { return }
        hasLeftovers.store(false, ordering: .relaxed)
        let closing = leftovers.withLock { leftovers in
            defer { leftovers.removeAll(keepingCapacity: true) }
            return leftovers
        }
        _ = closing
    }

    private static let manyNodes = 10_000

    /// The memory of nodes that went is given back to the system now.
    func noteTrim() { tables.withLock { $0.gone = 0 } }

    /// A reason to keep the node may have gone.
    func dropIfUnused(_ node: Node) {
        let freed: Anchors = tables.withLock { tables in
            var freed = Anchors()
            NodeTable.dropIfUnused(node, &tables, &freed)
            return freed
        }
        _ = freed
    }

    /// Descriptors that nobody needs any more, to be closed outside the lock.
    private struct Anchors: Sendable {
        private(set) var kept: [FileDescriptor] = []
        var isEmpty: Bool { kept.isEmpty }
        mutating func keep(_ anchor: FileDescriptor?) { if let anchor { kept.append(anchor) } }
    }

    private static func dropIfUnused(_ start: Node, _ tables: inout Tables, _ freed: inout Anchors) {
        var next: [Node] = [start]
        while let node = next.popLast() {
            guard node.lookups == 0, node.children == 0, node.id != .root, !node.isInUse else { continue }
            guard tables.nodes.remove(node.id) else { continue }
            tables.gone += 1
            tables.index.remove(node.key, slot: node.id.slot)
            freed.keep(node.rare?.anchor)
            for alias in node.allAliases {
                alias.parent.children -= 1
                next.append(alias.parent)
            }
            node.alias = nil
            node.rare = nil
        }
    }

    /// What the kernel may hold of the vault: nodes whose attributes it relies on when it writes, nodes of whose content it may have some, and
    /// the entries of the root.
    func knownToKernel() -> (inUse: [NodeID], withContent: [NodeID], ofRoot: [StoredName]) {
        tables.withLock { tables in
            var known: (inUse: [NodeID], withContent: [NodeID], ofRoot: [StoredName]) = ([], [], [])
            tables.nodes.forEach { node in
                if node.isInUse { known.inUse.append(node.id) }
                if node.wasInUse || node.kind == .symlink { known.withContent.append(node.id) }
                for alias in node.allAliases where alias.parent === root { known.ofRoot.append(alias.name) }
            }
            return known
        }
    }

    // MARK: Marks

    /// Reads or changes what the table's lock protects of a node.
    func with<R: Sendable>(_ node: Node, _ body: (Node) -> R) -> R { tables.withLock { _ in body(node) } }
}
