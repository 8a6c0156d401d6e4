import Synchronization

/// What all directories of an open vault share: the ciphers of names, symlinks and attributes, and the root folder. Safe to use from
/// several threads.
final class VaultCodec: Sendable {
    let names: SIVCipher
    let symlinks: SIVCipher
    let attributes: SIVCipher
    /// S2V after `["name"]`, for attribute names.
    let attributeNames: SIVCipher.Prefix
    private let heldDirectoryKey: Mutex<SecretKey?>
    let root: FileDescriptor
    let isWritable: Bool
    /// Sockets, pipes and devices are shown, and may be made. FORMAT section 6.
    let showsSpecialFiles = Atomic<Bool>(false)
    /// Held while a long name's companion and entry change together.
    let longNames = Mutex<Void>(())

    init(_ keys: VolumeKeys, root: FileDescriptor, isWritable: Bool) throws(CryptoFailure) {
        names = try SIVCipher(key: keys.nameKey)
        symlinks = try SIVCipher(key: keys.symlinkKey)
        attributes = try SIVCipher(key: keys.xattrKey)
        attributeNames = try attributes.prefix([Array("name".utf8)])
        heldDirectoryKey = Mutex(keys.directoryKey)
        self.root = root
        self.isWritable = isWritable
    }

    /// - Throws: `.noKey` while the keys are locked away.
    func directoryKey() throws(CryptoFailure) -> SecretKey {
        guard let key = heldDirectoryKey.withLock({ $0 }) else { throw .noKey }
        return key
    }

    func directoryKeyOrErrno() throws(Errno) -> SecretKey {
        do { return try directoryKey() } catch { throw .noKey }
    }

    /// Wipes all keys; from then on whatever needs one fails with `.noKey`. Who is at work with one is waited for.
    func forgetKeys() {
        heldDirectoryKey.withLock { $0 = nil }
        for cipher in [names, symlinks, attributes] { cipher.forgetKey() }
    }

    /// Takes the same keys again.
    func install(_ keys: VolumeKeys) throws(CryptoFailure) {
        try names.install(keys.nameKey)
        try symlinks.install(keys.symlinkKey)
        try attributes.install(keys.xattrKey)
        heldDirectoryKey.withLock { $0 = keys.directoryKey }
    }
}
