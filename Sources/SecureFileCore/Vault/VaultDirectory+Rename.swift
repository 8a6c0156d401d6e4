/// Renaming.
extension VaultDirectory {
    /// Renames an entry, as renameat2(2) does. Durable after ``synchronize()`` of both directories.
    ///
    /// A directory replaces one that is empty to the user, although the backing holds an id in it.
    /// - Throws: ``SecureFileError`` with the system's error as its cause: `.notEmpty`, `.exists` (with `.noReplace`), `.notDirectory`,
    ///   `.isDirectory`, `.noEntry`, `.invalidArgument` (into itself).
    /// - Parameter kind: what the new name stands for, nil for nothing, where that is known.
    public func rename(
        _ name: StoredName, to directory: VaultDirectory, _ newName: StoredName, _ rule: FileDescriptor.RenameRule = .replace,
        replacing kind: FileKind? = .symlink
    ) throws(SecureFileError) {
        try explained("an entry cannot be renamed", path: name.path) { () throws(Errno) in
            try requireWritable()
            if rule == .exchange {
                // Both names stay, and companions belong to names.
                try descriptor.rename(name.entry, to: directory.descriptor, newName.entry, .exchange)
            } else {
                try move(name, to: directory, newName, rule, kind)
            }
        }
    }

    private func move(
        _ name: StoredName, to directory: VaultDirectory, _ newName: StoredName, _ rule: FileDescriptor.RenameRule, _ replaced: FileKind?
    ) throws(Errno) {
        let payload: RawPath? = try exclusively(name, newName) { () throws(Errno) in
            let payload = rule == .replace && replaced == .symlink ? try? directory.linkPayload(of: newName) : nil
            try directory.ensureCompanion(newName)
            do throws(Errno) {
                try moveEntry(name, to: directory, newName, rule)
            } catch {
                directory.removeOrphan(newName)
                throw error
            }
            removeOrphan(name)  // checks: a rename to another link of the same inode leaves both
            return payload
        }
        if let payload { try? codec.root.remove(payload) }
    }

    private func moveEntry(
        _ name: StoredName, to directory: VaultDirectory, _ newName: StoredName, _ rule: FileDescriptor.RenameRule
    ) throws(Errno) {
        do throws(Errno) {
            try descriptor.rename(name.entry, to: directory.descriptor, newName.entry, rule)
        } catch {
            guard rule == .replace, error == .notEmpty || error == .exists else { throw error }
            try replaceDirectory(name, in: directory, newName)
        }
    }

    /// Puts the directory `name` in the place of one that is empty to the user, in one step: the two are exchanged, and the empty one,
    /// which then has the old name, is removed. A loss of power between the steps leaves an empty directory there.
    private func replaceDirectory(_ name: StoredName, in directory: VaultDirectory, _ newName: StoredName) throws(Errno) {
        let victim = try directory.requireVacant(newName)
        let aside = try AtomicFile.temporaryName()
        do throws(Errno) {
            try descriptor.rename(name.entry, to: directory.descriptor, newName.entry, .exchange)
        } catch {
            guard error == .invalidArgument || error == .noSystemCall else { throw error }
            return try replaceDirectoryInSteps(name, in: directory, newName, aside)
        }
        try descriptor.rename(name.entry, to: descriptor, aside)
        do throws(Errno) {
            try dispose(aside, victim)
        } catch {
            // Somebody made an entry in it meanwhile: back.
            try descriptor.rename(aside, to: descriptor, name.entry, .noReplace)
            try descriptor.rename(name.entry, to: directory.descriptor, newName.entry, .exchange)
            throw error
        }
    }

    /// For filesystems that cannot exchange. A loss of power between the steps leaves the old name, and none under the new one.
    private func replaceDirectoryInSteps(
        _ name: StoredName, in directory: VaultDirectory, _ newName: StoredName, _ aside: RawPath
    ) throws(Errno) {
        try directory.descriptor.rename(newName.entry, to: directory.descriptor, aside)
        do throws(Errno) {
            try descriptor.rename(name.entry, to: directory.descriptor, newName.entry)
        } catch {
            try directory.descriptor.rename(aside, to: directory.descriptor, newName.entry)
            throw error
        }
        directory.discard(aside)
    }
}
