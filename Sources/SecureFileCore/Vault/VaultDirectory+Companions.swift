/// The companion files of long names. FORMAT section 5: they exist, whole and synced, before the entry does, and go after it.
extension VaultDirectory {
    /// Runs `body` alone among the operations on long names where one of `names` is long.
    func exclusively<R: Sendable, E: Error>(_ names: StoredName..., body: () throws(E) -> R) throws(E) -> R {
        if names.allSatisfy({ $0.companion == nil }) { return try body() }
        return try codec.longNames.withLock { _ throws(E) in try body() }
    }

    /// Makes the companion of a long name, durably; does nothing for a short one. Within ``exclusively(_:body:)``.
    func ensureCompanion(_ name: StoredName) throws(Errno) {
        guard let companion = name.companion, let file = name.companionName else { return }
        let limit = NameLimits.name + NameLimits.sivOverhead
        if let there = try? AtomicFile.read(file, in: descriptor, limit: limit), there == companion { return }
        let opened = try descriptor.open(file, [.readWrite, .create, .noFollow, .nonBlocking], permissions: 0o644)
        guard try opened.status().kind == .regular else { throw .inputOutput }
        do throws(Errno) {
            try opened.setLength(0)
            try opened.writeStream(companion)
            try opened.synchronize()
            try opened.close()
        } catch {
            removeOrphan(name)
            throw error
        }
    }

    /// Removes the companion of a long name whose entry does not exist. A failure leaves a companion that means nothing.
    func removeOrphan(_ name: StoredName) {
        guard let file = name.companionName else { return }
        do throws(Errno) { _ = try descriptor.status(of: name.entry) } catch {
            if error == .noEntry { try? descriptor.remove(file) }
        }
    }

    /// Makes an entry by `body`, its companion before it; the companion goes again where that fails.
    func makingEntry<R: Sendable>(_ name: StoredName, _ body: () throws(Errno) -> R) throws(Errno) -> R {
        try requireWritable()
        return try exclusively(name) { () throws(Errno) in
            try ensureCompanion(name)
            do throws(Errno) {
                return try body()
            } catch {
                removeOrphan(name)
                throw error
            }
        }
    }
}
