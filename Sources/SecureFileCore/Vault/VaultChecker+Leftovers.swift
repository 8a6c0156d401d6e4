/// What unfinished operations leave, and the end of a check that settles.
extension VaultChecker {
    func checkCompanion(_ name: [UInt8], _ names: Set<[UInt8]>, _ directory: VaultDirectory, _ place: Place) {
        let entry = Array(name.dropLast(ReservedNames.companionSuffix.count))
        if names.contains(entry) || isShared { return }
        var finding = finding(.orphanedName, "the name of an entry that does not exist", place.appending(stored: name, path: nil))
        if settles, (try? directory.descriptor.status(of: RawPath(entry))) == nil {
            finding.isRepaired = (try? directory.descriptor.remove(RawPath(name))) != nil
        }
        listener.report(finding)
    }

    func checkLeftover(_ name: [UInt8], _ directory: VaultDirectory, _ place: Place) {
        if isShared { return }  // may be work in progress
        let here = place.appending(stored: name, path: nil)
        var finding = finding(.leftover, "left by an unfinished operation", here)
        if settles {
            directory.discard(RawPath(name))
            finding.isRepaired = (try? directory.descriptor.status(of: RawPath(name))) == nil
        }
        listener.report(finding)
    }

    /// The files of long symlink targets: each belongs to a symlink.
    func checkTargets() {
        guard !isShared, let folder = try? vault.root.descriptor.open(ReservedNames.links, [.readOnly, .directory, .noFollow]) else {
            return
        }
        let place = Place(stored: Array(ReservedNames.links.bytes), path: nil)
        do throws(Errno) {
            let stream = try DirectoryStream(folder)
            var orphans: [[UInt8]] = []
            while let entry = try stream.next() {
                if ReservedNames.meaning(of: entry.name) == .dots || referencedTargets.contains(entry.name) { continue }
                orphans.append(entry.name)
            }
            for name in orphans { report(orphan: name, folder, place) }
        } catch { report(error, "the folder of long symlink targets cannot be read", place) }
    }

    private func report(orphan name: [UInt8], _ folder: FileDescriptor, _ place: Place) {
        let here = place.appending(stored: name, path: nil)
        let isOurs = Base64URL.decode(name)?.count == 16
        guard isOurs else { return listener.report(finding(.foreignEntry, "not of this vault; it is not used", here)) }
        var finding = finding(.orphanedTarget, "the target of a symlink that was not found", here)
        // Where not everything could be looked at, the symlink may be there.
        if settles && !isIncomplete { finding.isRepaired = (try? folder.remove(RawPath(name))) != nil }
        listener.report(finding)
    }

    /// Forgets the sessions that died, once no file needs them any more. FORMAT section 8.3.
    func finishSettling() throws(SecureFileError) {
        let dead = vault.sessionRule.lenient.count
        guard settles, dead > 0 else {
            totals.sessionsRemembered = isShared ? 0 : dead
            return
        }
        if isIncomplete {
            totals.sessionsRemembered = dead
            return
        }
        try explained("the vault's filesystem cannot be synced") { () throws(Errno) in try vault.root.descriptor.synchronizeFilesystem() }
        try vault.forgetDeadSessions()
        totals.sessionsForgotten = dead
    }
}

extension Vault {
    /// The space that a check has to go through, in bytes: an estimate for a display of progress. Costs a status a file.
    public func measure() -> Int64 {
        var total: Int64 = 0
        var folders: [(parent: FileDescriptor, name: RawPath)] = [(root.descriptor, RawPath("."))]
        while let next = folders.popLast() {
            guard let folder = try? next.parent.open(next.name, [.readOnly, .directory, .noFollow]),
                let stream = try? DirectoryStream(folder)
            else { continue }
            while let entry = (try? stream.next()) ?? nil {
                let meaning = ReservedNames.meaning(of: entry.name)
                guard meaning == .short || meaning == .long else { continue }
                let name = RawPath(entry.name)
                if entry.kind == .directory {
                    folders.append((folder, name))
                } else if entry.kind != .symlink, let status = try? folder.status(of: name) {
                    if status.kind == .directory { folders.append((folder, name)) }
                    if status.kind == .regular { total += min(status.size, max(status.blocks * 512, 0)) }
                }
            }
        }
        return total
    }
}
