/// The entries of a directory, one after the other, in the backing directory's order. One thread at a time.
public final class VaultDirectoryStream: Sendable {
    private let directory: VaultDirectory
    private let stream: DirectoryStream

    public struct Entry: Sendable {
        /// The user's name.
        public var name: [UInt8]
        public var stored: StoredName
        public var kind: FileKind
        /// The backing inode's number.
        public var inode: UInt64
        /// Where ``VaultDirectoryStream/seek(to:)`` finds the entry behind this one.
        public var nextPosition: Int
    }

    init(_ directory: VaultDirectory) throws(SecureFileError) {
        self.directory = directory
        stream = try explained("a directory cannot be read") { () throws(Errno) in try DirectoryStream(directory.descriptor) }
    }

    /// The next entry; nil at the end. `.` and `..` are among them (as themselves, with the backing's inodes); reserved names, foreign
    /// entries, and sockets, pipes and devices that are not to be shown, are not.
    ///
    /// - Throws: the system's error. The stream can go on.
    public func next() throws(SecureFileError) -> Entry? {
        try explained("a directory cannot be read") { () throws(Errno) in
            while let raw = try stream.next() {
                if let entry = try entry(raw) { return entry }
            }
            return nil
        }
    }

    /// Goes on behind the entry that named `position`; 0 is the beginning.
    public func seek(to position: Int) { stream.seek(to: position) }

    private func entry(_ raw: DirectoryStream.Entry) throws(Errno) -> Entry? {
        if ReservedNames.meaning(of: raw.name) == .dots {
            let stored = StoredName(entry: RawPath(raw.name), companion: nil)
            return Entry(name: raw.name, stored: stored, kind: .directory, inode: raw.inode, nextPosition: raw.nextPosition)
        }
        guard let (name, stored) = try directory.plaintextName(of: raw.name), let kind = try kind(raw), directory.shows(kind) else { return nil }
        return Entry(name: name, stored: stored, kind: kind, inode: raw.inode, nextPosition: raw.nextPosition)
    }

    /// Nil for an entry that went meanwhile.
    private func kind(_ raw: DirectoryStream.Entry) throws(Errno) -> FileKind? {
        if let kind = raw.kind { return kind }
        do throws(Errno) { return try directory.descriptor.status(of: RawPath(raw.name)).kind } catch {
            if error == .noEntry { return nil }
            throw error
        }
    }
}
