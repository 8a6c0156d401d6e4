/// Making files, directories and links.
extension VaultDirectory {
    /// Makes an empty regular file and opens it for reading and writing. Durable after ``synchronize()``.
    ///
    /// - Parameter permissions: permission bits; the process's umask applies, as always.
    /// - Throws: `.exists`, or the system's error.
    public func createFile(_ name: StoredName, permissions: UInt32) throws(Errno) -> FileDescriptor {
        try makingEntry(name) { () throws(Errno) in
            try descriptor.open(name.entry, [.readWrite, .create, .exclusive, .noFollow], permissions: permissions)
        }
    }

    /// Makes a pipe, socket or device: an inode of that kind in the backing directory, with an encrypted name and nothing else.
    ///
    /// - Parameter device: as in st_rdev.
    /// - Returns: the new inode, opened as a path only.
    /// - Throws: `.notPermitted` where such entries are not shown; `.exists`; the system's error.
    public func makeSpecialFile(_ name: StoredName, _ kind: FileKind, permissions: UInt32, device: UInt64) throws(Errno) -> FileDescriptor {
        guard kind.isSpecial, shows(kind) else { throw .notPermitted }
        return try makingEntry(name) { () throws(Errno) in
            try descriptor.makeSpecialFile(name.entry, kind, permissions: permissions, device: device)
            return try descriptor.open(name.entry, [.pathOnly, .noFollow])
        }
    }

    /// Makes a directory: complete, or not at all. FORMAT section 5.2. Durable, and usable after a loss of power, after ``synchronize()``.
    ///
    /// - Parameters:
    ///   - permissions: permission bits; the umask, and an inherited set-group-ID bit and default ACL apply as for mkdir(2).
    ///   - owner: user and group to give it to; the group is left where the parent's set-group-ID bit decides it. Nil: the process's.
    ///   - finish: what else is to be done with it before it has its name.
    /// - Returns: the new directory, open.
    /// - Throws: ``SecureFileError``: `.alreadyExists`; the system's error.
    @discardableResult
    public func makeDirectory(
        _ name: StoredName, permissions: UInt32, owner: (UInt32, UInt32)?, finish: (FileDescriptor) throws(Errno) -> Void = { _ in }
    ) throws(SecureFileError) -> VaultDirectory {
        let id: DirectoryID
        do { id = try DirectoryIdentity.makeID() } catch { throw SecureFileError(error, "a directory cannot be made", path: name.path) }
        let made: FileDescriptor = try explained("a directory cannot be made", path: name.path) { () throws(Errno) in
            try makingEntry(name) { () throws(Errno) in try make(id, name, permissions, owner, finish) }
        }
        return try VaultDirectory(made, id, codec)
    }

    private func make(
        _ id: DirectoryID, _ name: StoredName, _ permissions: UInt32, _ owner: (UInt32, UInt32)?, _ finish: (FileDescriptor) throws(Errno) -> Void
    ) throws(Errno) -> FileDescriptor {
        let temporary = try AtomicFile.temporaryName()
        // The owner's own bits are needed to put the id into it. The mode is given here, not later, so that a default ACL counts.
        try descriptor.makeDirectory(temporary, permissions: permissions | 0o700)
        do throws(Errno) {
            let made = try descriptor.open(temporary, [.readOnly, .directory, .noFollow])
            try DirectoryIdentity.write(id, codec.directoryKeyOrErrno(), to: made)
            try finish(made)
            let status = try made.status()
            if let owner, owner != (status.owner, status.group) {
                try made.setOwner(owner.0, group: status.permissions & 0o2000 == 0 ? owner.1 : nil)
            }
            if status.permissions & 0o700 != permissions & 0o700 {
                try made.setPermissions(status.permissions & ~0o700 | permissions & 0o700)
            }
            try giveName(temporary, name)
            return made
        } catch {
            discard(temporary)
            throw error
        }
    }

    private func giveName(_ temporary: RawPath, _ name: StoredName) throws(Errno) {
        do throws(Errno) {
            try descriptor.rename(temporary, to: descriptor, name.entry, .noReplace)
        } catch {
            guard error == .invalidArgument || error == .noSystemCall else { throw error }
            // A filesystem without that flag. A plain rename does as well: it replaces no directory that has an id in it.
            do throws(Errno) {
                try descriptor.rename(temporary, to: descriptor, name.entry, .replace)
            } catch {
                throw error == .notEmpty || error == .notDirectory ? .exists : error
            }
        }
    }

    /// Gives the file or symlink `name` of this directory another name in `directory`.
    public func link(_ name: StoredName, in directory: VaultDirectory, as newName: StoredName) throws(Errno) {
        try directory.makingEntry(newName) { () throws(Errno) in
            if !shows(try descriptor.status(of: name.entry).kind) { throw .noEntry }
            try descriptor.link(name.entry, to: directory.descriptor, newName.entry)
        }
    }

    /// Gives the inode of `file` a name in this directory. Needs /proc.
    public func link(_ file: FileDescriptor, as newName: StoredName) throws(Errno) {
        try makingEntry(newName) { () throws(Errno) in try file.link(as: newName.entry, in: descriptor) }
    }

    /// Opens a regular file without a name in the backing directory, to be given one by ``link(_:as:)``.
    public func createUnnamedFile(permissions: UInt32) throws(Errno) -> FileDescriptor {
        try requireWritable()
        return try descriptor.open(RawPath("."), [.readWrite, .unnamed], permissions: permissions)
    }
}
