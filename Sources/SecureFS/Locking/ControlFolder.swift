import SecureFileCore

/// Where a mount's control socket is: in a folder of its user alone.
package enum ControlFolder {
    /// The folder of a user.
    package static func path(of user: UInt32) -> RawPath {
        if user == 0 { return RawPath("/run/sfs") }
        let runtime = RawPath("/run/user/\(user)")
        if let status = try? FileDescriptor.open(runtime, [.pathOnly, .directory, .noFollow]).status(), status.owner == user {
            return runtime.appending("sfs")
        }
        return RawPath("/tmp/.sfs-\(user)")
    }

    /// The socket of the mount that the process `pid` of `user` serves.
    package static func socket(of pid: Int32, user: UInt32) -> RawPath { path(of: user).appending("\(pid).sock") }

    /// Makes the folder of `user`, who runs this process, and makes sure that nobody else can get in.
    static func make(for user: UInt32) throws(Errno) -> RawPath {
        let path = path(of: user)
        let here = try FileDescriptor.open(RawPath("/"), [.pathOnly, .directory])
        do throws(Errno) { try here.makeDirectory(path, permissions: 0o700) } catch {
            if error != .exists { throw error }
        }
        let status = try FileDescriptor.open(path, [.pathOnly, .directory, .noFollow]).status()
        guard status.owner == user, status.permissions & 0o077 == 0 else { throw .accessDenied }
        return path
    }

    /// Removes the sockets of processes that have died.
    static func removeStale(in path: RawPath) {
        guard let folder = try? FileDescriptor.open(path, [.readOnly, .directory, .noFollow]), let stream = try? DirectoryStream(folder) else { return }
        while let entry = (try? stream.next()) ?? nil {
            let name = String(decoding: entry.name, as: UTF8.self)
            guard name.hasSuffix(".sock"), let pid = Int32(name.dropLast(5)), pid > 0 else { continue }
            if (try? FileDescriptor.open(RawPath("/proc/\(pid)"), [.pathOnly, .directory])) == nil { try? folder.remove(RawPath(name)) }
        }
    }
}
