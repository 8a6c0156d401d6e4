import Foundation
import Synchronization
import Testing

@testable import SecureFS
@testable import SecureFileCore

/// A vault in a folder of its own, shown as a file system without a mount.
final class Fixture {
    let folder: String
    let fileSystem: VaultFileSystem
    let lines = Mutex<[String]>([])
    static let root = Caller(user: 0, group: 0, process: 1, umask: 0)

    static let stranger = Caller(user: 4000, group: 4000, process: 1, umask: 0)

    init(growth: GrowthAhead? = nil) throws {
        folder = NSTemporaryDirectory() + "sfs-test-" + UUID().uuidString
        var creation = Vault.Creation(passphrase: Array("test".utf8))
        creation.argon2 = .insecureMinimum
        _ = try Vault.create(at: RawPath(folder), creation)
        let vault = try Vault.open(
            at: RawPath(folder), .passphrase(creation.passphrase), .readWrite, content: VaultMount.contentOptions)
        let sink = Sink()
        fileSystem = try VaultFileSystem(vault, log: MountLog { line in sink.lines.withLock { $0.append(line) } }, isRoot: geteuid() == 0,
            growth: growth)
        self.sink = sink
    }

    private final class Sink: Sendable { let lines = Mutex<[String]>([]) }
    private let sink: Sink
    var logged: [String] { sink.lines.withLock { $0 } }

    deinit {
        try? fileSystem.finish()
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Short forms

    func create(_ name: String, in parent: NodeID = .root, mode: UInt32 = 0o644, by caller: Caller = root) throws -> Entry {
        try fileSystem.create(Array(name.utf8), in: parent, mode: mode, OpenIntent(reads: true, writes: true), caller).entry
    }

    func lookup(_ name: String, in parent: NodeID = .root) throws -> Entry? { try fileSystem.lookup(Array(name.utf8), in: parent) }

    func write(_ text: String, to node: NodeID, at offset: Int64 = 0) throws {
        let bytes = Array(text.utf8)
        try fileSystem.write(node, handle, bytes.span, at: offset, WriteOrigin())
    }

    func read(_ node: NodeID, at offset: Int64 = 0, count: Int = 4096) throws -> String {
        let buffer = PageBuffer(count: count)
        let got = try fileSystem.read(node, handle, at: offset, count: count, into: buffer)
        return String(decoding: buffer.bytes(0..<got), as: UTF8.self)
    }

    /// A file of the given content, closed.
    @discardableResult
    func make(_ name: String, _ text: String = "", in parent: NodeID = .root) throws -> NodeID {
        let node = try create(name, in: parent).node
        if !text.isEmpty { try write(text, to: node) }
        try fileSystem.flush(node, handle)
        fileSystem.release(node, handle)
        return node
    }

    func open(_ node: NodeID, writes: Bool = true) throws { _ = try fileSystem.open(node, OpenIntent(reads: true, writes: writes)) }
    func openForWritingOnly(_ node: NodeID, appends: Bool = false) throws {
        _ = try fileSystem.open(node, OpenIntent(reads: false, writes: true, appends: appends))
    }
    func cut(_ node: NodeID, to size: Int64) throws -> Int64 {
        var change = AttributeChange()
        change.size = size
        return try fileSystem.setAttributes(of: node, handle, change).size
    }

    /// Changes what lies in a file's backing file.
    func damage(_ name: String, _ change: (inout Data) -> Void) throws {
        let backing = try backing(name)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: backing))
        change(&bytes)
        let file = try #require(FileHandle(forWritingAtPath: backing))
        try file.truncate(atOffset: 0)
        file.write(bytes)
        try file.close()
    }
    func close(_ node: NodeID) { fileSystem.release(node, handle) }
    let handle = HandleID(rawValue: 1)

    /// The vault as a mount shows it that only reads, beside this one.
    func besideReader() throws -> VaultFileSystem {
        let vault = try Vault.open(at: RawPath(folder), .passphrase(Array("test".utf8)), .readOnly, content: VaultMount.contentOptions)
        let sink = sink
        return try VaultFileSystem(vault, log: MountLog { line in sink.lines.withLock { $0.append(line) } }, isRoot: false)
    }

    func backingLength(_ name: String) throws -> UInt64 {
        try #require(FileManager.default.attributesOfItem(atPath: backing(name))[.size] as? UInt64)
    }

    func names(in node: NodeID = .root) throws -> [String] {
        let opened = try fileSystem.openDirectory(node)
        defer { fileSystem.releaseDirectory(node, opened) }
        let reply = ListingReply()
        try fileSystem.readDirectory(node, opened, from: 0, withAttributes: false, into: reply)
        return reply.names
    }

    /// The backing file of a name in the root.
    func backing(_ name: String) throws -> String {
        folder + "/" + (try fileSystem.vault.root.storedName(Array(name.utf8)).entry.description)
    }
}

/// Takes entries, as many as `limit`.
final class ListingReply: DirectoryReply {
    var entries: [(name: String, inode: UInt64, node: NodeID?, next: Int)] = []
    let limit: Int
    init(limit: Int = .max) { self.limit = limit }
    var names: [String] { entries.map(\.name).filter { $0 != "." && $0 != ".." } }

    func add(_ name: [UInt8], inode: UInt64, kind: FileKind, nextPosition: Int) -> Bool {
        add(name, inode, nil, nextPosition)
    }

    func add(_ name: [UInt8], _ attributes: FileStatus, node: NodeID?, nextPosition: Int) -> Bool {
        add(name, attributes.inode, node, nextPosition)
    }

    private func add(_ name: [UInt8], _ inode: UInt64, _ node: NodeID?, _ next: Int) -> Bool {
        if entries.count >= limit { return false }
        entries.append((String(decoding: name, as: UTF8.self), inode, node, next))
        return true
    }
}
