extension Vault {
    /// Opens the vault in the folder `path`.
    ///
    /// For writing: takes the lock, records a new session (durably), and where the last one died syncs the filesystem and removes leftovers
    /// in the root. For reading: changes nothing.
    /// - Throws: ``SecureFileError``: `.notFound` (no such folder), `.notAVault`, `.unsupportedVersion`, `.damaged`, `.wrongKey`,
    ///   `.tampered`, `.inUse` (the message names the process), `.invalidArgument` (a passphrase that cannot be one), `.limitExceeded`,
    ///   `.system`.
    ///
    /// `content` says how the engine is to behave; `log` takes lines about what was accepted leniently or failed in the background.
    public static func open(
        at path: RawPath, _ credential: Credential, _ access: Access, content: ContentContext.Options = ContentContext.Options(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SecureFileError) -> Vault {
        try credential.validate()
        return try open(at: path, access, ContentManner(options: content, log: log)) { configuration throws(SecureFileError) in
            try configuration.unlock(credential, path: path.appending(ReservedNames.configuration).description).keys
        }
    }

    /// The same with the keys at hand: of the kernel's keyring, say.
    ///
    /// - Throws: as above; `.wrongKey` where they are another vault's.
    public static func open(
        at path: RawPath, with keys: VolumeKeys, _ access: Access, content: ContentContext.Options = ContentContext.Options(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SecureFileError) -> Vault {
        try open(at: path, access, ContentManner(options: content, log: log)) { configuration throws(SecureFileError) in
            try configuration.verify(keys, path: path.appending(ReservedNames.configuration).description)
            return keys
        }
    }

    private static func open(
        at path: RawPath, _ access: Access, _ manner: ContentManner, _ unlock: (VaultConfiguration) throws(SecureFileError) -> VolumeKeys
    ) throws(SecureFileError) -> Vault {
        let folder = try openFolder(path)
        var configuration = try readConfiguration(folder, path)
        guard access == .readWrite else {
            let keys = try unlock(configuration)
            let record = try VaultSession.read(folder, keys, path: path.description)
            return Vault(try parts(path, folder, keys, configuration, access, readingRule(record)), access, nil, manner)
        }
        let lock = try VaultLock(folder: folder, path: path.description)
        do throws(SecureFileError) {
            lock.nameHolder()
            configuration = try readConfiguration(folder, path)
            return try begin(path, folder, try unlock(configuration), configuration, lock, manner)
        } catch {
            lock.release()
            throw error
        }
    }

    private static func begin(
        _ path: RawPath, _ folder: FileDescriptor, _ keys: VolumeKeys, _ configuration: VaultConfiguration, _ lock: VaultLock,
        _ manner: ContentManner
    ) throws(SecureFileError) -> Vault {
        let last = try VaultSession.read(folder, keys, path: path.description)
        var parts = try parts(path, folder, keys, configuration, .readWrite, SessionRule(current: .none))
        let record = try VaultSession.begin(folder, keys, path: path.description)
        parts.sessionRule = SessionRule(current: record.open, lenient: Set(record.dead))
        parts.foundDeadSession = last.open != .none
        if parts.foundDeadSession { removeLeftovers(parts.root) }
        return Vault(parts, .readWrite, Writing(lock: lock, record: record), manner)
    }

    private static func parts(
        _ path: RawPath, _ folder: FileDescriptor, _ keys: VolumeKeys, _ configuration: VaultConfiguration, _ access: Access,
        _ rule: SessionRule
    ) throws(SecureFileError) -> Parts {
        let codec: VaultCodec
        do { codec = try VaultCodec(keys, root: folder, isWritable: access == .readWrite) } catch {
            throw SecureFileError(error, "the vault cannot be opened", path: path.description)
        }
        let root = try VaultDirectory(folder, DirectoryIdentity.read(folder, codec, path: path.description), codec)
        return Parts(
            path: path, root: root, keys: keys, configuration: configuration, sessionRule: rule, foundDeadSession: false)
    }

    /// Removes what unfinished operations of a dead process left in the root; not while another process changes the configuration.
    private static func removeLeftovers(_ root: VaultDirectory) {
        guard let guardian = try? root.descriptor.open(RawPath("."), [.readOnly, .directory]), (try? guardian.tryLock()) == true,
            let stream = try? DirectoryStream(root.descriptor)
        else { return }
        while let entry = (try? stream.next()) ?? nil {
            if ReservedNames.meaning(of: entry.name) == .temporary { root.discard(RawPath(entry.name)) }
        }
    }

    // MARK: Configuration

    /// The configuration of the vault in the folder `path`. No key is needed: its mac is not checked.
    ///
    /// - Throws: ``SecureFileError``: `.notFound`, `.notAVault`, `.unsupportedVersion`, `.damaged`, `.system`.
    public static func readConfiguration(at path: RawPath) throws(SecureFileError) -> VaultConfiguration {
        try readConfiguration(openFolder(path), path)
    }

    static func openFolder(_ path: RawPath) throws(SecureFileError) -> FileDescriptor {
        do throws(Errno) {
            return try FileDescriptor.open(path, [.readOnly, .directory])
        } catch {
            if error == .notDirectory { throw SecureFileError(.notAVault, "not a folder, so not a vault", path: path.description) }
            throw SecureFileError(error, "the vault's folder cannot be opened", path: path.description)
        }
    }

    static func readConfiguration(_ folder: FileDescriptor, _ path: RawPath) throws(SecureFileError) -> VaultConfiguration {
        let file = path.appending(ReservedNames.configuration).description
        let text: [UInt8]?
        do throws(Errno) {
            text = try AtomicFile.read(ReservedNames.configuration, in: folder, limit: StrictJSON.lengthMaximum)
        } catch {
            if error == .fileTooLarge { throw SecureFileError(.damaged, "the vault's configuration is longer than 64 KiB", path: file) }
            throw SecureFileError(error, "the vault's configuration cannot be read", path: file)
        }
        guard let text else {
            throw SecureFileError(.notAVault, "not a vault (no sfs.json in it): make one with `sfs init`", path: path.description)
        }
        return try VaultConfiguration.parse(text, path: file)
    }
}
