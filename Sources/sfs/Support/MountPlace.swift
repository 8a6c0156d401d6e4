import CLinux
import SecureFileCore

/// Whether a vault can be mounted on a place: found out before a passphrase is asked for.
struct MountPlace {
    /// Absolute, without symlinks.
    let path: RawPath

    /// - Parameters:
    ///   - vault: Absolute, without symlinks.
    ///   - given: What the user calls the place.
    init(_ given: RawPath, for vault: RawPath, _ options: MountOptionList) throws(Failure) {
        try Self.requireFuse()
        Self.clearDead(given)
        do throws(Errno) { path = try System.realPath(given) } catch { throw Self.refusal(error, given) }
        let place: FileDescriptor
        do throws(Errno) {
            place = try FileDescriptor.open(path, [.readOnly, .directory])
        } catch {
            if error == .notDirectory { throw Failure(.mountPoint, "the mount point is not a directory", path: given) }
            // Locked, or another user's: it cannot be looked into.
            try Self.requireUnmounted(path, given)
            throw Failure(.mountPoint, "the mount point cannot be opened: \(error)", path: given)
        }
        try requireApart(place, vault, given)
        try Self.requireUnmounted(path, given)
        if !options.allowsNonEmpty { try Self.requireEmpty(place, given) }
        if !System.isRoot, !System.mayWrite(path) {
            throw Failure(.mountPoint, "the mount point is not yours to write to; FUSE mounts only there", path: given)
        }
    }

    private static func requireUnmounted(_ path: RawPath, _ given: RawPath) throws(Failure) {
        guard let mounted = MountTable().top(at: path), mounted.isVault else { return }
        throw Failure(.mountPoint, "the vault \(Escaped(mounted.source)) is mounted there already: `sfs umount` it first", path: given)
    }

    private static func requireFuse() throws(Failure) {
        let device = RawPath("/dev/fuse")
        do throws(Errno) { _ = try System.status(device) } catch {
            throw Failure(
                .fuseUnavailable,
                "FUSE does not work here (\(error)): load the kernel's module (`modprobe fuse`), or give the container the device",
                path: device)
        }
        if !System.mayWrite(device) {
            throw Failure(.fuseUnavailable, "FUSE does not work for this user: the device may not be opened (its mode is usually 666)", path: device)
        }
    }

    /// A mount whose server has died is of no use to anybody.
    private static func clearDead(_ given: RawPath) {
        while unsafe given.withCString({ unsafe CLinux_is_dead_mount($0) }) != 0 {
            guard let real = try? System.realPathOfParent(given), let entry = MountTable().top(at: real), entry.isVault,
                Unmounting.detach(real)
            else { return }
        }
    }

    private static func refusal(_ error: Errno, _ given: RawPath) -> Failure {
        switch error {
        case .noEntry: Failure(.mountPoint, "the mount point does not exist: make the directory first", path: given)
        case .notConnected: Failure(.mountPoint, "a mount whose server has died is there: unmount it first (`fusermount3 -u`)", path: given)
        default: Failure(.mountPoint, "the mount point cannot be opened: \(error)", path: given)
        }
    }

    private static func requireEmpty(_ place: FileDescriptor, _ given: RawPath) throws(Failure) {
        do throws(Errno) {
            let stream = try DirectoryStream(place)
            while let entry = try stream.next() {
                if entry.name != [46] && entry.name != [46, 46] { throw .notEmpty }
            }
        } catch {
            if error == .notEmpty {
                throw Failure(
                    .mountPoint, "the mount point is not empty; with -o nonempty its content is hidden while mounted", path: given)
            }
            throw Failure(.mountPoint, "the mount point cannot be read: \(error)", path: given)
        }
    }

    /// Neither may be in the other: by where they are, not by their names, so that bind mounts do not deceive.
    private func requireApart(_ place: FileDescriptor, _ vault: RawPath, _ given: RawPath) throws(Failure) {
        guard let vaultFolder = try? FileDescriptor.open(vault, [.readOnly, .directory]) else { return }
        if Self.isInside(place, vaultFolder) { throw Failure(.mountPoint, "the mount point is inside the vault", path: given) }
        if Self.isInside(vaultFolder, place) {
            throw Failure(.mountPoint, "the vault is inside the mount point: it would hide itself", path: given)
        }
    }

    /// Whether `outer` is `inner`, or one of the folders above it.
    private static func isInside(_ inner: FileDescriptor, _ outer: FileDescriptor) -> Bool {
        guard let wanted = try? outer.status() else { return false }
        var folder = inner
        while let status = try? folder.status() {
            if status.inode == wanted.inode && status.device == wanted.device { return true }
            guard let above = try? folder.open(RawPath(".."), [.pathOnly, .directory]), let aboveStatus = try? above.status(),
                (aboveStatus.inode, aboveStatus.device) != (status.inode, status.device)
            else { return false }
            folder = above
        }
        return false
    }
}
