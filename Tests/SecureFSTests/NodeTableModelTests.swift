import TestSupport
import Testing

@testable import SecureFS
@testable import SecureFileCore

/// Whatever happens to it, the node table says what the model says. The seed is printed where it does not.
@Suite struct NodeTableModelTests {
    @Test func theTableDoesAsTheModelDoes() throws {
        let fixture = try Fixture()
        let root = try fixture.fileSystem.vault.root.descriptor.status()
        for _ in 0..<5 {
            let seed = UInt64.random(in: .min ... .max)
            var run = Run(seed, root)
            for step in 0..<1000 {
                let action = try run.act()
                do { try run.compare() } catch { throw Finding("seed \(seed), step \(step), \(action): \(error)") }
            }
        }
    }

    private struct Finding: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }

    private struct Run {
        private var generator: SeededGenerator
        private let table: NodeTable
        private let status: FileStatus
        private var model = NodeModel()
        private var gone: [NodeID] = []

        init(_ seed: UInt64, _ root: FileStatus) {
            generator = SeededGenerator(seed: seed)
            var root = root
            root.inode = 1
            status = root
            table = NodeTable(root: root)
        }

        private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
        private mutating func anyNode() -> NodeID { model.nodes.keys.sorted { $0.rawValue < $1.rawValue }[number(model.nodes.count)] }

        /// In a directory right below the root, or in the root.
        private mutating func anyName(for kind: FileKind) -> NodeModel.Name {
            let directories = kind == .directory ? [.root] : model.nodes.filter { $0.value.kind == .directory }.keys.sorted { $0.rawValue < $1.rawValue }
            let name = "name \(number(12))"
            let companion: [UInt8]? = name.utf8.count % 2 == 0 ? Array("long \(name)".utf8) : nil
            return NodeModel.Name(parent: directories[number(directories.count)], name: StoredName(entry: RawPath(name), companion: companion))
        }

        private func alias(_ name: NodeModel.Name) throws -> Alias { Alias(parent: try table.node(name.parent), name: name.name) }

        mutating func act() throws -> String {
            let before = Set(model.nodes.keys)
            defer { gone += before.subtracting(model.nodes.keys).sorted { $0.rawValue < $1.rawValue } }
            let (id, other) = (anyNode(), anyNode())
            // Few, so that what happens to them has to do with each other.
            if model.nodes.count > 25, number(2) == 0 { return try forget(id) }
            switch number(12) {
            case 0...3: return try enter()
            case 4, 5: return try forget(id)
            case 6: return try rename(id)
            case 7: return try exchange(id, other)
            case 8: return try unlink(id)
            case 9: return try hideOrReveal(id)
            case 10: return try use(id)
            default: return try enterUnnamed()
            }
        }

        private mutating func anyStatus() -> FileStatus {
            var status = status
            status.inode = UInt64(2 + number(40))
            // Few change their kind.
            status.mode = (status.inode % 5 == 0) != (number(30) == 0) ? 0o040755 : 0o100644
            return status
        }

        private mutating func enter() throws -> String {
            let (status, isNew) = (anyStatus(), number(5) == 0)
            let name = anyName(for: status.kind)
            let node = table.enter(status, as: try alias(name), isNew: isNew)
            let known = model.known(status.inode, status.kind, isNew: isNew)
            try note(node.id, status, known)
            model.nodes[node.id]?.lookups += 1
            model.add(name, to: node.id)
            return "enter \(status.inode) isNew \(isNew)"
        }

        private mutating func enterUnnamed() throws -> String {
            var status = anyStatus()
            status.mode = 0o100644
            let node = table.enterUnnamed(status)
            try note(node.id, status, model.known(status.inode, .regular, isNew: true))
            model.nodes[node.id]?.lookups = 1
            model.nodes[node.id]?.isDeleted = true
            return "enter \(status.inode) unnamed"
        }

        private mutating func note(_ id: NodeID, _ status: FileStatus, _ known: NodeID?) throws {
            if let known {
                if known != id { throw Finding("found \(id.rawValue), not \(known.rawValue)") }
                return
            }
            if model.nodes[id] != nil || gone.contains(id) { throw Finding("\(id.rawValue) came twice") }
            model.nodes[id] = NodeModel.Known(inode: status.inode, kind: status.kind)
            model.byInode[status.inode] = id
        }

        private mutating func forget(_ id: NodeID) throws -> String {
            let id = number(6) == 0 ? gone.last ?? id : id
            let count = 1 + number(3)
            table.forget(id, count: UInt64(count))
            model.forget(id, count)
            return "forget \(id.rawValue)"
        }

        private mutating func move(_ id: NodeID, from old: NodeModel.Name, to new: NodeModel.Name) throws {
            let node = try table.node(id)
            table.add(try alias(new), to: node)
            model.add(new, to: id)
            table.remove(try alias(old), from: node, anchor: nil, isLast: false)
            model.remove(old, from: id, isLast: false)
        }

        private mutating func rename(_ id: NodeID) throws -> String {
            guard let known = model.nodes[id], let old = known.names.first else { return "nothing" }
            let new = anyName(for: known.kind)
            if new != old { try move(id, from: old, to: new) }
            return "rename \(id.rawValue)"
        }

        private mutating func exchange(_ id: NodeID, _ other: NodeID) throws -> String {
            guard id != other, let old = model.nodes[id]?.names.last, let new = model.nodes[other]?.names.first, old != new else { return "nothing" }
            // Only of one kind: directories stay below the root.
            guard model.nodes[id]?.kind == model.nodes[other]?.kind else { return "nothing" }
            try move(other, from: new, to: old)
            guard model.nodes[id] != nil, model.nodes[new.parent] != nil else { return "exchange, half" }
            try move(id, from: old, to: new)
            return "exchange \(id.rawValue) \(other.rawValue)"
        }

        private mutating func unlink(_ id: NodeID) throws -> String {
            guard let names = model.nodes[id]?.names, !names.isEmpty else { return "nothing" }
            let name = names[number(names.count)]
            table.remove(try alias(name), from: try table.node(id), anchor: nil, isLast: names.count == 1)
            model.remove(name, from: id, isLast: names.count == 1)
            return "unlink \(id.rawValue)"
        }

        private mutating func hideOrReveal(_ id: NodeID) throws -> String {
            if id == .root { return "nothing" }
            let node = try table.node(id)
            if number(2) == 0 {
                table.hide(node)
                model.hide(id)
                return "hide \(id.rawValue)"
            }
            table.reveal(node)
            model.reveal(id)
            return "reveal \(id.rawValue)"
        }

        private mutating func use(_ id: NodeID) throws -> String {
            if id == .root { return "nothing" }
            let node = try table.node(id)
            let isInUse = number(2) == 0
            table.with(node) { $0.isInUse = isInUse }
            model.nodes[id]?.isInUse = isInUse
            table.dropIfUnused(node)
            model.drop(id)
            return "use \(id.rawValue)"
        }

        func compare() throws {
            if table.count != model.nodes.count { throw Finding("\(table.count) nodes, not \(model.nodes.count)") }
            for inode in 1..<UInt64(42) {
                var status = status
                status.inode = inode
                if table.find(InodeKey(status))?.id != model.byInode[inode] { throw Finding("inode \(inode) is found differently") }
            }
            var children: [NodeID: Int] = [:]
            for known in model.nodes.values { for name in known.names { children[name.parent, default: 0] += 1 } }
            for (id, known) in model.nodes { try compare(try table.node(id), known, children[id] ?? 0) }
            for id in gone.suffix(20) where (try? table.node(id)) != nil { throw Finding("\(id.rawValue) is there again") }
        }

        private func compare(_ node: Node, _ known: NodeModel.Known, _ children: Int) throws {
            let (alias, _, isDeleted) = table.whereabouts(of: node)
            let all = table.with(node) { $0.allAliases.map { NodeModel.Name(parent: $0.parent.id, name: $0.name) } }
            guard node.key.inode == known.inode, node.kind == known.kind, Int(node.lookups) == known.lookups, isDeleted == known.isDeleted,
                node.isInUse == known.isInUse, Int(node.children) == children
            else { throw Finding("node \(node.id.rawValue) is different") }
            guard all == known.names, alias?.name == known.names.first?.name else { throw Finding("node \(node.id.rawValue) has other names") }
        }
    }
}
