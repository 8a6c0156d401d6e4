import SecureFileCore
import SecureStoreCore
import Synchronization

/// The stores of a vault as a directory: one directory a store or cache, one file a value. Safe to use from several threads.
///
/// A value is read whole when it is opened, and put whole when a changed one is closed or synced: others see the old one or the new one. Values of
/// more than 64 MiB are refused here (EFBIG), so that none fills the process's memory; the API has no such limit.
final class StoreDirectory: Sendable {
    static let name = Array(".stores".utf8)
    static let valueMaximum = 64 << 20

    private let vault: Vault
    private let log: MountLog
    private let nodes = StoreNodeTable()
    private let handles = Mutex<(open: [HandleID: StoreHandle], next: UInt64)>(([:], NodeID.firstVolatile))
    private let opened = Mutex<VaultStores?>(nil)

    init(_ vault: Vault, _ log: MountLog) {
        self.vault = vault
        self.log = log
    }

    func close() { opened.withLock { $0.take() }?.close() }

    /// Before the key goes: changed values are put, the databases closed, and what open files hold is wiped. They read it anew when they are used
    /// again. A value that cannot be put is lost, and that is logged.
    func giveUpPlaintext() {
        for handle in handles.withLock({ Array($0.open.values) }) {
            do throws(Errno) { try put(handle) } catch { log.write("stores: a changed value could not be put: \(error)") }
            handle.state.withLock { state in
                state.content.wipe()
                state.entries.removeAll()
                (state.isDirty, state.isGone) = (false, true)
            }
        }
        close()
    }

    /// A handle whose content went with the key has it again.
    private func whole(_ handle: StoreHandle) throws(Errno) -> StoreHandle {
        guard handle.state.withLock({ $0.isGone }) else { return handle }
        let state = if case .value(let store, let key, _) = handle.node { try read(store, key) } else { try listing(handle.node) }
        handle.state.withLock { if $0.isGone { $0 = state } }
        return handle
    }

    // MARK: Stores

    /// - Throws: `.noKey` while the vault's key is locked away: then the stores give up theirs.
    private func stores(creating: Bool = false) throws(Errno) -> VaultStores? {
        if vault.isLocked {
            close()
            throw .noKey
        }
        let vault = vault
        return try asErrno { () throws(SecureFileError) in
            try opened.withLock { (opened) throws(SecureFileError) in
                if opened == nil { opened = creating ? try VaultStores(of: vault) : try VaultStores(existingOf: vault) }
                return opened
            }
        }
    }

    private func asked<R>(_ body: () throws(SecureStorageError) -> R) throws(Errno) -> R {
        do throws(SecureStorageError) { return try body() } catch {
            let errno = Errno(error)
            if errno == .inputOutput { log.write("stores: \(error.message)") }
            throw errno
        }
    }

    private func table(_ store: String) throws(Errno) -> ValueTable {
        let found = try stores()
        guard let directory = try asked({ () throws(SecureStorageError) in try found?.directory(store) }) else { throw .noEntry }
        return directory.table
    }

    // MARK: Names

    private func text(_ name: [UInt8]) throws(Errno) -> String {
        guard let text = String(validating: name, as: UTF8.self) else { throw .invalidArgument }
        return text
    }

    /// The key a file name stands for: each key has one.
    private func key(_ name: [UInt8]) throws(Errno) -> String {
        guard let bytes = EscapedName.decode(try text(name)), EscapedName.encode(bytes, keepsColons: true).utf8.elementsEqual(name) else {
            throw .invalidArgument
        }
        return try text(bytes)
    }

    private func store(_ id: NodeID) throws(Errno) -> String {
        guard case .store(let store) = try nodes.find(id) else { throw .notPermitted }
        return store
    }

    func lookupTop() throws(Errno) -> Entry { try entry(.top) }

    /// - Throws: `.noEntry`: the kernel remembers an error no more than anything else here.
    func lookup(_ name: [UInt8], in parent: NodeID) throws(Errno) -> Entry {
        switch try nodes.find(parent) {
        case .top:
            let store = try text(name)
            _ = try table(store)
            return try entry(.store(store))
        case .store(let store): return try entry(try value(store, key(name)))
        case .value: throw .notDirectory
        }
    }

    private func value(_ store: String, _ key: String) throws(Errno) -> StoreNode {
        let table = try table(store)
        guard let status = try asked({ () throws(SecureStorageError) in try table.status(key) }) else { throw .noEntry }
        return .value(store: store, key: key, version: status.modified &* 31 &+ status.size)
    }

    private func entry(_ node: StoreNode) throws(Errno) -> Entry {
        let id = nodes.enter(node)
        do throws(Errno) { return Entry(node: id, attributes: try attributes(of: node)) } catch {
            nodes.forget(id, 1)
            throw error
        }
    }

    func forget(_ id: NodeID, count: UInt64) { nodes.forget(id, count) }

    func makeStore(_ name: [UInt8], in parent: NodeID) throws(Errno) -> Entry {
        guard case .top = try nodes.find(parent) else { throw .notPermitted }
        let store = try text(name)
        do throws(Errno) {
            _ = try table(store)
            throw .exists
        } catch { if error != .noEntry { throw error } }
        let all = try stores(creating: true)
        _ = try asked { () throws(SecureStorageError) in try all?.make(store) }
        return try entry(.store(store))
    }

    func removeStore(_ name: [UInt8], in parent: NodeID) throws(Errno) {
        guard case .top = try nodes.find(parent) else { throw .notDirectory }
        let store = try text(name)
        let all = try stores()
        guard let directory = try asked({ () throws(SecureStorageError) in try all?.directory(store) }) else { throw .noEntry }
        guard try asked({ () throws(SecureStorageError) in try directory.table.keys() }).isEmpty else { throw .notEmpty }
        try asked { () throws(SecureStorageError) in try all?.remove(directory) }
    }

    func remove(_ name: [UInt8], in parent: NodeID) throws(Errno) {
        if case .top = try nodes.find(parent) { throw .isDirectory }
        let (table, key) = (try table(store(parent)), try key(name))
        guard try asked({ () throws(SecureStorageError) in try table.remove(key) }) else { throw .noEntry }
    }

    func rename(_ name: [UInt8], in parent: NodeID, to newName: [UInt8], in newParent: NodeID, _ rule: FileDescriptor.RenameRule) throws(Errno) {
        // Programs copy and remove then.
        guard parent == newParent else { throw .crossDevice }
        let table = try table(store(parent))
        let (old, new) = (try key(name), try key(newName))
        switch rule {
        case .replace: break
        case .noReplace: if try asked({ () throws(SecureStorageError) in try table.get(new) }) != nil { throw .exists }
        case .exchange: throw .invalidArgument
        }
        guard try asked({ () throws(SecureStorageError) in try table.rename(old, to: new) }) else { throw .noEntry }
    }

    // MARK: Attributes

    func attributes(of id: NodeID) throws(Errno) -> FileStatus { try attributes(of: try nodes.find(id)) }

    private func attributes(of node: StoreNode) throws(Errno) -> FileStatus {
        let root = try vault.root.descriptor.status()
        guard case .value(let store, let key, _) = node else {
            return FileStatus(synthetic: node.inode, isDirectory: true, permissions: 0o700, size: 0, modified: root.modified, like: root)
        }
        var (size, modified) = (Int64(0), root.modified)
        let open = handles.withLock { handles in handles.open.values.filter { $0.node == node } }
        if let changed = open.first(where: { $0.state.withLock { $0.isDirty } }) {
            size = Int64(changed.state.withLock { $0.content.count })
        } else {
            let table = try table(store)
            guard let status = try asked({ () throws(SecureStorageError) in try table.status(key) }) else {
                guard let any = open.first else { throw .noEntry }
                size = Int64(any.state.withLock { $0.content.count })
                return FileStatus(synthetic: node.inode, isDirectory: false, permissions: 0o600, size: size, modified: modified, like: root)
            }
            size = status.size
            modified = FileTime(seconds: status.modified / 1000, nanoseconds: status.modified % 1000 * 1_000_000)
        }
        return FileStatus(synthetic: node.inode, isDirectory: false, permissions: 0o600, size: size, modified: modified, like: root)
    }

    /// Owner, mode and times of a value are not kept: setting them does nothing.
    func setAttributes(of id: NodeID, _ handle: HandleID?, _ change: AttributeChange) throws(Errno) -> FileStatus {
        let node = try nodes.find(id)
        if let size = change.size {
            guard case .value(let store, let key, _) = node else { throw .isDirectory }
            guard size <= Int64(Self.valueMaximum) else { throw .fileTooLarge }
            // O_TRUNC comes without its handle, right after the open: the newest handle is meant, whose value is put when it is closed.
            let known = handles.withLock { handles in
                if let handle { return handles.open[handle] }
                return handles.open.filter { $0.value.node == node }.max { $0.key.rawValue < $1.key.rawValue }?.value
            }
            let open = if let known { try whole(known) } else { StoreHandle(node, try read(store, key)) }
            open.state.withLock { state in
                Self.resize(&state, Int(size))
                state.isDirty = true
            }
            if known == nil { try put(open) }
        }
        return try attributes(of: node)
    }

    private static func resize(_ state: inout StoreHandle.State, _ size: Int) {
        if size <= state.content.count {
            state.content.removeLast(state.content.count - size)
        } else {
            state.content += [UInt8](repeating: 0, count: size - state.content.count)
        }
    }

    // MARK: Values

    func create(_ name: [UInt8], in parent: NodeID) throws(Errno) -> (entry: Entry, handle: HandleID) {
        let (store, key) = (try store(parent), try key(name))
        _ = try table(store)
        // A node of its own until it is put.
        let node = StoreNode.value(store: store, key: key, version: Int64.random(in: .min..<0))
        let handle = add(StoreHandle(node, StoreHandle.State(isDirty: true)))
        do throws(Errno) { return (try entry(node), handle) } catch {
            release(handle)
            throw error
        }
    }

    func open(_ id: NodeID, truncating: Bool) throws(Errno) -> HandleID {
        let node = try nodes.find(id)
        guard case .value(let store, let key, _) = node else { throw .isDirectory }
        return add(StoreHandle(node, truncating ? StoreHandle.State(isDirty: true) : try read(store, key)))
    }

    private func read(_ store: String, _ key: String) throws(Errno) -> StoreHandle.State {
        let table = try table(store)
        guard let status = try asked({ () throws(SecureStorageError) in try table.status(key) }) else { throw .noEntry }
        guard status.size <= Int64(Self.valueMaximum) else { throw .fileTooLarge }
        guard let row = try asked({ () throws(SecureStorageError) in try table.get(key) }) else { throw .noEntry }
        return StoreHandle.State(content: row.content)
    }

    private func add(_ handle: StoreHandle) -> HandleID {
        handles.withLock { handles in
            let id = HandleID(rawValue: handles.next)
            handles.next += 1
            handles.open[id] = handle
            return id
        }
    }

    private func handle(_ id: HandleID) throws(Errno) -> StoreHandle {
        guard let handle = handles.withLock({ $0.open[id] }) else { throw .badDescriptor }
        return try whole(handle)
    }

    func read(_ id: HandleID, at offset: Int64, count: Int, into buffer: PageBuffer) throws(Errno) -> Int {
        try handle(id).state.withLock { state in
            guard offset >= 0, offset < Int64(state.content.count) else { return 0 }
            let range = Int(offset)..<min(state.content.count, Int(offset) + count)
            buffer.copy(state.content.span, range, to: 0)
            return range.count
        }
    }

    func write(_ id: HandleID, _ data: Span<UInt8>, at offset: Int64) throws(Errno) {
        guard offset >= 0, offset <= Int64(Self.valueMaximum - data.count) else { throw .fileTooLarge }
        try handle(id).state.withLock { state in
            let start = Int(offset)
            if state.content.count < start + data.count { Self.resize(&state, start + data.count) }
            for place in 0..<data.count { state.content[start + place] = data[place] }
            state.isDirty = true
        }
    }

    /// Puts a changed value. Text stays text, and data data, where the new bytes allow it.
    func synchronize(_ id: HandleID) throws(Errno) { try put(try handle(id)) }

    private func put(_ handle: StoreHandle) throws(Errno) {
        guard case .value(let store, let key, _) = handle.node else { return }
        guard let content = handle.state.withLock({ $0.isDirty ? $0.content : nil }) else { return }
        let table = try table(store)
        try asked { () throws(SecureStorageError) in
            var row = ValueTable.Row(content: content)
            if try table.get(key)?.type == .data { row = ValueTable.Row(.data, .blob(content)) }
            try table.put(key, row)
        }
        handle.state.withLock { if $0.content.count == content.count { $0.isDirty = false } }
    }

    func release(_ id: HandleID) {
        let handle = handles.withLock { $0.open.removeValue(forKey: id) }
        _ = handle
    }

    // MARK: Directories

    func openDirectory(_ id: NodeID) throws(Errno) -> HandleID {
        let node = try nodes.find(id)
        return add(StoreHandle(node, try listing(node)))
    }

    private func listing(_ node: StoreNode) throws(Errno) -> StoreHandle.State {
        var entries: [(name: [UInt8], inode: UInt64, kind: FileKind)] = [([46], node.inode, .directory), ([46, 46], node.inode, .directory)]
        switch node {
        case .top:
            guard let all = try stores() else { break }
            let log = log
            let found = try asErrno { () throws(SecureFileError) in try all.directories { log.write("stores: \($0.message)") } }
            entries += found.map { (Array($0.name.utf8), StoreNode.store($0.name).inode, .directory) }
        case .store(let store):
            let table = try table(store)
            for key in try asked({ () throws(SecureStorageError) in try table.keys() }) {
                let name = Array(EscapedName.encode(Array(key.utf8), keepsColons: true).utf8)
                // No file can have such a name: the API and the command line reach the value.
                if name.isEmpty || name.count > 255 { continue }
                entries.append((name, StoreNode.value(store: store, key: key, version: 0).inode, .regular))
            }
        case .value: throw .notDirectory
        }
        return StoreHandle.State(entries: entries)
    }

    func readDirectory(_ id: HandleID, from position: Int, into reply: any DirectoryReply) throws(Errno) {
        let entries = try handle(id).state.withLock { $0.entries }
        guard position >= 0 else { throw .invalidArgument }
        for (place, entry) in entries.enumerated().dropFirst(position) {
            if !reply.add(entry.name, inode: entry.inode, kind: entry.kind, nextPosition: place + 1) { return }
        }
    }
}

extension Errno {
    /// What a failing store is to a program.
    init(_ error: SecureStorageError) {
        switch error {
        case .closed: self = .noKey
        case .authenticationFailed: self = .accessDenied
        case .typeConversionFailed: self = .invalidArgument
        case .openFailed(let code, _), .backingStoreError(let code, _), .encryptionKeyChangeFailed(let code, _):
            switch code & 0xFF {
            case 5, 6: self = .busy
            case 8: self = .readOnly
            case 3: self = .accessDenied
            case 13: self = .noSpace
            case 14: self = .invalidArgument
            case 18: self = .fileTooLarge
            default: self = .inputOutput
            }
        }
    }
}
