/// One open directory of a vault. Names are the user's, as bytes; safe to use from several threads.
///
/// An operation takes a ``StoredName`` of this directory, which costs one encryption to make and can be kept.
public final class VaultDirectory: Sendable {
    /// The backing directory. Opened as a path only where it may not be read.
    public let descriptor: FileDescriptor
    public let id: DirectoryID
    let codec: VaultCodec
    private let names: NameCodec
    /// ``descriptor`` was opened as a path only.
    let isPathOnly: Bool

    /// - Parameter id: what ``DirectoryIdentity`` read from `descriptor`, now or earlier.
    init(_ descriptor: FileDescriptor, _ id: DirectoryID, _ codec: VaultCodec, isPathOnly: Bool = false) throws(SecureFileError) {
        self.descriptor = descriptor
        self.isPathOnly = isPathOnly
        self.id = id
        self.codec = codec
        do { names = try NameCodec(codec.names, id) } catch { throw SecureFileError(error, "a directory's names cannot be read") }
    }

    /// The same directory through another descriptor: for a caller who keeps ids but not descriptors. Nothing is read or checked.
    public func with(descriptor: FileDescriptor) -> VaultDirectory { VaultDirectory(descriptor, self) }

    private init(_ descriptor: FileDescriptor, _ other: VaultDirectory) {
        self.descriptor = descriptor
        isPathOnly = true
        id = other.id
        codec = other.codec
        names = other.names
    }

    // MARK: Names

    /// The stored form of `name`.
    ///
    /// - Throws: ``SecureFileError``: `.invalidArgument` for `""`, `"."`, `".."` and names with `/` or NUL, with the cause `.nameTooLong`
    ///   above 255 bytes.
    public func storedName(_ name: [UInt8]) throws(SecureFileError) -> StoredName {
        if name.count > NameLimits.name {
            throw SecureFileError(.invalidArgument, "the name is longer than 255 bytes", cause: .nameTooLong)
        }
        guard NameLimits.isWellFormed(name) else {
            throw SecureFileError(.invalidArgument, "no file can have this name")
        }
        do { return try names.encode(name) } catch { throw SecureFileError(error, "a name cannot be encrypted") }
    }

    /// The user's name of an entry of the backing directory; nil where it is reserved or foreign. One read of the companion for a long
    /// name.
    ///
    /// - Throws: `.noKey` while the key is locked away; the system's error.
    func plaintextName(of entry: [UInt8]) throws(Errno) -> (name: [UInt8], stored: StoredName)? {
        let sealed: [UInt8]?
        switch ReservedNames.meaning(of: entry) {
        case .short: sealed = nil
        case .long:
            sealed = try companion(of: entry)
            if sealed == nil { return nil }
        case .dots, .companion, .temporary, .directoryID, .other: return nil
        }
        do {
            let name = if let sealed { try names.decode(long: entry, companion: sealed) } else { try names.decode(short: entry) }
            return name.map { ($0, StoredName(entry: RawPath(entry), companion: sealed)) }
        } catch { throw error == .noKey ? .noKey : .inputOutput }
    }

    /// The user's name of what is stored as `name`: for a caller who kept only that.
    ///
    /// - Throws: ``SecureFileError``: `.keyNotAvailable`; `.damaged` for a name that is not of this directory.
    public func plaintextName(of name: StoredName) throws(SecureFileError) -> [UInt8] {
        let entry = Array(name.entry.bytes)
        do {
            let plain = if let sealed = name.companion { try names.decode(long: entry, companion: sealed) } else { try names.decode(short: entry) }
            if let plain { return plain }
        } catch { throw SecureFileError(error, "a name cannot be decrypted", path: name.path) }
        throw SecureFileError(.damaged, "a name is not of this directory", path: name.path)
    }

    private func companion(of entry: [UInt8]) throws(Errno) -> [UInt8]? {
        let limit = NameLimits.name + NameLimits.sivOverhead
        return try AtomicFile.readPlausible(RawPath(entry + ReservedNames.companionSuffix), in: descriptor, limit: limit)
    }

    // MARK: Looking

    /// The backing status of an entry; a symlink is not followed. Sizes are the backing's: see ``plaintextSize(_:_:)``.
    ///
    /// - Throws: `.noEntry` where there is none, or a socket, pipe or device that is not to be shown.
    public func status(_ name: StoredName) throws(Errno) -> FileStatus {
        let status = try descriptor.status(of: name.entry)
        if !shows(status.kind) { throw .noEntry }
        return status
    }

    /// A vault has files, directories and symlinks; more only where the user has asked for it.
    func shows(_ kind: FileKind) -> Bool { !kind.isSpecial || codec.showsSpecialFiles.load(ordering: .relaxed) }

    /// The size a user sees of an entry with the backing status `status`: regular files and symlinks; a directory's is the backing's. A
    /// file whose session died may have less: its own ``SecureFile`` knows.
    public func plaintextSize(_ status: FileStatus, _ name: StoredName) throws(Errno) -> Int64 {
        switch status.kind {
        case .regular: return ContentGeometry.size(backingLength: status.size).rawValue
        case .symlink:
            if let length = StoredSymlink.plaintextLength(backing: status.size) { return length }
            guard case .file(_, let length)? = StoredSymlink(text: try descriptor.symlinkTarget(name.entry)) else { throw .inputOutput }
            return Int64(length)
        default: return status.size
        }
    }

    // MARK: Opening

    /// Opens a directory of this one.
    ///
    /// - Throws: ``SecureFileError``: with the cause `.notDirectory` for anything else; `.damaged` where its id is lost; `.notFound`.
    public func openDirectory(_ name: StoredName) throws(SecureFileError) -> VaultDirectory {
        let (opened, isPathOnly) = try explained("a directory cannot be opened", path: name.path) { () throws(Errno) in try openBacking(name.entry) }
        return try VaultDirectory(opened, DirectoryIdentity.read(opened, codec, path: name.path), codec, isPathOnly: isPathOnly)
    }

    private func openBacking(_ entry: RawPath) throws(Errno) -> (descriptor: FileDescriptor, isPathOnly: Bool) {
        do throws(Errno) {
            return (try descriptor.open(entry, [.readOnly, .directory, .noFollow]), false)
        } catch {
            // Without the right to list it, a directory can still be passed through.
            guard error == .accessDenied else { throw error }
            return (try descriptor.open(entry, [.pathOnly, .directory, .noFollow]), true)
        }
    }

    /// What the directory's id file holds.
    func encodedID() throws(Errno) -> [UInt8] {
        let key = try codec.directoryKeyOrErrno()
        do { return try DirectoryIdentity.encode(id, key) } catch { throw .inputOutput }
    }

    /// Opens the backing file of a regular file.
    ///
    /// - Throws: `.isDirectory`; `.noEntry` for sockets, pipes and devices; the system's error for a symlink (ELOOP), which is never
    ///   followed.
    public func openFile(_ name: StoredName, _ mode: FileDescriptor.OpenMode) throws(Errno) -> FileDescriptor {
        let file = try descriptor.open(name.entry, mode.union([.noFollow, .nonBlocking]))
        switch try file.status().kind {
        case .regular: return file
        case .directory: throw .isDirectory
        case .symlink: throw .invalidArgument  // a descriptor of the path only
        default: throw .noEntry
        }
    }

    /// The entries, from the first on.
    public func entries() throws(SecureFileError) -> VaultDirectoryStream { try VaultDirectoryStream(self) }

    // MARK: Durability

    /// Entries made, renamed and removed so far are on the disk when this returns, and new directories are usable. FORMAT sections 5 and
    /// 5.2.
    public func synchronize() throws(SecureFileError) {
        try explained("a directory cannot be synced") { () throws(Errno) in
            do throws(Errno) {
                try descriptor.synchronize()
            } catch {
                guard error == .badDescriptor else { throw error }  // opened as a path only
                try descriptor.open(RawPath("."), [.readOnly, .directory]).synchronize()
            }
        }
    }

    func requireWritable() throws(Errno) {
        if !codec.isWritable { throw .readOnly }
    }
}
