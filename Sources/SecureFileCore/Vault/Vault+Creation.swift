extension Vault {
    /// What a new vault is made with.
    public struct Creation: Sendable {
        /// 1 to 4096 bytes without NUL or newline. The caller wipes its copy.
        public var passphrase: [UInt8]
        /// What content is sealed with.
        public var cipher: CipherKind
        public var argon2: Argon2Parameters

        public init(passphrase: [UInt8], cipher: CipherKind = .aes256GCM, argon2: Argon2Parameters = .standard) {
            self.passphrase = passphrase
            self.cipher = cipher
            self.argon2 = argon2
        }
    }

    /// Makes a vault in the folder `path`, which is missing or empty. Durable when it returns; where it throws, what it made is removed
    /// again.
    ///
    /// - Returns: the recovery key, which is stored nowhere.
    /// - Throws: ``SecureFileError``: `.alreadyExists` where the folder holds anything, `.notFound` where its parent is missing,
    ///   `.invalidArgument`, `.limitExceeded` (Argon2 parameters), `.noSpace`, `.system`.
    public static func create(at path: RawPath, _ creation: Creation) throws(SecureFileError) -> RecoveryKey {
        let credential = Credential.passphrase(creation.passphrase)
        try credential.validate()
        let (folder, isNew) = try makeFolder(path)
        do throws(SecureFileError) {
            return try fill(folder, path, creation, credential)
        } catch {
            for name in [ReservedNames.configuration, ReservedNames.lock, ReservedNames.directoryID] { try? folder.remove(name) }
            try? folder.removeExtendedAttribute(ReservedNames.directoryAttribute)
            if isNew { try? currentFolder()?.removeDirectory(path) }
            throw error
        }
    }

    private static func currentFolder() throws(Errno) -> FileDescriptor? { try FileDescriptor.open(RawPath("."), [.pathOnly, .directory]) }

    private static func makeFolder(_ path: RawPath) throws(SecureFileError) -> (folder: FileDescriptor, isNew: Bool) {
        do throws(Errno) {
            try currentFolder()?.makeDirectory(path, permissions: 0o700)
            return (try FileDescriptor.open(path, [.readOnly, .directory]), true)
        } catch {
            guard error == .exists else { throw SecureFileError(error, "the vault's folder cannot be made", path: path.description) }
        }
        let folder = try explained("the vault's folder cannot be opened", path: path.description) { () throws(Errno) in
            try FileDescriptor.open(path, [.readOnly, .directory])
        }
        let isEmpty = try explained("the vault's folder cannot be read", path: path.description) { () throws(Errno) in
            let stream = try DirectoryStream(folder)
            while let entry = try stream.next() { if ReservedNames.meaning(of: entry.name) != .dots { return false } }
            return true
        }
        guard isEmpty else {
            throw SecureFileError(
                .alreadyExists, "the folder is not empty: a vault is made in an empty or a new one", path: path.description)
        }
        return (folder, false)
    }

    private static func fill(
        _ folder: FileDescriptor, _ path: RawPath, _ creation: Creation, _ credential: Credential
    ) throws(SecureFileError) -> RecoveryKey {
        let keys: VolumeKeys
        let recovery: RecoveryKey
        let volumeID: [UInt8]
        let rootID: DirectoryID
        do {
            keys = try VolumeKeys(volumeKey: try RandomBytes.makeKey(32))
            recovery = try RecoveryKey()
            volumeID = try RandomBytes.make(16)
            rootID = try DirectoryIdentity.makeID()
        } catch { throw SecureFileError(error, "the vault's keys cannot be made", path: path.description) }
        let slots = [
            try KeySlot(wrapping: keys.volumeKey, with: credential, creation.argon2, volumeID: volumeID),
            try KeySlot(wrapping: keys.volumeKey, with: .recoveryKey(recovery), creation.argon2, volumeID: volumeID),
        ]
        let content: [UInt8]
        do {
            let configuration = try VaultConfiguration(
                volumeID: volumeID, cipher: creation.cipher, created: CurrentProcess.secondsSince1970, slots: slots, keys)
            content = try configuration.encoded()
        } catch { throw SecureFileError(error, "the vault's configuration cannot be made", path: path.description) }
        try explained("the vault cannot be written", path: path.description) { () throws(Errno) in
            try DirectoryIdentity.write(rootID, keys.directoryKey, to: folder)
            _ = try folder.open(ReservedNames.lock, [.readWrite, .create, .noFollow], permissions: 0o600)
            // Last: with this file the folder is a vault.
            try AtomicFile.replace(ReservedNames.configuration, in: folder, with: content, permissions: 0o600)
            // The folder's own entry, the id's content, all of it.
            try folder.synchronizeFilesystem()
        }
        return recovery
    }
}
