/// The random key of a store, and the key slots that hold it. FORMAT section 15.
///
/// Each change replaces the file of the slots as a whole and is durable when it returns; the store itself is not touched.
package final class StoreKeys: Sendable {
    package let keys: VolumeKeys
    package let cipher: CipherKind
    private let files: StoreFiles

    /// What stands in the key file's place from the moment a store is being destroyed.
    static let destroyedMark = Array("SecureFS store destroyed\n".utf8)

    private init(_ keys: VolumeKeys, _ cipher: CipherKind, _ files: StoreFiles) {
        self.keys = keys
        self.cipher = cipher
        self.files = files
    }

    /// What is in the key file's place.
    package enum State: Sendable { case missing, present, destroyed }

    package static func state(of files: StoreFiles) throws(SecureFileError) -> State {
        guard let text = try read(files) else { return .missing }
        return text == destroyedMark ? .destroyed : .present
    }

    private static func read(_ files: StoreFiles) throws(SecureFileError) -> [UInt8]? {
        do throws(Errno) { return try AtomicFile.readPlausible(files.keys, in: files.directory, limit: StrictJSON.lengthMaximum) } catch {
            throw SecureFileError(error, "the key slots of the store cannot be read", path: files.path)
        }
    }

    private static func configuration(_ files: StoreFiles) throws(SecureFileError) -> VaultConfiguration {
        guard let text = try read(files), text != destroyedMark else {
            throw SecureFileError(.notFound, "the store has no key slots", path: files.path)
        }
        return try VaultConfiguration.parse(text, .store, path: files.path + StoreFiles.keysEnding)
    }

    /// A new key with one slot for each of `credentials`. Durable when it returns.
    package static func create(_ files: StoreFiles, _ credentials: [Credential], _ argon2: Argon2Parameters) throws(SecureFileError) -> StoreKeys
    {
        for credential in credentials { try credential.validate() }
        let keys: VolumeKeys
        let id: [UInt8]
        do {
            keys = try VolumeKeys(volumeKey: try RandomBytes.makeKey(32))
            id = try RandomBytes.make(16)
        } catch { throw SecureFileError(error, "the store's key cannot be made", path: files.path) }
        var slots: [KeySlot] = []
        for credential in credentials { slots.append(try KeySlot(wrapping: keys.volumeKey, with: credential, argon2, volumeID: id)) }
        let made = StoreKeys(keys, .aes256GCM, files)
        do {
            try made.write(
                try VaultConfiguration(
                    .store, volumeID: id, cipher: .aes256GCM, created: CurrentProcess.secondsSince1970, slots: slots, keys))
        } catch let error as SecureFileError { throw error } catch {
            throw SecureFileError(.system, "the store's key slots cannot be made", path: files.path)
        }
        return made
    }

    /// Opens the slots with the first of `credentials` that fits.
    ///
    /// - Throws: ``SecureFileError``: `.notFound`, `.wrongKey`, `.damaged`, `.tampered`, `.unsupportedVersion`, `.invalidArgument`, `.system`.
    package static func open(_ files: StoreFiles, _ credentials: [Credential]) throws(SecureFileError) -> StoreKeys {
        let configuration = try configuration(files)
        var refusal = SecureFileError(.wrongKey, "nothing to open the store with", path: files.path)
        for credential in credentials {
            do throws(SecureFileError) {
                return StoreKeys(try configuration.unlock(credential, path: files.path).keys, configuration.cipher, files)
            } catch {
                if error.code != .wrongKey { throw error }
                refusal = error
            }
        }
        throw refusal
    }

    /// Whether a passphrase opens the store.
    package func hasPassphrase() throws(SecureFileError) -> Bool { try current().slots.contains { $0.type == .passphrase } }

    /// Puts `passphrase` in the place of all passphrases there are; other slots stay.
    package func setPassphrase(_ passphrase: [UInt8], _ argon2: Argon2Parameters) throws(SecureFileError) {
        let slot = try KeySlot(wrapping: keys.volumeKey, with: .passphrase(passphrase), argon2, volumeID: try current().volumeID)
        let guardian = try Self.guardian(of: files)
        defer { guardian.end() }
        let old = try current()
        let slots = old.slots.filter { $0.type != .passphrase } + [slot]
        do { try write(try old.with(slots: slots, keys)) } catch let error as SecureFileError { throw error } catch {
            throw SecureFileError(.system, "the store's key slots cannot be made", path: files.path)
        }
    }

    /// Marks the store as destroyed: from then on its key is gone. Durable when it returns.
    package static func destroy(_ files: StoreFiles) throws(SecureFileError) {
        try explained("the store cannot be destroyed", path: files.path) { () throws(Errno) in
            try AtomicFile.replace(files.keys, in: files.directory, with: destroyedMark, permissions: 0o600)
        }
    }

    private func current() throws(SecureFileError) -> VaultConfiguration {
        let configuration = try Self.configuration(files)
        let isOurs: Bool
        do { isOurs = try configuration.belongs(to: keys) } catch { throw SecureFileError(error, "the key slots cannot be checked") }
        guard isOurs else { throw SecureFileError(.tampered, "the key slots are no longer those of this store", path: files.path) }
        return configuration
    }

    /// The right to make, change or destroy stores in a folder, until its end.
    package struct Guardian: Sendable {
        fileprivate let descriptor: FileDescriptor
        package func end() { try? descriptor.close() }
    }

    /// Waits a little for others who have it.
    package static func guardian(of files: StoreFiles) throws(SecureFileError) -> Guardian {
        for _ in 0..<100 {
            let held = try explained("the folder of the store cannot be locked", path: files.path) { () throws(Errno) -> FileDescriptor? in
                let own = try files.directory.open(RawPath("."), [.readOnly, .directory])
                return try own.tryLock() ? own : nil
            }
            if let held { return Guardian(descriptor: held) }
            CurrentProcess.pause(milliseconds: 20)
        }
        throw SecureFileError(.inUse, "another process is changing key slots in this folder: try again", path: files.path)
    }

    private func write(_ configuration: VaultConfiguration) throws(SecureFileError) {
        let content: [UInt8]
        do { content = try configuration.encoded() } catch { throw SecureFileError(error, "the store's key slots cannot be made") }
        try explained("the store's key slots cannot be written", path: files.path) { () throws(Errno) in
            try AtomicFile.replace(files.keys, in: files.directory, with: content, permissions: 0o600)
        }
    }
}
