import SecureFileCore

/// Reads a content file that another process may be writing: what does not open is read again, with the file's present state, before it is
/// called damaged.
final class ContentReader {
    private let descriptor: FileDescriptor
    private let vault: Vault
    private let path: RawPath
    private var file: SecureFile?
    /// Most times a thing is read again.
    private static let attempts = 8

    init(_ descriptor: FileDescriptor, _ vault: Vault, _ path: RawPath) {
        self.descriptor = descriptor
        self.vault = vault
        self.path = path
    }

    /// Reads at `offset` into the front of `buffer`; 0 at the end. Short before a damaged block: the next call throws.
    func read(at offset: Int64, into buffer: PageBuffer) throws(Failure) -> Int {
        let whole = buffer.count
        do throws(SecureFileError) {
            return try again { file throws(SecureFileError) in try file.read(at: ByteOffset(offset), count: whole, into: buffer) }
        } catch {
            guard ExitCode(error, about: .entry) == .damagedData, let block = error.block else {
                throw Failure(error, about: .entry, path: path)
            }
            // What lies before the damage is good, and may be all that somebody needs.
            let good = block.rawValue * Int64(ContentGeometry.blockSize) - offset
            guard good > 0, good < Int64(whole) else { throw Failure(error, about: .entry, path: path) }
            let got = try explaining(.entry, path) { () throws(SecureFileError) in
                try again { file throws(SecureFileError) in try file.read(at: ByteOffset(offset), count: Int(good), into: buffer) }
            }
            return got
        }
    }

    private func again<R>(_ body: (SecureFile) throws(SecureFileError) -> R) throws(SecureFileError) -> R {
        var left = VaultUse.holder(of: vault.path) == nil ? 1 : Self.attempts
        while true {
            left -= 1
            do throws(SecureFileError) {
                return try body(try opened())
            } catch {
                let isDamage = error.code == .damaged || error.code == .truncated || error.code == .notSecureFile
                guard isDamage, left > 0 else { throw error }
                file = nil
                CurrentProcess.pause(milliseconds: 20)
            }
        }
    }

    private func opened() throws(SecureFileError) -> SecureFile {
        if let file { return file }
        let context = ContentContext(try vault.keys, vault.cipher, try vault.currentSessionRule())
        let opened = try SecureFile.open(PosixByteStore(descriptor), context, path: path.description)
        file = opened
        return opened
    }
}

extension ContentContext {
    convenience init(_ keys: VolumeKeys, _ cipher: CipherKind, _ session: SessionRule) {
        self.init(contentKey: keys.contentKey, keyID: keys.keyID, cipher: cipher, session: session)
    }
}
