import Synchronization

/// The content of one backing inode, as all handles of one service on it share it. Safe to use from several threads.
///
/// As long as there is a writer all handles go through its ``SecureFile``. Without one the file may be written by another process at any time:
/// each call looks whether it was, and reads it anew then.
final class SharedContent: Sendable {
    let key: BackingKey
    let context: ContentContext
    /// As the first handle called it: for messages.
    let path: RawPath
    /// The vault the file is in; nil for a standalone file.
    let vault: Vault?

    private struct Open: Sendable {
        var file: SecureFile
        var descriptor: FileDescriptor
        var isWritable: Bool
        /// The backing file's status when it was read, where others may write it.
        var seen: FileStatus?
    }
    private struct State: Sendable {
        var open: Open?
        /// Of a handle that reads; a writer's will do as long as there is one.
        var readDescriptor: FileDescriptor?
        var readers = 0
        var writers = 0
        var isAbandoned = false
    }
    private let state = Mutex(State())

    init(_ key: BackingKey, _ context: ContentContext, path: RawPath, vault: Vault?) {
        self.key = key
        self.context = context
        self.path = path
        self.vault = vault
    }

    private var closed: SecureFileError { SecureFileError(.closed, "the vault was closed", path: path.description) }

    // MARK: Handles come and go

    /// One more handle. The file is read, so that what is wrong with it is known at once.
    ///
    /// - Parameter descriptor: Open as the handle needs it.
    /// - Throws: ``SecureFileError``: `.inUse` where another process, or another service, writes it; as ``SecureFile/open(_:_:path:)``.
    func enter(_ descriptor: FileDescriptor, writing: Bool) throws(SecureFileError) {
        try state.withLock { (state) throws(SecureFileError) in
            if state.isAbandoned { throw closed }
            if writing {
                if state.open?.isWritable != true { state.open = try openForWriting(descriptor) }
                state.writers += 1
            } else {
                if state.open == nil { state.open = try openForReading(descriptor) }
                if state.readDescriptor == nil { state.readDescriptor = descriptor }
                state.readers += 1
            }
        }
    }

    /// One handle less. With the last writer the file is brought to the store, and marked as closed where it is standalone.
    ///
    /// - Throws: ``SecureFileError`` where that fails; the handle has gone nevertheless.
    func leave(writing: Bool) throws(SecureFileError) {
        try state.withLock { (state) throws(SecureFileError) in
            if writing { state.writers -= 1 } else { state.readers -= 1 }
            if state.readers == 0 { state.readDescriptor = nil }
            guard let open = state.open, state.writers == 0, open.isWritable || state.readers == 0 else { return }
            // Readers open it anew: nobody keeps others from writing it any more.
            state.open = nil
            if state.isAbandoned || !open.isWritable { return }
            // By hand: a child that is just being spawned has the descriptor too, and would keep the lock a moment longer.
            defer { try? open.descriptor.unlock() }
            if vault == nil { try open.file.closeStandalone() } else { try close(open.file) }
        }
    }

    private func close(_ file: SecureFile) throws(SecureFileError) {
        // A locked vault has settled it.
        do throws(SecureFileError) { try file.flush() } catch {
            if error.code != .keyNotAvailable { throw error }
        }
        try file.settle()
    }

    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.open = nil
        }
    }

    // MARK: Opening

    private func openForWriting(_ descriptor: FileDescriptor) throws(SecureFileError) -> Open {
        if vault == nil {
            try lock(descriptor)
            let file = try SecureFile.openForWriting(PosixByteStore(descriptor), context, path: path.description)
            return Open(file: file, descriptor: descriptor, isWritable: true)
        }
        return Open(
            file: try SecureFile.open(PosixByteStore(descriptor), context, path: path.description), descriptor: descriptor, isWritable: true)
    }

    /// The right to write a standalone file, which the kernel takes back from a process that dies.
    private func lock(_ descriptor: FileDescriptor) throws(SecureFileError) {
        for attempt in 0..<4 {
            // A reader that asks whether there is a writer holds the lock for a moment.
            if attempt > 0 { CurrentProcess.pause(milliseconds: 5) }
            let isMine = try explained("cannot be locked", path: path.description) { () throws(Errno) in try descriptor.tryLock() }
            if isMine { return }
        }
        throw SecureFileError(.inUse, "is open for writing elsewhere", path: path.description)
    }

    private func openForReading(_ descriptor: FileDescriptor) throws(SecureFileError) -> Open {
        var attempts = 8
        while true {
            attempts -= 1
            do throws(SecureFileError) {
                if let vault, vault.access == .readOnly { context.follow(try vault.currentSessionRule()) }
                let seen = try explained("cannot be examined", path: path.description) { () throws(Errno) in try descriptor.status() }
                let file = try SecureFile.open(PosixByteStore(descriptor), context, path: path.description)
                return Open(file: file, descriptor: descriptor, isWritable: false, seen: seen)
            } catch {
                guard attempts > 0, error.mayBeOfAnotherWriter, mayHaveWriter(descriptor) else { throw error }
                CurrentProcess.pause(milliseconds: 20)
            }
        }
    }

    /// Whether another process may be writing the file now.
    private func mayHaveWriter(_ descriptor: FileDescriptor) -> Bool {
        if let vault { return vault.access == .readOnly && vault.isInUseElsewhere }
        return (try? descriptor.isLockedElsewhere()) ?? false
    }

    // MARK: Use

    /// Runs `body` on the file for reading it. Where another process writes it meanwhile, until it has read something whole.
    func reading<R>(_ body: (SecureFile) throws(SecureFileError) -> R) throws(SecureFileError) -> R {
        var attempts = 8
        while true {
            attempts -= 1
            let open = try current()
            do throws(SecureFileError) { return try body(open.file) } catch {
                guard attempts > 0, !open.isWritable, error.mayBeOfAnotherWriter, hasChanged(open) || mayHaveWriter(open.descriptor) else { throw error }
                forget(open)
                CurrentProcess.pause(milliseconds: 20)
            }
        }
    }

    /// Runs `body` on the file of the writers.
    @inline(__always)
    func writer() throws(SecureFileError) -> SecureFile {
        try state.withLock { (state) throws(SecureFileError) in
            guard let open = state.open, open.isWritable else { throw closed }
            return open.file
        }
    }

    /// The file as it is now.
    private func current() throws(SecureFileError) -> Open {
        try state.withLock { (state) throws(SecureFileError) in
            if state.isAbandoned { throw closed }
            if let open = state.open {
                if open.isWritable || !hasChanged(open) { return open }
                state.open = nil
            }
            guard let descriptor = state.readDescriptor else { throw closed }
            let open = try openForReading(descriptor)
            state.open = open
            return open
        }
    }

    private func hasChanged(_ open: Open) -> Bool {
        guard let seen = open.seen, let now = try? open.descriptor.status() else { return false }
        return !now.hasSameContent(as: seen)
    }

    private func forget(_ open: Open) {
        state.withLock { state in
            if let present = state.open, present.file === open.file { state.open = nil }
        }
    }
}

extension SecureFileError {
    /// What reading a file looks like while another process is in the middle of writing it.
    fileprivate var mayBeOfAnotherWriter: Bool { [.damaged, .truncated, .notSecureFile].contains(code) }
}
