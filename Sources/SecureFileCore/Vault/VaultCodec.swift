import Synchronization

/// What all directories of an open vault share: the ciphers of names, symlinks and attributes, and the root folder. Safe to use from
/// several threads.
final class VaultCodec: Sendable {
    let names: SIVCipher
    let symlinks: SIVCipher
    let attributes: SIVCipher
    /// S2V after `["name"]`, for attribute names.
    let attributeNames: SIVCipher.Prefix
    let directoryKey: SecretKey
    let root: FileDescriptor
    let isWritable: Bool
    /// Held while a long name's companion and entry change together.
    let longNames = Mutex<Void>(())

    init(_ keys: VolumeKeys, root: FileDescriptor, isWritable: Bool) throws(CryptoFailure) {
        names = try SIVCipher(key: keys.nameKey)
        symlinks = try SIVCipher(key: keys.symlinkKey)
        attributes = try SIVCipher(key: keys.xattrKey)
        attributeNames = try attributes.prefix([Array("name".utf8)])
        directoryKey = keys.directoryKey
        self.root = root
        self.isWritable = isWritable
    }
}
