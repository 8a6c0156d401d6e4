import Synchronization

/// The key service: it holds the key that secure files are read and written with, and can give it up and take it again while files are open.
///
/// A service has one key, that of a vault or one of the program's own. Standalone files anywhere are used with it; if the vault is opened with
/// it, so are the files in it. Handles that are open when the key goes fail with `.keyNotAvailable` until it is back, and then go on where they
/// were. Nothing here ever makes a key, a vault or a file. Safe to use from several threads.
public final class SecureServices: Sendable {
    /// What there is of the key.
    public enum State: String, Sendable, CaseIterable {
        /// No key has been given yet: calls fail with `.keyAbsent`.
        case absent
        /// There was a key; it has been taken away for now: calls fail with `.keyNotAvailable`.
        case locked
        case unlocked
        /// The key has been given up for good: calls fail with `.keyRetired`, and none can be given any more.
        case retired
    }

    /// The service that handles use unless they are given another.
    public static let shared = SecureServices()

    /// How the engine behaves for files of a service.
    static let contentOptions = {
        var options = ContentContext.Options()
        options.crew = .shared
        return options
    }()

    struct Held: Sendable {
        var state = State.absent
        /// While unlocked.
        var keys: VolumeKeys?
        /// For standalone files; there once a key was given.
        var standalone: ContentContext?
        var namespace: VaultNamespace?
    }

    let log: @Sendable (String) -> Void
    let held = Mutex(Held())
    /// Held while the state changes.
    let transition = Mutex<Void>(())
    let observers = Observers()
    let openFiles = OpenFileTable()
    let flusher = ContentFlusher()
    /// Counts calls of handles: whether there are any is all that matters.
    let uses = Atomic<UInt>(0)

    /// - Parameter log: Takes lines about what was accepted leniently or failed in the background; never a key, a name or content.
    public init(log: @escaping @Sendable (String) -> Void = { _ in }) { self.log = log }

    /// What there is of the key now.
    public var state: State { held.withLock { $0.state } }

    /// Which key it is, as files name it; not secret. Nil as long as none was given.
    public var keyID: UInt64? { held.withLock { $0.standalone?.keyID } }

    /// The vault that was opened with the key.
    public var vault: Vault? { held.withLock { $0.namespace?.vault } }

    // MARK: The key comes

    /// Takes the key from `source`. Files that were open go on where they were.
    ///
    /// Unlocked already, the source has to give the same key, and a vault it asks for is opened if none is. The state is as before where it
    /// throws.
    /// - Throws: ``SecureFileError``: `.wrongKey` (a credential that does not open the vault, or another key than this service had),
    ///   `.keyNotAvailable` (the source has none now), `.keyRetired`, `.notFound`, `.notAVault`, `.inUse` (the vault is open for writing in
    ///   another process), `.damaged`, `.tampered`, `.unsupportedVersion`, `.invalidArgument`, `.limitExceeded`, `.notSupported`, `.system`.
    public func unlock(_ source: KeySource) throws(SecureFileError) {
        if state == .retired { throw Self.retired }
        let yield = try source.fetch()
        let changed = try transition.withLock { (_) throws(SecureFileError) in try install(yield) }
        if changed { observers.tell(.unlocked) }
    }

    private func install(_ yield: KeySource.Yield) throws(SecureFileError) -> Bool {
        let before = held.withLock { $0 }
        if before.state == .retired { throw Self.retired }
        if let keyID = before.standalone?.keyID, keyID != yield.keys.keyID {
            throw SecureFileError(.wrongKey, "this is another key than the one this service had before")
        }
        let opened = try before.namespace == nil ? open(yield) : nil
        let standalone = before.standalone ?? ContentContext(
            standaloneFilesUnder: yield.keys.contentKey, keyID: yield.keys.keyID, cipher: yield.cipher, options: Self.contentOptions, log: log)
        do throws(SecureFileError) {
            try standalone.unlock(yield.keys.contentKey, keyID: yield.keys.keyID)
            try before.namespace?.vault.unlock(with: yield.keys)
        } catch {
            if before.state == .locked { try? standalone.lock(discardingUnwritten: true) }
            throw error
        }
        held.withLock { held in
            held = Held(state: .unlocked, keys: yield.keys, standalone: standalone, namespace: before.namespace ?? opened)
        }
        return before.state != .unlocked
    }

    private func open(_ yield: KeySource.Yield) throws(SecureFileError) -> VaultNamespace? {
        guard let (path, access) = yield.vault else { return nil }
        let vault = try Vault.open(at: path, with: yield.keys, access, content: Self.contentOptions, log: log)
        do throws(Errno) { return try VaultNamespace(vault) } catch {
            try? vault.close()
            throw SecureFileError(error, "the vault's folder cannot be examined", path: path.description)
        }
    }

    // MARK: The key goes

    /// Takes the key away: everything that handles have written is on the disk first, then all keys and all plaintext this service holds in
    /// memory are wiped. Without a key nothing happens.
    ///
    /// - Parameter discardingUnwritten: What cannot be written (a full disk) is given up; without it, that is an error and the key stays.
    /// - Throws: ``SecureFileError``: `.noSpace`, `.system`; the state is as before then.
    public func lock(discardingUnwritten: Bool = false) throws(SecureFileError) {
        let changed = try transition.withLock { (_) throws(SecureFileError) in try lockHeld(discardingUnwritten) }
        if changed { observers.tell(.locked) }
    }

    /// Under ``transition``.
    func lockHeld(_ discardingUnwritten: Bool) throws(SecureFileError) -> Bool {
        let before = held.withLock { $0 }
        guard before.state == .unlocked, let keys = before.keys else { return false }
        try before.standalone?.lock(discardingUnwritten: discardingUnwritten)
        do throws(SecureFileError) { try before.namespace?.vault.lock(discardingUnwritten: discardingUnwritten) } catch {
            try? before.standalone?.unlock(keys.contentKey, keyID: keys.keyID)
            throw error
        }
        held.withLock { held in
            held.keys = nil
            held.state = .locked
        }
        return true
    }

    // MARK: For handles

    /// The context of standalone files.
    ///
    /// - Throws: `.keyAbsent`, `.keyNotAvailable`, `.keyRetired`.
    func standaloneContext() throws(SecureFileError) -> ContentContext {
        let held = held.withLock { $0 }
        guard held.state == .unlocked, let context = held.standalone else { throw Self.unavailable(held.state) }
        return context
    }

    /// - Throws: `.keyAbsent`, `.keyNotAvailable`, `.keyRetired`; as ``VaultNamespace/place(of:)``.
    func place(of path: RawPath) throws(SecureFileError) -> SecurePlace {
        let held = held.withLock { $0 }
        guard held.state == .unlocked else { throw Self.unavailable(held.state).at(path.description) }
        return try held.namespace?.place(of: path) ?? .standalone(path)
    }

    /// The error as callers get it: the engine does not know why a key is not there.
    func refined(_ error: SecureFileError) -> SecureFileError {
        guard error.code == .keyNotAvailable, state == .retired else { return error }
        return Self.retired.at(error.path ?? "")
    }

    static func unavailable(_ state: State) -> SecureFileError {
        switch state {
        case .absent: SecureFileError(.keyAbsent, "no key has been given: SecureServices.unlock takes one")
        case .retired: retired
        case .locked, .unlocked: SecureFileError(.keyNotAvailable, "the key is locked away: SecureServices.unlock takes it again")
        }
    }

    static var retired: SecureFileError { SecureFileError(.keyRetired, "the key has been given up for good") }
}
