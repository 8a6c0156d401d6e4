import SecureFileCore
import SecureStoreCore

enum Store: Command {
    static let name = "store"
    static let operands = ["ACTION", "VAULT", "[STORE]", "[KEY]"]
    static let options: [Option] = Option.ofKeys + [.json]
    static let summary = "List, read and change the key-value stores of a vault."
    static let details = """
        sfs store ls VAULT               list the stores
        sfs store ls VAULT STORE         list the keys of a store
        sfs store get VAULT STORE KEY    print a value
        sfs store put VAULT STORE KEY    store what comes from standard input, up to its end; a missing store is made
        sfs store rm VAULT STORE [KEY]   remove a value, or a store with all its values
        sfs store export VAULT STORE FILE   copy the database the store is in to a new plaintext SQLite database

        A store in a database of the same name is called by that name, another one DATABASE:STORE, a cache DATABASE::CACHE. Text is
        printed as UTF-8, data as it is, an archived object as its property list. It may be done while the vault is mounted, and while
        programs use the stores. With --json, ls prints one object a line.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let action = String(decoding: arguments.operands[0].bytes, as: UTF8.self)
        let rest = Array(arguments.operands.dropFirst())
        let wanted: ClosedRange<Int>
        switch action {
        case "ls": wanted = 1...2
        case "get", "put", "export": wanted = 3...3
        case "rm": wanted = 2...3
        default: throw .usage("unknown action \(Escaped(arguments.operands[0].bytes))")
        }
        guard wanted.contains(rest.count) else { throw .usage("\(action) takes other operands") }
        var shifted = arguments
        shifted.operands = rest
        let work = try StoreWork(shifted)
        defer { work.stores.close() }
        switch action {
        case "ls": try work.list()
        case "get": try work.get()
        case "put": try work.put()
        case "rm": try work.remove()
        default: try work.export()
        }
        return work.code
    }
}

/// One action on the stores of a vault.
private final class StoreWork {
    let stores: VaultStores
    private(set) var code = ExitCode.success
    private let arguments: Arguments
    private let output = Output()
    private let vault: RawPath

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        vault = arguments.operands[0]
        let reader = try VaultReader(arguments)
        stores = try explaining(.vault, arguments.operands[0]) { () throws(SecureFileError) in try VaultStores(of: reader.vault) }
    }

    private var storeName: RawPath { arguments.operands[1] }
    private func text(_ path: RawPath) -> String { String(decoding: path.bytes, as: UTF8.self) }

    private func explain<R>(_ path: RawPath, _ body: () throws(SecureStorageError) -> R) throws(Failure) -> R {
        do throws(SecureStorageError) { return try body() } catch { throw Failure(ExitCode(error), error.message, path: path) }
    }

    private func directory() throws(Failure) -> VaultStores.Directory {
        guard let found = try explain(storeName, { () throws(SecureStorageError) in try stores.directory(text(storeName)) }) else {
            throw Failure(.notFound, "no such store", path: storeName)
        }
        return found
    }

    // MARK: Actions

    func list() throws(Failure) {
        if arguments.operands.count > 1 { return try listKeys() }
        let found = try explaining(.vault, vault) { () throws(SecureFileError) in
            try stores.directories { error in
                Console.complain("store", vault, error.message)
                code = ExitCode(error)
            }
        }
        for directory in found {
            let kind = directory.table.kind == .cache ? "cache" : "key-value"
            if arguments.has(.json) {
                try output.line(JSON.object([("store", .string(directory.name)), ("kind", .string(kind))]).encoded)
            } else {
                try output.name(Array(directory.name.utf8))
                try output.line()
            }
        }
        try output.flush()
    }

    private func listKeys() throws(Failure) {
        let table = try directory().table
        for key in try explain(storeName, { () throws(SecureStorageError) in try table.keys() }) {
            if arguments.has(.json) {
                let status = try explain(storeName) { () throws(SecureStorageError) in try table.status(key) }
                try output.line(
                    JSON.object([("key", .string(key)), ("size", .number(status?.size)), ("modified", .number(status.map { $0.modified / 1000 }))]).encoded)
            } else {
                try output.name(Array(key.utf8))
                try output.line()
            }
        }
        try output.flush()
    }

    func get() throws(Failure) {
        let table = try directory().table
        let key = arguments.operands[2]
        guard let row = try explain(key, { () throws(SecureStorageError) in try table.get(text(key)) }) else {
            throw Failure(.notFound, "no such key", path: key)
        }
        try output.write(row.content)
        try output.flush()
    }

    func put() throws(Failure) {
        let key = arguments.operands[2]
        let content: [UInt8]
        do throws(Errno) { content = try Console.descriptor(0).readStream(limit: 1 << 29) } catch {
            throw Failure(error, "standard input cannot be read", about: .entry, path: key)
        }
        try explain(key) { () throws(SecureStorageError) in
            let found = try stores.directory(text(storeName))
            let table = if let found { found.table } else { try stores.make(text(storeName)).table }
            try table.put(text(key), ValueTable.Row(content: content))
        }
    }

    func remove() throws(Failure) {
        let directory = try directory()
        guard arguments.operands.count > 2 else {
            return try explain(storeName) { () throws(SecureStorageError) in try stores.remove(directory) }
        }
        let key = arguments.operands[2]
        let wasThere = try explain(key) { () throws(SecureStorageError) in try directory.table.remove(text(key)) }
        if !wasThere { throw Failure(.notFound, "no such key", path: key) }
    }

    func export() throws(Failure) {
        let directory = try directory()
        let file = arguments.operands[2]
        try explain(file) { () throws(SecureStorageError) in try directory.table.store.export(toPlaintextDatabaseAt: text(file)) }
    }
}

extension ExitCode {
    /// What a failing store ends the command with.
    init(_ error: SecureStorageError) {
        switch error {
        case .authenticationFailed: self = .wrongKey
        case .openFailed(let code, _), .backingStoreError(let code, _), .encryptionKeyChangeFailed(let code, _):
            switch code & 0xFF {
            case 11, 26: self = .damagedData
            case 13: self = .noSpace
            case 3, 8: self = .permissionDenied
            case 10: self = .inputOutput
            default: self = .failure
            }
        case .closed, .typeConversionFailed: self = .failure
        }
    }
}
