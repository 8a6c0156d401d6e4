/// The right to write to a vault: an exclusive lock of `sfs.lock`, which the kernel takes back from a process that dies. FORMAT section
/// 8.2.
final class VaultLock: Sendable {
    private let file: FileDescriptor

    /// Takes the lock of the vault whose root `folder` is open, without waiting.
    ///
    /// - Throws: ``SecureFileError``: `.inUse` with the holder's process ID, as far as it has written it.
    init(folder: FileDescriptor, path: String) throws(SecureFileError) {
        let held: FileDescriptor? = try explained("the vault cannot be locked", path: path) { () throws(Errno) in
            try Self.lock(folder)
        }
        guard let held else { throw Self.refusal(folder, path) }
        file = held
    }

    /// The locked file; nil when another has the lock. Whoever locked a file that was replaced meanwhile tries again.
    private static func lock(_ folder: FileDescriptor) throws(Errno) -> FileDescriptor? {
        for _ in 0..<16 {
            let file = try folder.open(ReservedNames.lock, [.readWrite, .create, .noFollow], permissions: 0o600)
            guard try file.tryLock() else { return nil }
            let mine = try file.status()
            if mine.size == 0 { try AtomicFile.giveToOwner(of: folder, file) }
            if let named = try? folder.status(of: ReservedNames.lock), named.inode == mine.inode, named.device == mine.device {
                return file
            }
        }
        throw .busy
    }

    private static func refusal(_ folder: FileDescriptor, _ path: String) -> SecureFileError {
        let text = (try? AtomicFile.read(ReservedNames.lock, in: folder, limit: 64)).flatMap { $0 }
        let holder = text.flatMap { Int32(String(decoding: $0.prefix { $0 != 10 }, as: UTF8.self)) }
        let who = holder.map { "process \($0)" } ?? "another process"
        return SecureFileError(.inUse, "the vault is in use by \(who): unmount it there first, or open it read-only", path: path)
    }

    /// Whether somebody has the lock now.
    static func isHeld(_ folder: FileDescriptor) -> Bool {
        guard let file = try? folder.open(ReservedNames.lock, [.readOnly, .noFollow]) else { return false }
        return (try? file.isLockedElsewhere()) ?? false
    }

    /// Names this process as the holder, for others to see: again after a fork. No promise, only a message's text.
    func nameHolder() { write("\(CurrentProcess.id)") }

    /// Writes over what is there, always the same number of bytes: on a full disk there is no other room than what the file has.
    private func write(_ text: String) {
        let line = Array(text.utf8) + [UInt8](repeating: 10, count: max(1, 12 - text.utf8.count))
        let buffer = PageBuffer(count: line.count)
        buffer.copy(line, to: 0)
        try? file.write(buffer, 0..<line.count, at: 0)
    }

    /// Gives the lock back. The file stays: removing it would let two processes lock two files.
    func release() {
        write("")
        try? file.unlock()
        try? file.close()
    }
}
