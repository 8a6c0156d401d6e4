extension SecureServices {
    /// What is to be destroyed by ``SecureServices/retire(_:confirm:)``.
    public struct Retirement: Sendable {
        /// How far it goes.
        public enum Scope: Sendable {
            /// Every copy of the key that this machine's memory holds under our control: of this service and in the kernel's keyring.
            case key
            /// Besides, the key slots of the vault that the service has open for writing. All data under the key, in the vault and in standalone
            /// files, is then lost for everybody who has no other copy of `sfs.json` or of the key.
            case keyAndVault
        }
        public let scope: Scope
        /// Which key, as files name it; nil where there is none.
        public let keyID: UInt64?
        /// The folder of the open vault.
        public let vault: RawPath?
    }

    /// Gives up the key for good, if the caller confirms it (crypto-erase). Whatever handles hold is written first, as far as it can be. All
    /// handles fail with `.keyRetired` from then on, and the state never changes again.
    ///
    /// - Parameter confirm: Told what is going to be destroyed; nothing happens unless it returns true.
    /// - Returns: Whether it was done.
    /// - Throws: ``SecureFileError``: `.readOnly` where the scope is the vault and it is not open for writing; then nothing has happened.
    ///   `.system` where the vault's configuration could not be removed: the key is retired nevertheless.
    @discardableResult
    public func retire(_ scope: Retirement.Scope = .key, confirm: (Retirement) -> Bool) throws(SecureFileError) -> Bool {
        let (keyID, vault) = (keyID, vault)
        if scope == .keyAndVault, vault?.access != .readWrite {
            throw SecureFileError(.readOnly, "the vault's key slots can be destroyed only where it is open for writing")
        }
        guard confirm(Retirement(scope: scope, keyID: keyID, vault: vault?.path)) else { return false }
        let failure = transition.withLock { _ in retireHeld(scope, keyID, vault) }
        observers.tell(.retired)
        if let failure { throw failure }
        return true
    }

    private func retireHeld(_ scope: Retirement.Scope, _ keyID: UInt64?, _ vault: Vault?) -> SecureFileError? {
        var failure: SecureFileError?
        do throws(SecureFileError) { _ = try lockHeld(true) } catch { failure = error }
        held.withLock { $0.state = .retired }
        if let keyID {
            do throws(SecureFileError) { try VolumeKeys.removeFromKeyring(keyID: keyID) } catch { failure = failure ?? error }
        }
        if scope == .keyAndVault, let vault {
            do throws(SecureFileError) { try vault.destroyKeySlots() } catch { failure = failure ?? error }
        }
        do throws(SecureFileError) { try vault?.close() } catch { failure = failure ?? error }
        return failure
    }

    /// Ends the use of the vault that was opened with the key: everything is written, its session ended, its lock given back. Handles in it fail
    /// from then on; standalone files and the key stay. Without a vault nothing happens.
    ///
    /// - Throws: ``SecureFileError`` where the disk fails: as ``Vault/close()``.
    public func closeVault() throws(SecureFileError) {
        try transition.withLock { (_) throws(SecureFileError) in
            guard let vault = held.withLock({ $0.namespace?.vault }) else { return }
            held.withLock { $0.namespace = nil }
            openFiles.abandon(vault.content)
            try vault.close()
        }
    }

    // MARK: The kernel's keyring

    /// Puts the key into the kernel's keyring, where every process of the user can take it from: one unlock serves all of them.
    ///
    /// - Parameter seconds: How long it stays; nil: until it is removed, or the user's last process ends.
    /// - Throws: ``SecureFileError``: `.keyAbsent`, `.keyNotAvailable`, `.keyRetired`; `.notSupported` where there is no keyring.
    public func putKeyInKeyring(seconds: UInt32? = nil) throws(SecureFileError) {
        let held = held.withLock { $0 }
        guard let keys = held.keys else { throw Self.unavailable(held.state) }
        try keys.putInKeyring(seconds: seconds)
    }

    /// Removes the key from the kernel's keyring; the key this service holds stays.
    public func removeKeyFromKeyring() throws(SecureFileError) {
        if let keyID { try VolumeKeys.removeFromKeyring(keyID: keyID) }
    }
}
