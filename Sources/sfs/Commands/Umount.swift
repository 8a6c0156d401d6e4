import SecureFS
import SecureFileCore

enum Umount: Command {
    static let name = "umount"
    static let operands = ["MOUNTPOINT"]
    static let options: [Option] = [.lazy]
    static let summary = "Unmount a vault, and wait until everything is written and its process has ended."
    static let details = """
        If it is in use, nothing is done and the processes that use it are named.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let given = arguments.operands[0]
        let isLazy = arguments.has(.lazy)
        let entry = try find(given)
        let server = Processes.server(of: entry)
        // Without that it can still be unmounted, but not be told how it ended.
        let attendance = try? server.flatMap(MountControl.init(pid:))?.attend()
        try unmount(entry, given, isLazy)
        guard let server else { return .success }
        if Processes.waitForEnd(server, milliseconds: isLazy ? 2_000 : 10_000) { return try success(attendance, given) }
        if isLazy {
            Console.complain(name, given, "detached, but still in use: process \(server) has the key until the last file of it is closed")
            return .success
        }
        Console.complain(name, given, "unmounted; waiting for process \(server) to write everything to the vault")
        _ = Processes.waitForEnd(server, milliseconds: -1)
        return try success(attendance, given)
    }

    private static func success(_ attendance: MountControl.Attendance?, _ given: RawPath) throws(Failure) -> ExitCode {
        do throws(SecureFileError) { try attendance?.requireGoodEnd() } catch {
            var failure = Failure(error, about: .vault, path: given)
            failure.message = "unmounted, but not everything could be written: " + failure.message
            throw failure
        }
        return .success
    }

    private static func find(_ given: RawPath) throws(Failure) -> MountTable.Entry {
        let real: RawPath
        do throws(Errno) {
            do throws(Errno) { real = try System.realPath(given) } catch {
                if error == .noEntry || error == .notDirectory { throw error }
                // The server has died: the place itself cannot be looked at, but the folder above it can.
                real = try System.realPathOfParent(given)
            }
        } catch { throw Failure(.notMounted, "cannot be looked at: \(error)", path: given) }
        guard let entry = MountTable().top(at: real) else { throw Failure(.notMounted, "nothing is mounted there", path: given) }
        guard entry.isVault else {
            throw Failure(.notMounted, "what is mounted there is no vault (\(entry.type)): use umount(8)", path: given)
        }
        return entry
    }

    private static func unmount(_ entry: MountTable.Entry, _ given: RawPath, _ isLazy: Bool) throws(Failure) {
        do throws(Unmounting.Refusal) { try Unmounting.unmount(RawPath(entry.mountPoint), isLazy: isLazy) } catch {
            if !MountTable().entries.contains(where: { $0.id == entry.id }) { return }  // another was faster
            switch error {
            case .busy: throw busy(entry, given)
            case .noHelper: throw Failure(.fuseUnavailable, "fusermount3 cannot be run: install the package fuse3", path: given)
            case .other(let cause, let message):
                let code = cause.map { ExitCode($0, about: .entry) } ?? .permissionDenied
                throw Failure(code, "cannot be unmounted; only who has mounted it, or root, can: \(message)", path: given)
            }
        }
    }

    /// Says who is in the way.
    private static func busy(_ entry: MountTable.Entry, _ given: RawPath) -> Failure {
        let mounts = MountTable().below(entry).map { "  mount on \(Escaped($0.mountPoint))" }
        let users = Processes.using(entry.mountPoint).map { "  process \($0.pid) (\(Escaped($0.command))): \($0.use)" }
        var lines = ["in use: nothing was done. Close what uses it and try again, or use --lazy"]
        lines += (mounts + users).prefix(20)
        if mounts.count + users.count > 20 { lines.append("  and \(mounts.count + users.count - 20) more") }
        if mounts.isEmpty && users.isEmpty { lines.append("  (by a process that only root can see)") }
        return Failure(.mountBusy, lines.joined(separator: "\n"), path: given)
    }
}
