import FoundationEssentials
import Synchronization

/// An open secure file: what is written through it is encrypted, what is read through it decrypted. Foundation's `FileHandle`, and AppConnect's
/// `ACFileHandle`, for secure files.
///
/// It works on regular files only: standalone secure files anywhere, and files of the vault that the service has open, by their plaintext
/// paths. An empty file is a new secure file; a plaintext file with content is refused, and left as it is. Each call exists in a throwing form;
/// those of the old `FileHandle` exist too, and never stop the process: what they could not do, ``lastError`` tells. docs/API.md has the table.
///
/// **Position.** Reads and writes go on where the last ended; positional calls do not move it. Seeking past the end is allowed: a write there
/// leaves a hole that reads as zeros. A call that fails does not move it.
///
/// **Other handles.** All handles of one service on a file see each other's writes at once. A standalone file that is open for writing in
/// another process or service is `.inUse` to a second writer; readers elsewhere see what has reached the store. A vault has one writing process.
///
/// **Durability.** Writes may stay in memory for some seconds, as in a page cache: ``synchronize()`` makes them survive a loss of power,
/// ``close()`` brings them to the filesystem. After a crash each block has its old or a later content, whole.
///
/// **The key.** When the service is locked, everything is written first; then all calls fail with `.keyNotAvailable` until it is unlocked, and
/// the handle goes on at its position.
///
/// Safe to use from several threads: each call is done alone, where it uses the position.
public final class SecureFileHandle: Sendable {
    /// What a handle may do.
    public enum Mode: Sendable {
        case reading, writing, updating
        var reads: Bool { self != .writing }
        var writes: Bool { self != .reading }
    }

    struct Position: Sendable {
        /// Bytes from the start.
        var offset: Int64 = 0
        var isClosed = false
    }

    /// The file as the caller called it.
    public let path: String
    public let mode: Mode
    let services: SecureServices
    let content: SharedContent
    let position = Mutex(Position())
    private let failure = Mutex<SecureFileError?>(nil)

    /// Opens the file at `path`. Nothing is made, cut or changed.
    ///
    /// - Parameters:
    ///   - path: A symlink as its last part is refused.
    ///   - services: Who has the key.
    /// - Throws: ``SecureFileError``: `.keyAbsent`, `.keyNotAvailable`, `.keyRetired`; `.notFound`, `.permissionDenied`; `.regularFileOnly`;
    ///   `.notSecureFile` (plaintext, or a vault's backing file); `.wrongKey`, `.damaged`, `.truncated`, `.unsupportedVersion`; `.inUse` (for
    ///   writing); `.readOnly` (a vault that is open for reading); `.system`.
    public convenience init(opening path: String, for mode: Mode, services: SecureServices = .shared) throws(SecureFileError) {
        try self.init(opening: RawPath(path), for: mode, services: services)
    }

    /// The same for a path of any bytes.
    public init(opening path: RawPath, for mode: Mode, services: SecureServices = .shared) throws(SecureFileError) {
        do throws(SecureFileError) {
            content = try services.open(path, writing: mode.writes)
        } catch { throw services.refined(error).named(path) }
        self.path = path.description
        self.mode = mode
        self.services = services
    }

    deinit {
        // Dropped without a close: what it wrote is not to be lost for that. Whoever wants to hear of a failure closes.
        do throws(SecureFileError) { try close() } catch { services.log("\(path): closed late: \(error.message)") }
    }

    // MARK: The life of a handle

    /// Closes the handle: with the last one that writes, everything is brought to the filesystem, and a standalone file of more than 3839
    /// bytes that was changed is synced and marked as closed cleanly. The handle counts as closed in any case; a second call does nothing.
    ///
    /// - Throws: ``SecureFileError``: `.noSpace`, `.system`: what was written since the last ``synchronize()`` may be lost.
    public func close() throws(SecureFileError) {
        try position.withLock { (position) throws(SecureFileError) in
            if position.isClosed { return }
            position.isClosed = true
            defer { services.openFiles.leave(content) }
            do throws(SecureFileError) { try content.leave(writing: mode.writes) } catch { throw services.refined(error) }
        }
    }

    /// Everything written to the file so far is on the disk when this returns, with owner, mode and times. A handle for reading does nothing.
    ///
    /// - Throws: ``SecureFileError``: `.closed`, `.keyNotAvailable`, `.keyRetired`, `.noSpace`, `.system`. Then nothing is known to be durable
    ///   that was not before; what was written is still in memory, and the handle can be used.
    public func synchronize() throws(SecureFileError) {
        try using { (_) throws(SecureFileError) in
            if mode.writes { try content.writer().synchronize() } else { _ = try content.reading { file throws(SecureFileError) in try file.knownSize() } }
        }
    }

    // MARK: For all calls

    /// Runs `body` alone among the calls that use the position.
    func using<R: Sendable>(_ body: (inout Position) throws(SecureFileError) -> R) throws(SecureFileError) -> R {
        try position.withLock { (position) throws(SecureFileError) in
            if position.isClosed { throw closed }
            services.noteUse()
            do throws(SecureFileError) { return try body(&position) } catch { throw services.refined(error) }
        }
    }

    /// Makes sure that a positional call is allowed.
    func requireOpen() throws(SecureFileError) {
        if position.withLock({ $0.isClosed }) { throw closed }
        services.noteUse()
    }

    private var closed: SecureFileError { SecureFileError(.closed, "the handle is closed", path: path) }

    func requireReading() throws(SecureFileError) {
        if !mode.reads { throw SecureFileError(.invalidArgument, "the handle is for writing only", path: path, cause: .badDescriptor) }
    }

    func requireWriting() throws(SecureFileError) {
        if !mode.writes { throw SecureFileError(.invalidArgument, "the handle is for reading only", path: path, cause: .badDescriptor) }
    }

    // MARK: What went wrong

    /// Why the last call of the old forms that failed did so; nil where none has. The counterpart of `ACSecureFileLastError`.
    public var lastError: SecureFileError? { failure.withLock { $0 } }

    func note(_ error: SecureFileError) { failure.withLock { $0 = error } }

    /// Runs a call of the old forms: a failure is noted, and gives `fallback`.
    func noting<R>(_ fallback: R, _ body: () throws(SecureFileError) -> R) -> R {
        do throws(SecureFileError) { return try body() } catch {
            note(error)
            return fallback
        }
    }
}

/// The name of the seed.
public typealias ACFileHandle = SecureFileHandle

extension SecureServices {
    /// The content of the file at `path`, with one more handle.
    func open(_ path: RawPath, writing: Bool) throws(SecureFileError) -> SharedContent {
        let place = try place(of: path)
        var (context, vault): (ContentContext, Vault?) = (try standaloneContext(), nil)
        if case .vault = place, let open = self.vault {
            (context, vault) = (open.content, open)
            if writing, open.access == .readOnly { throw Self.refusal(open) }
        }
        let descriptor = try place.open(writing ? .readWrite : .readOnly, path: path)
        let key: BackingKey
        do throws(Errno) { key = BackingKey(try descriptor.status()) } catch {
            throw SecureFileError(error, "cannot be examined", path: path.description)
        }
        let content = openFiles.join(key) { SharedContent(key, context, path: path, vault: vault) }
        do throws(SecureFileError) { try content.enter(descriptor, writing: writing) } catch {
            openFiles.leave(content)
            throw error
        }
        return content
    }

    private static func refusal(_ vault: Vault) -> SecureFileError {
        vault.isInUseElsewhere
            ? SecureFileError(.inUse, "the vault is open for writing in another process", cause: nil)
            : SecureFileError(.readOnly, "the vault was opened for reading only")
    }
}
