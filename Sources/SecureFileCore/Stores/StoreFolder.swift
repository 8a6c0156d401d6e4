/// A folder in which stores lie: that of a vault, where names are encrypted, or any other. FORMAT section 15.
package struct StoreFolder: Sendable {
    package let descriptor: FileDescriptor
    /// For messages.
    package let path: String
    /// The vault whose folder it is.
    package let vault: Vault?
    private let names: VaultDirectory?

    /// Longest name of a store, in bytes: with the ending of its files it is a file name still, encrypted too.
    package static let nameMaximum = 160

    /// A folder outside of a vault; store names are file names.
    package init(_ path: RawPath) throws(SecureFileError) {
        descriptor = try explained("the folder of the store cannot be opened", path: path.description) { () throws(Errno) in
            try FileDescriptor.open(path.isEmpty ? RawPath(".") : path, [.readOnly, .directory])
        }
        self.path = path.description
        vault = nil
        names = nil
    }

    package static func exists(in vault: Vault) -> Bool { (try? vault.root.descriptor.status(of: ReservedNames.stores)) != nil }

    /// The folder of an open vault, made if it is missing.
    package init(of vault: Vault) throws(SecureFileError) {
        path = vault.path.appending(ReservedNames.stores).description
        let root = vault.root.descriptor
        descriptor = try explained("the vault's stores cannot be opened", path: path) { () throws(Errno) in
            do throws(Errno) { return try root.open(ReservedNames.stores, [.readOnly, .directory, .noFollow]) } catch {
                guard error == .noEntry else { throw error }
            }
            do throws(Errno) { try root.makeDirectory(ReservedNames.stores, permissions: 0o700) } catch {
                guard error == .exists else { throw error }
            }
            try root.synchronize()
            return try root.open(ReservedNames.stores, [.readOnly, .directory, .noFollow])
        }
        let id: DirectoryID
        do {
            id = DirectoryID(bytes: try Hashing.expand(try vault.keys.volumeKey, "sfs1 stores names", count: 16).exposedBytes())
        } catch let error as SecureFileError { throw error } catch {
            throw SecureFileError(.system, "the names of the stores cannot be read", path: path)
        }
        self.vault = vault
        names = try VaultDirectory(descriptor, id, vault.root.codec)
    }

    /// The files of the store `name`.
    package func files(of name: [UInt8]) throws(SecureFileError) -> StoreFiles {
        guard name.count <= Self.nameMaximum || names == nil, NameLimits.isWellFormed(name) else {
            throw SecureFileError(.invalidArgument, "no store can have this name", path: path)
        }
        let base = try names.map { (names) throws(SecureFileError) in Array(try names.storedName(name).entry.bytes) } ?? name
        return StoreFiles(directory: descriptor, base: base, separator: names == nil ? "-" : ".", path: path + "/" + RawPath(base).description)
    }

    /// The names of the stores here, in no order: of a vault's folder only.
    package func storeNames() throws(SecureFileError) -> [[UInt8]] {
        guard let names else { return [] }
        return try explained("the vault's stores cannot be listed", path: path) { () throws(Errno) in
            let stream = try DirectoryStream(descriptor)
            var found: [[UInt8]] = []
            while let entry = try stream.next() {
                guard entry.name.suffix(5).elementsEqual(StoreFiles.keysEnding.utf8) else { continue }
                if let name = try names.plaintextName(of: Array(entry.name.dropLast(5)))?.name { found.append(name) }
            }
            return found
        }
    }

    /// What opens stores made in the vault of this folder; nil outside of one. The caller wipes it.
    package func vaultSecret() throws(SecureFileError) -> [UInt8]? {
        guard let vault else { return nil }
        let key = try vault.keys.volumeKey
        do { return try Hashing.expand(key, "sfs1 stores", count: 32).exposedBytes() } catch {
            throw SecureFileError(error, "the key of the stores cannot be derived", path: path)
        }
    }
}

/// The files of one store: the database, its rollback journal, and its key slots, beside each other. FORMAT section 15.
package struct StoreFiles: Sendable {
    package let directory: FileDescriptor
    package let database: RawPath
    package let journal: RawPath
    package let keys: RawPath
    /// Of the database, for messages.
    package let path: String

    static let keysEnding = ".keys"

    init(directory: FileDescriptor, base: [UInt8], separator: String, path: String) {
        self.directory = directory
        self.path = path
        database = RawPath(base)
        journal = RawPath(base + (separator + "journal").utf8)
        keys = RawPath(base + Self.keysEnding.utf8)
    }

    private init(_ other: StoreFiles, temporary: RawPath) {
        directory = other.directory
        path = other.path
        keys = other.keys
        database = temporary
        journal = RawPath(Array(temporary.bytes) + ".journal".utf8)
    }

    /// The same store under a name for an unfinished operation, while its database is made.
    package func temporary() throws(SecureFileError) -> StoreFiles {
        let name = try explained("the store cannot be made", path: path) { () throws(Errno) in try AtomicFile.temporaryName() }
        return StoreFiles(self, temporary: name)
    }

    package func exists(_ name: RawPath) -> Bool { (try? directory.status(of: name)) != nil }

    /// Removes a file, if there is one.
    package func removeIfThere(_ name: RawPath) throws(SecureFileError) {
        do throws(Errno) { try directory.remove(name) } catch {
            if error != .noEntry { throw SecureFileError(error, "a file of the store cannot be removed", path: path) }
        }
    }

    package func synchronizeFolder() throws(SecureFileError) {
        do throws(Errno) { try directory.synchronize() } catch {
            // Some filesystems sync no folders.
            if error != .invalidArgument { throw SecureFileError(error, "the folder of the store cannot be synced", path: path) }
        }
    }

    package func makeEmptyDatabase() throws(SecureFileError) {
        try explained("the store cannot be made", path: path) { () throws(Errno) in
            try directory.open(database, [.writeOnly, .create, .exclusive, .noFollow], permissions: 0o600).close()
        }
    }

    /// Gives a database that was made under a temporary name its own. Durable when it returns.
    package func giveName(of files: StoreFiles) throws(SecureFileError) {
        try explained("the store cannot be made", path: path) { () throws(Errno) in
            try directory.rename(database, to: directory, files.database, .noReplace)
        }
        try synchronizeFolder()
    }
}
