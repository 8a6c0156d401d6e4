import SecureFileCore
import SecureStoreCore
import Synchronization

/// An object of the hidden store directory.
enum StoreNode: Hashable, Sendable {
    /// `.stores` itself.
    case top
    case store(String)
    /// A value; changed, it is another node: what the kernel knows of the old one's size does not stick to the new one.
    case value(store: String, key: String, version: Int64)

    var isDirectory: Bool { if case .value = self { false } else { true } }

    /// A number that stays the same while the object changes.
    var inode: UInt64 {
        let name: String
        switch self {
        case .top: name = ""
        case .store(let store): name = store
        case .value(let store, let key, _): name = store + "\0" + key
        }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash >> 2 | NodeID.firstVolatile
    }
}

/// The nodes of the store directory that the kernel knows.
final class StoreNodeTable: Sendable {
    private struct State: Sendable {
        var nodes: [NodeID: (node: StoreNode, lookups: UInt64)] = [:]
        var numbers: [StoreNode: NodeID] = [:]
        var next = NodeID.firstVolatile
    }
    private let state = Mutex(State())

    /// The number of a node, its lookup count raised by one.
    func enter(_ node: StoreNode) -> NodeID {
        state.withLock { state in
            if let known = state.numbers[node] {
                state.nodes[known]?.lookups += 1
                return known
            }
            let id = NodeID(rawValue: state.next)
            state.next += 1
            state.nodes[id] = (node, 1)
            state.numbers[node] = id
            return id
        }
    }

    func find(_ id: NodeID) throws(Errno) -> StoreNode {
        guard let node = state.withLock({ $0.nodes[id]?.node }) else { throw .stale }
        return node
    }

    func forget(_ id: NodeID, _ count: UInt64) {
        state.withLock { state in
            guard let known = state.nodes[id] else { return }
            if known.lookups > count {
                state.nodes[id]?.lookups -= count
            } else {
                state.nodes[id] = nil
                state.numbers[known.node] = nil
            }
        }
    }
}

/// An open value, or a directory being read.
final class StoreHandle: Sendable {
    struct State: Sendable {
        /// The whole value; what is written changes it here first.
        var content: [UInt8] = []
        var isDirty = false
        /// The content went with the key.
        var isGone = false
        /// Of a directory, as it was when it was opened.
        var entries: [(name: [UInt8], inode: UInt64, kind: FileKind)] = []
    }
    let node: StoreNode
    let state: Mutex<State>

    init(_ node: StoreNode, _ state: State) {
        self.node = node
        self.state = Mutex(state)
    }
}
