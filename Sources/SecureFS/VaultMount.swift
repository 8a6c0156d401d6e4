import SecureFileCore

/// Mounting a vault: what `sfs mount` does once it has the vault open.
public enum VaultMount {
    /// How to mount.
    public struct Options: Sendable {
        public var readOnly = false
        public var allowOther = false
        /// `.stores` is listed in the root.
        public var showsStores = false
        /// Sockets, pipes and devices are shown, and may be made.
        public var showsSpecialFiles = false
        /// Options of mount(8) that are passed on as they are.
        public var passedOn: [String] = []
        /// The key goes after so many minutes in which no program asks for anything; 0: never.
        public var autoLockMinutes = 0
        /// What the mount shows as its source.
        public var source = "sfs"
        public init() {}
    }

    /// How the engine is to behave under a mount: the vault is to be opened with these.
    public static var contentOptions: ContentContext.Options {
        var options = ContentContext.Options()
        options.keepsModificationTimes = true
        // The kernel has collected the data already, and sends a small file in one piece: waiting for flush would only cost more calls.
        options.writesNewDataAtOnce = true
        return options
    }

    /// Why a mount failed, or did not end well.
    public struct Failure: Error, CustomStringConvertible {
        public enum Kind: Sendable { case mount, finish }
        public var kind: Kind
        public var message: String
        public var description: String { message }
    }

    /// Mounts `vault` on `mountPoint`, serves it until it is unmounted or a signal ends it (SIGINT, SIGTERM, SIGHUP), and closes the vault.
    ///
    /// To be called in the process that is to serve, after any fork, with no other thread running.
    ///
    /// - Parameters:
    ///   - vault: Opened with ``contentOptions``.
    ///   - log: Takes lines about failing files; never a plaintext name.
    ///   - ready: Called once the mount is there and served.
    /// - Throws: `.mount` when it could not be mounted; `.finish` when it was, but what was written last may not be safe.
    public static func serve(
        _ vault: Vault, at mountPoint: RawPath, _ options: Options, log: @escaping @Sendable (String) -> Void, ready: () -> Void
    ) throws(Failure) {
        MountServer.prepareProcess()
        vault.nameHolder()
        vault.showsSpecialFiles = options.showsSpecialFiles
        let mount: LockableMount
        do throws(Errno) {
            mount = try LockableMount(vault, showsStores: options.showsStores, MountLog(log))
        } catch { throw Failure(kind: .mount, message: "\(vault.path): the vault's folder cannot be examined: \(error)") }
        var served: Failure?
        do throws(MountFailure) {
            try MountServer.serve(
                mount.fileSystem, at: mountPoint, mountOptions(vault, options),
                start: { () throws(Errno) in try mount.start(autoLockMinutes: options.autoLockMinutes) },
                served: { mount.attach($0) }, ready: ready)
        } catch { served = Failure(kind: .mount, message: error.message) }
        do throws(SecureFileError) { try mount.finish() } catch {
            throw Failure(kind: .finish, message: "\(vault.path): not everything could be written: \(error)")
        }
        if let served { throw served }
    }

    private static func mountOptions(_ vault: Vault, _ options: Options) -> MountOptions {
        var mount = MountOptions()
        mount.readOnly = options.readOnly || vault.access == .readOnly
        mount.allowOther = options.allowOther
        mount.source = options.source
        mount.passedOn = options.passedOn
        return mount
    }
}
