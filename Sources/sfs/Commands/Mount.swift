import CLinux
import Glibc
import SecureFS
import SecureFileCore

enum Mount: Command {
    static let name = "mount"
    static let operands = ["VAULT", "MOUNTPOINT"]
    static let options: [Option] = [.mountOptions, .foreground, .autoLock] + Option.ofKeys
    static let summary = "Mount a vault: its plaintext appears under the mount point."
    static let details = """
        Returns once the mount is there; a process in the background serves it until `sfs umount`. With -f it stays in front until
        it is unmounted or interrupted. One process at a time mounts a vault for writing; any number mount it with -o ro.
        In /etc/fstab: VAULT MOUNTPOINT fuse.sfs passfile=FILE 0 0
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let vault = arguments.operands[0]
        var options = try MountOptionList(arguments.values(.mountOptions))
        options.autoLockMinutes = try arguments.number(.autoLock, in: MountOptionList.autoLockRange) ?? options.autoLockMinutes
        if options.passfile != nil {
            if let other = Option.ofKeys.first(where: arguments.has) { throw .usage("-o passfile and --\(other.name) exclude each other") }
        }
        // What can be refused is refused before anything is asked for.
        _ = try explaining(.vault, vault) { () throws(SecureFileError) in try Vault.readConfiguration(at: vault) }
        let source: RawPath
        do throws(Errno) { source = try System.realPath(vault) } catch {
            throw Failure(error, "cannot be opened", about: .vault, path: vault)
        }
        let place = try MountPlace(arguments.operands[1], for: source, options)
        if !options.isReadOnly, let holder = VaultUse.holder(of: source) { throw .inUse(vault, holder) }
        let job = MountJob(vault: vault, source: source, given: arguments.operands[1], place: place.path, options: options)
        let credential = try credential(arguments, options, vault)
        if arguments.has(.foreground) {
            try job.serve(credential, log: { Console.complain(name, nil, $0) }, ready: {})
            return .success
        }
        return inBackground(job, credential)
    }

    private static func credential(_ arguments: Arguments, _ options: MountOptionList, _ vault: RawPath) throws(Failure) -> HeldCredential {
        guard let passfile = options.passfile else { return try Secrets(arguments).credential(for: vault) }
        return HeldCredential(.passphrase(try Secrets.fromFile(RawPath(passfile), .passphrase)))
    }

    /// Goes on in a child process; the parent ends, with our exit code, when the mount is there or has failed.
    private static func inBackground(_ job: MountJob, _ credential: HeldCredential) -> ExitCode {
        var channel: Int32 = -1
        guard unsafe CLinux_fork_and_wait(&channel) == 0 else {
            Console.complain(name, job.given, "no process for the mount can be started: \(Errno(rawValue: CLinux_errno()))")
            return .failure
        }
        _ = unsafe chdir("/")  // whatever folder this was started in stays free to be removed and unmounted
        let report = channel
        var isServing = false
        do throws(Failure) {
            try job.serve(credential, log: SystemLog.write) {
                isServing = true
                CLinux_report(report, 0)
            }
            return .success
        } catch {
            if isServing {
                SystemLog.write((error.path.map { "\(Escaped($0.bytes)): " } ?? "") + error.message)
            } else {
                Console.complain(name, error.path, error.message)
                CLinux_report(report, error.code.rawValue)
            }
            return error.code
        }
    }
}

/// A mount to be made and served.
private struct MountJob {
    /// As the user calls it, and its real path.
    var vault, source: RawPath
    var given, place: RawPath
    var options: MountOptionList

    func serve(_ credential: HeldCredential, log: @escaping @Sendable (String) -> Void, ready: () -> Void) throws(Failure) {
        let opened = try explaining(.vault, vault) { () throws(SecureFileError) in
            try credential.use { (credential) throws(SecureFileError) in
                try Vault.open(
                    at: source, credential, options.isReadOnly ? .readOnly : .readWrite, content: VaultMount.contentOptions, log: log)
            }
        }
        var mount = VaultMount.Options()
        mount.readOnly = options.isReadOnly
        mount.allowOther = options.allowsOther
        mount.showsStores = options.showsStores
        mount.showsSpecialFiles = options.showsSpecialFiles
        mount.autoLockMinutes = options.autoLockMinutes
        mount.passedOn = options.passedOn
        mount.source = source.description
        do throws(VaultMount.Failure) {
            try VaultMount.serve(opened, at: place, mount, log: log, ready: ready)
        } catch {
            switch error.kind {
            case .mount:
                // What a missing fusermount3 says may contain the same words.
                let isRefused =
                    !error.message.contains("exec") && (error.message.contains("ermission denied") || error.message.contains("not permitted"))
                throw Failure(isRefused ? .permissionDenied : .fuseUnavailable, "cannot be mounted: \(error.message)", path: given)
            case .finish: throw Failure(.failure, error.message)
            }
        }
    }
}
