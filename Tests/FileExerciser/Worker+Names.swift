import CLinux
import Glibc

/// Operations on names, handles and times.
extension Worker {
    func attend(_ operation: Operation, _ subject: Subject) throws {
        switch operation {
        case .sync, .dataSync:
            record(operation, subject)
            let descriptor = try subject.handle([.plain, .second, .append, .direct, .reading], &generator)
            try call("fsync") { operation == .sync ? fsync(descriptor) : fdatasync(descriptor) }
        case .open, .close: try turn(operation, subject)
        case .setTimes:
            let seconds = Int(1_000_000_000 + generator.below(900_000_000))
            record(operation, subject, Int64(seconds))
            let times = [timespec(tv_sec: 1, tv_nsec: Int(UTIME_OMIT_VALUE)), timespec(tv_sec: seconds, tv_nsec: seconds % 1_000_000_000)]
            let descriptor = try subject.handle([.plain, .second, .reading], &generator)
            try call("futimens") { unsafe futimens(descriptor, times) }
            subject.stamp = seconds
        case .drop:
            record(operation, subject)
            let descriptor = try subject.handle([.plain, .second, .reading], &generator)
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        case .unnamed: try unnamed(subject)
        default: try name(operation, subject)
        }
    }

    private var UTIME_OMIT_VALUE: Int { CLinux_UTIME_OMIT }

    /// Opened and closed: at most six handles, and none at all now and then where there is a name.
    private func turn(_ operation: Operation, _ subject: Subject) throws {
        record(operation, subject)
        if operation == .open, subject.handles.count < 6 { return try subject.open(generator.pick(Handle.Way.allCases)) }
        let least = subject.names.isEmpty ? 1 : 0
        if subject.handles.count > least { try subject.close(at: Int(generator.below(Int64(subject.handles.count)))) }
    }

    /// A file that never had a name: O_TMPFILE, a name by linkat or none at all.
    private func unnamed(_ subject: Subject) throws {
        record(.unnamed, subject)
        try forget(subject)
        let folder = folder
        let flags = CLinux_O_TMPFILE | O_RDWR | O_CLOEXEC
        guard let descriptor = try call("open O_TMPFILE", allowed: [EOPNOTSUPP], { unsafe CLinux_openat(AT_FDCWD, folder, flags, 0o644) }) else {
            refused.insert(.unnamed)
            return try subject.create(newName(subject))
        }
        subject.handles = [Handle(way: .plain, descriptor: descriptor)]
        memory.fill(5000, &generator)
        let count = Int(min(subject.profile.limit, generator.below(5000)))
        let got = try call("write") { unsafe pwrite(descriptor, memory.pointer(0..<count), count, 0) }
        if got != count { throw Failure("write to O_TMPFILE: \(got ?? -1) bytes of \(count)") }
        subject.model.write(memory, count, at: 0)
        if generator.one(in: 3) { return }
        let name = newName(subject), path = subject.path
        try call("linkat of O_TMPFILE") { unsafe linkat(AT_FDCWD, path, AT_FDCWD, name, CLinux_AT_SYMLINK_FOLLOW) }
        subject.names = [name]
    }

    /// All names and handles of it go, and what it held.
    private func forget(_ subject: Subject) throws {
        for name in subject.names { try call("unlink") { unsafe Glibc.unlink(name) } }
        subject.names = []
        try subject.closeAll()
        subject.model = Model()
        subject.stamp = nil
    }

    private func name(_ operation: Operation, _ subject: Subject) throws {
        record(operation, subject, Int64(subject.names.count))
        guard let old = subject.names.first else {
            // It has no name: its time is over, now and then.
            if generator.one(in: 2) { try begin(subject) }
            return
        }
        let new = newName(subject)
        switch operation {
        case .link:
            guard subject.names.count < 4 else { return }
            try call("link") { unsafe Glibc.link(old, new) }
            subject.names.append(new)
        case .unlink:
            guard subject.names.count > 1 else { return }
            try call("unlink") { unsafe Glibc.unlink(old) }
            subject.names.removeFirst()
        case .rename:
            try call("rename") { unsafe Glibc.rename(old, new) }
            subject.names[0] = new
        case .exchange:
            let other = generator.pick(subjects)
            guard other !== subject, let its = other.names.last else { return }
            try call("renameat2 EXCHANGE") { unsafe CLinux_renameat2(AT_FDCWD, old, AT_FDCWD, its, CLinux_RENAME_EXCHANGE) }
            subject.names[0] = its
            other.names[other.names.count - 1] = old
        case .replace: try replace(subject, old, new)
        default:
            // Unlinked, but open: it goes on without a name.
            if subject.handles.isEmpty { try subject.open(.plain) }
            for name in subject.names { try call("unlink") { unsafe Glibc.unlink(name) } }
            subject.names = []
        }
        try subject.checkStatus()
    }

    /// As editors save: a new file, synced or not, renamed over the old one, which may still be open and has to stay what it was.
    private func replace(_ subject: Subject, _ old: String, _ new: String) throws {
        let successor = Subject(subject.profile, number: subject.number)
        try successor.create(new)
        let count = Int(min(subject.profile.limit, generator.below(20_000)))
        memory.fill(count, &generator)
        let descriptor = successor.handles[0].descriptor
        let got = try call("write") { unsafe Glibc.write(descriptor, memory.pointer(0..<count), count) }
        if got != count { throw Failure("write: \(got ?? -1) bytes of \(count)") }
        successor.model.write(memory, count, at: 0)
        if generator.one(in: 2) { try call("fsync") { fsync(descriptor) } }
        try call("rename over") { unsafe Glibc.rename(new, old) }
        subject.names.removeFirst()
        try subject.checkStatusIfOpen()
        if let handle = subject.handles.first(where: { $0.way != .direct }) {
            try subject.compare(handle.descriptor, memory, Int(min(subject.model.size, 65536)), at: 0, "read of what was renamed over")
        }
        for name in subject.names { try call("unlink") { unsafe Glibc.unlink(name) } }
        try subject.closeAll()
        subject.model = successor.model
        subject.handles = successor.handles
        subject.names = [old]
        subject.stamp = nil
    }
}

extension Subject {
    func checkStatusIfOpen() throws {
        if !handles.isEmpty { try checkStatus() }
    }
}
