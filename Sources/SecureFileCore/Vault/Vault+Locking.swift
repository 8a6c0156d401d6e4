/// Taking the key away from an open vault, and giving it back.
extension Vault {
    /// Whether the key is locked away. It may be by the time the caller looks.
    public var isLocked: Bool { secrets.withLock { $0.keys == nil } }

    /// Takes the key away: everything written is on the disk first; then all keys and all plaintext of the vault that this process holds are
    /// wiped. From then on every call on content, names, symlinks and attributes throws `.keyNotAvailable`; files, directories and the vault's
    /// lock stay open, and ``close()`` works. A second call does nothing.
    ///
    /// - Parameter discardingUnwritten: What cannot be written is given up; without it, a failure leaves the vault as it was, unlocked.
    /// - Throws: ``SecureFileError``: `.noSpace`, `.system` where not everything could be written; `.closed`.
    public func lock(discardingUnwritten: Bool = false) throws(SecureFileError) {
        try transition.withLock { (_) throws(SecureFileError) in
            if isClosed { throw SecureFileError(.closed, "the vault is closed", path: path.description) }
            guard !isLocked else { return }
            let folder = root.codec.root
            // A reader has written nothing; its folder may be on a filesystem that cannot be synced.
            let isWriter = access == .readWrite
            try content.lock(discardingUnwritten: discardingUnwritten) { () throws(Errno) in
                if isWriter { try folder.synchronizeFilesystem() }
            }
            do throws(SecureFileError) { try prepareClosing() } catch {
                // Without it the session counts as died, which costs a check: no reason to keep the key.
                content.log("\(path): \(error.message)")
            }
            root.codec.forgetKeys()
            secrets.withLock { $0.keys = nil }
        }
    }

    /// Gives the key back. Open files go on where they were: the next call on each reads it anew.
    ///
    /// - Throws: ``SecureFileError``: `.wrongKey` where `credential` does not open this vault's configuration, or it holds another key than
    ///   before; and as ``Vault/open(at:_:_:content:log:)``. The vault stays locked then.
    public func unlock(_ credential: Credential) throws(SecureFileError) {
        if isClosed { throw SecureFileError(.closed, "the vault is closed", path: path.description) }
        // The configuration as it is now: the passphrase may have been changed meanwhile.
        let configuration = try Vault.readConfiguration(root.codec.root, path)
        try unlock(with: try configuration.unlock(credential, path: path.appending(ReservedNames.configuration).description).keys)
    }

    /// The same with the keys at hand.
    public func unlock(with keys: VolumeKeys) throws(SecureFileError) {
        try transition.withLock { (_) throws(SecureFileError) in
            if isClosed { throw SecureFileError(.closed, "the vault is closed", path: path.description) }
            guard keys.keyID == configuration.keyID else {
                throw SecureFileError(.wrongKey, "this is the key of another vault", path: path.description)
            }
            guard isLocked else { return }
            do throws(CryptoFailure) { try root.codec.install(keys) } catch {
                root.codec.forgetKeys()
                throw SecureFileError(error, "the vault cannot be unlocked", path: path.description)
            }
            do throws(SecureFileError) { try content.unlock(keys.contentKey, keyID: keys.keyID) } catch {
                root.codec.forgetKeys()
                throw error
            }
            secrets.withLock { $0 = Secrets(keys: keys) }
        }
    }

    /// Seals the record of an ended session while there is a key for it, so that a locked vault can be closed.
    private func prepareClosing() throws(SecureFileError) {
        guard var record = writing.withLock({ $0?.record }) else { return }
        record.open = .none
        let sealed = try VaultSession.seal(record, try keys)
        secrets.withLock { $0.closingRecord = sealed }
    }
}
