import CFuse
import Glibc
import SecureFileCore

/// Packs directory entries into the reply buffer of a thread, in the kernel's form.
final class FuseDirectoryReply: DirectoryReply {
    private let buffer: PageBuffer
    private let limit: Int
    /// The kernel asked for attributes: every entry has room for them, looked up or not.
    private let withAttributes: Bool
    private let rememberSeconds: Double
    private(set) var used = 0
    /// The nodes whose lookup count the reply raises, to be lowered again if the kernel does not take it.
    private(set) var lookups: [NodeID] = []

    init(_ buffer: PageBuffer, limit: Int, withAttributes: Bool, remember seconds: Double) {
        rememberSeconds = seconds
        self.withAttributes = withAttributes
        self.buffer = buffer
        self.limit = min(limit, buffer.count)
    }

    func add(_ name: [UInt8], inode: UInt64, kind: FileKind, nextPosition: Int) -> Bool {
        var status = stat(inode: inode, kind: kind)
        if withAttributes {
            var entry = fuse_entry_param()
            entry.attr = status
            return unsafe append(name) { start, room, name in
                unsafe fuse_add_direntry_plus(nil, start, room, name, &entry, off_t(nextPosition))
            }
        }
        return unsafe append(name) { start, room, name in
            // libfuse does not look at the request it is given here.
            unsafe fuse_add_direntry(nil, start, room, name, &status, off_t(nextPosition))
        }
    }

    func add(_ name: [UInt8], _ attributes: FileStatus, node: NodeID?, nextPosition: Int) -> Bool {
        var entry = fuse_entry_param(Entry(node: node ?? NodeID(rawValue: 0), attributes: attributes), remember: rememberSeconds)
        let added = unsafe append(name) { start, room, name in
            unsafe fuse_add_direntry_plus(nil, start, room, name, &entry, off_t(nextPosition))
        }
        if added, let node { lookups.append(node) }
        return added
    }

    private func append(_ name: [UInt8], _ pack: (UnsafeMutablePointer<CChar>?, Int, UnsafePointer<CChar>?) -> Int) -> Bool {
        let terminated = name + [0]
        let room = limit - used
        let needed = unsafe terminated.withUnsafeBytes { name in
            unsafe buffer.withPointer(used..<limit) {
                unsafe pack(
                    $0.baseAddress?.assumingMemoryBound(to: CChar.self), room, name.baseAddress?.assumingMemoryBound(to: CChar.self))
            }
        }
        if needed > room { return false }
        used += needed
        return true
    }
}
