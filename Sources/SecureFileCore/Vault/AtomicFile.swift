/// Replacement of a small file as a whole. FORMAT sections 5.1, 7 and 8.1.
enum AtomicFile {
    /// A name for an unfinished operation that nobody has: a leftover of an earlier one is never in the way.
    static func temporaryName() throws(Errno) -> RawPath {
        do { return RawPath(Base64URL.encode(try RandomBytes.make(12), after: ReservedNames.temporaryPrefix)) } catch { throw .inputOutput }
    }

    /// Puts `content` in the place of the file `name` of `directory`, which holds the old or the new content at any time. Durable when it
    /// returns. A file that is replaced keeps its owner, group and permissions; a new one gets `permissions`, and the directory's owner.
    ///
    /// - Parameter model: A file whose owner, group and permissions it gets instead.
    static func replace(
        _ name: RawPath, in directory: FileDescriptor, with content: [UInt8], permissions: UInt32, like model: RawPath? = nil
    ) throws(Errno) {
        let temporary = try temporaryName()
        try keepingTime(of: directory) { () throws(Errno) in
            let file = try directory.open(temporary, [.writeOnly, .create, .exclusive, .noFollow], permissions: permissions)
            try put(file, temporary, in: directory, as: name, with: content, permissions: permissions, like: model ?? name)
        }
        try directory.synchronize()
    }

    /// Runs `body`. The user's directory has not changed by it: its time of modification is the user's.
    static func keepingTime(of directory: FileDescriptor, _ body: () throws(Errno) -> Void) throws(Errno) {
        let before = try? directory.status().modified
        defer { if let before { try? directory.setTimes(accessed: .keep, modified: .to(before)) } }
        try body()
    }

    /// Writes `content` to `file`, which is open at its beginning and called `temporary`, and calls it `name`; not durably so before the directory
    /// is synced. Where it fails, the file is removed.
    static func put(
        _ file: FileDescriptor, _ temporary: RawPath, in directory: FileDescriptor, as name: RawPath, with content: [UInt8], permissions: UInt32,
        like model: RawPath
    ) throws(Errno) {
        do throws(Errno) {
            try keepAttributes(of: model, in: directory, file, permissions)
            try file.writeStream(content)
            try file.setLength(Int64(content.count))
            try file.synchronize()
            try file.close()
            try directory.rename(temporary, to: directory, name)
        } catch {
            try? directory.remove(temporary)
            throw error
        }
    }

    private static func keepAttributes(
        of name: RawPath, in directory: FileDescriptor, _ file: FileDescriptor, _ permissions: UInt32
    ) throws(Errno) {
        guard let old = try? directory.status(of: name), old.kind == .regular else {
            try giveToOwner(of: directory, file)
            return try file.setPermissions(permissions)
        }
        let new = try file.status()
        // Root may change a passphrase of somebody else's vault: it must stay theirs. Another user may not give files away; that is no
        // failure.
        if old.owner != new.owner || old.group != new.group { try? file.setOwner(old.owner, group: old.group) }
        try file.setPermissions(old.permissions)
    }

    /// For a file that is new in somebody else's folder: root may mount the vault of a user, who is to get on with it afterwards.
    static func giveToOwner(of directory: FileDescriptor, _ file: FileDescriptor) throws(Errno) {
        let (owner, new) = (try directory.status(), try file.status())
        if owner.owner != new.owner { try? file.setOwner(owner.owner, group: owner.group) }
    }

    /// The content of the regular file `name` of `directory`, at most `limit` bytes; nil when there is none.
    static func read(_ name: RawPath, in directory: FileDescriptor, limit: Int) throws(Errno) -> [UInt8]? {
        do throws(Errno) {
            let file = try directory.open(name, [.readOnly, .noFollow, .nonBlocking])
            guard try file.status().kind == .regular else { throw .invalidArgument }
            return try file.readAll(limit: limit)
        } catch {
            if error == .noEntry { return nil }
            throw error
        }
    }

    /// As ``read(_:in:limit:)`` for a file of ours that is never empty: what is too long for one, or stands there instead of a file, reads as empty,
    /// and so as damaged.
    static func readPlausible(_ name: RawPath, in directory: FileDescriptor, limit: Int) throws(Errno) -> [UInt8]? {
        do throws(Errno) {
            return try read(name, in: directory, limit: limit)
        } catch {
            // No regular file, a symlink, a socket.
            if [.fileTooLarge, .invalidArgument, .loop, .noSuchAddress].contains(error) { return [] }
            throw error
        }
    }
}
