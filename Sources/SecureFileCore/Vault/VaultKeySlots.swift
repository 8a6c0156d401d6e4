/// The key slots of a vault, unlocked: passphrases, recovery keys and key files are added, changed and removed here.
///
/// It works beside a process that has the vault open. Each change replaces `sfs.json` as a whole and is durable when it returns; until then
/// the old one counts. The keys of files do not change, so whoever has an old copy of `sfs.json` can still use an old passphrase with it.
public final class VaultKeySlots: Sendable {
    private let path: RawPath
    private let folder: FileDescriptor
    private let keys: VolumeKeys
    /// The slot that the credential opened.
    public let openedSlot: KeySlot

    /// Unlocks the slots of the vault in the folder `path`. Changes nothing.
    ///
    /// - Throws: as ``Vault/open(at:_:_:)``, without `.inUse`.
    public init(at path: RawPath, _ credential: Credential) throws(SecureFileError) {
        let folder = try Vault.openFolder(path)
        let configuration = try Vault.readConfiguration(folder, path)
        let unlocked = try configuration.unlock(credential, path: path.appending(ReservedNames.configuration).description)
        self.path = path
        self.folder = folder
        keys = unlocked.keys
        openedSlot = unlocked.slot
    }

    /// The slots as they are on the disk now.
    public func slots() throws(SecureFileError) -> [KeySlot] { try current().slots }

    /// Adds a passphrase.
    ///
    /// - Returns: the new slot.
    /// - Throws: ``SecureFileError``: `.invalidArgument`, `.limitExceeded` (64 slots, or Argon2 parameters), `.inUse` while another process
    ///   changes the slots, `.system`.
    @discardableResult
    public func addPassphrase(_ passphrase: [UInt8], _ argon2: Argon2Parameters = .standard) throws(SecureFileError) -> KeySlot {
        try add(.passphrase(passphrase), argon2)
    }

    /// Adds a key file by its content: 32 bytes to 1 MiB.
    @discardableResult
    public func addKeyFile(_ content: [UInt8]) throws(SecureFileError) -> KeySlot { try add(.keyFile(content), .standard) }

    /// Adds a new recovery key, and removes those there are.
    public func replaceRecoveryKey() throws(SecureFileError) -> RecoveryKey {
        let key: RecoveryKey
        do { key = try RecoveryKey() } catch { throw SecureFileError(error, "a recovery key cannot be made") }
        let slot = try makeSlot(.recoveryKey(key), .standard)
        try change { slots throws(SecureFileError) in slots.filter { $0.type != .recovery } + [slot] }
        return key
    }

    /// Puts a new passphrase in the place of an old one; all other slots keep working.
    ///
    /// - Parameter slotID: which; nil for the one that the vault was unlocked with, or the only one where that is no passphrase.
    /// - Throws: as ``addPassphrase(_:_:)``; `.invalidArgument` where `slotID` is nil and there are several; `.notFound`.
    @discardableResult
    public func changePassphrase(
        to passphrase: [UInt8], replacing slotID: [UInt8]? = nil, _ argon2: Argon2Parameters = .standard
    ) throws(SecureFileError) -> KeySlot {
        let replacement = try makeSlot(.passphrase(passphrase), argon2)
        try change { slots throws(SecureFileError) in
            let place = try self.place(slotID, in: slots)
            var changed = slots
            if let place { changed[place] = replacement } else { changed.append(replacement) }
            return changed
        }
        return replacement
    }

    /// Where the passphrase slot to be replaced stands; nil where there is none at all.
    private func place(_ slotID: [UInt8]?, in slots: [KeySlot]) throws(SecureFileError) -> Int? {
        if let wanted = slotID ?? (openedSlot.type == .passphrase ? openedSlot.id : nil) {
            guard let place = slots.firstIndex(where: { $0.id == wanted && $0.type == .passphrase }) else {
                throw SecureFileError(.notFound, "the vault has no such passphrase (any more)", path: path.description)
            }
            return place
        }
        let passphrases = slots.indices.filter { slots[$0].type == .passphrase }
        guard passphrases.count <= 1 else {
            throw SecureFileError(.invalidArgument, "the vault has several passphrases: say which slot to change", path: path.description)
        }
        return passphrases.first
    }

    /// Removes a slot.
    ///
    /// - Throws: ``SecureFileError``: `.notFound`; `.invalidArgument` for the last one: nothing would open the vault.
    public func removeSlot(_ slotID: [UInt8]) throws(SecureFileError) {
        try change { slots throws(SecureFileError) in
            let rest = slots.filter { $0.id != slotID }
            if rest.count == slots.count { throw SecureFileError(.notFound, "the vault has no such key slot", path: self.path.description) }
            if rest.isEmpty {
                throw SecureFileError(
                    .invalidArgument, "this is the last key slot: without it nothing opens the vault", path: self.path.description)
            }
            return rest
        }
    }

    private func add(_ credential: Credential, _ argon2: Argon2Parameters) throws(SecureFileError) -> KeySlot {
        let slot = try makeSlot(credential, argon2)
        try change { slots throws(SecureFileError) in slots + [slot] }
        return slot
    }

    private func makeSlot(_ credential: Credential, _ argon2: Argon2Parameters) throws(SecureFileError) -> KeySlot {
        try KeySlot(wrapping: keys.volumeKey, with: credential, argon2, volumeID: try current().volumeID)
    }

    private func current() throws(SecureFileError) -> VaultConfiguration {
        let configuration = try Vault.readConfiguration(folder, path)
        let isOurs: Bool
        do { isOurs = try configuration.belongs(to: keys) } catch { throw SecureFileError(error, "the configuration cannot be checked") }
        guard isOurs else {
            throw SecureFileError(.tampered, "the configuration is no longer that of this key", path: path.description)
        }
        return configuration
    }

    /// Reads the slots, changes them, writes them: alone among those who do.
    private func change(_ body: ([KeySlot]) throws(SecureFileError) -> [KeySlot]) throws(SecureFileError) {
        let guardian = try explained("the vault's folder cannot be locked", path: path.description) { () throws(Errno) in
            let own = try folder.open(RawPath("."), [.readOnly, .directory])
            return try own.tryLock() ? own : nil
        }
        guard let guardian else {
            throw SecureFileError(.inUse, "another process is changing the vault's keys: try again", path: path.description)
        }
        defer { try? guardian.close() }
        let old = try current()
        let slots = try body(old.slots)
        guard slots.count <= VaultConfiguration.slotsMaximum else {
            throw SecureFileError(.limitExceeded, "a vault has at most 64 key slots: remove one first", path: path.description)
        }
        let content: [UInt8]
        do { content = try old.with(slots: slots, keys).encoded() } catch {
            throw SecureFileError(error, "the configuration cannot be made", path: path.description)
        }
        try explained("the configuration cannot be written", path: path.description) { () throws(Errno) in
            try AtomicFile.replace(ReservedNames.configuration, in: folder, with: content, permissions: 0o600)
        }
    }
}
