import SecureFS
import SecureFileCore

/// What `sfs lock` and `sfs unlock` are about: a vault, and the mounts of it.
struct LockTarget {
    /// The vault's folder.
    let vault: RawPath
    let mounts: [MountTable.Entry]
    /// Of the vault's key.
    let keyID: UInt64

    /// - Parameter given: A mount point or a vault's folder.
    init(_ given: RawPath) throws(Failure) {
        let real: RawPath
        do throws(Errno) { real = try System.realPath(given) } catch { throw Failure(error, "cannot be opened", about: .vault, path: given) }
        let table = MountTable()
        if let mount = table.top(at: real), mount.isVault {
            (vault, mounts) = (RawPath(mount.source), [mount])
        } else {
            vault = real
            mounts = table.entries.filter { $0.isVault && real.bytes.elementsEqual($0.source) }
        }
        let folder = vault
        keyID = try explaining(.vault, given) { () throws(SecureFileError) in try Vault.readConfiguration(at: folder) }.keyID
    }

    /// Gives an order to each mount.
    func forEachMount(_ order: (MountControl) throws(SecureFileError) -> Void) throws(Failure) {
        for mount in mounts {
            let place = RawPath(mount.mountPoint)
            guard let control = Processes.server(of: mount).flatMap(MountControl.init(pid:)) else {
                throw Failure(.failure, "the process that serves the mount cannot be found", path: place)
            }
            do throws(SecureFileError) { try order(control) } catch {
                var failure = Failure(error, about: .vault, path: place)
                // The socket, not the vault.
                if error.code == .notFound { failure.code = .failure }
                throw failure
            }
        }
    }
}

extension MountControl {
    /// Of the mount that the process `pid` serves; nil where there is no such process.
    init?(pid: Int32) {
        guard let status = try? FileDescriptor.open(RawPath("/proc/\(pid)"), [.pathOnly, .directory]).status() else { return nil }
        self.init(pid: pid, user: status.owner)
    }
}
