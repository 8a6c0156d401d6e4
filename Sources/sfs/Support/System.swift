import CLinux
import Glibc
import SecureFileCore

/// What the commands ask the operating system.
enum System {
    /// The absolute path without symlinks that `path` leads to. Works for any bytes.
    static func realPath(_ path: RawPath) throws(Errno) -> RawPath {
        let opened = try FileDescriptor.open(path, .pathOnly)
        return RawPath(try opened.symlinkTarget(RawPath("/proc/self/fd/\(opened.rawValue)")))
    }

    /// The same for a path whose last component need not exist, or cannot be looked at because the server of a mount there has died.
    static func realPathOfParent(_ path: RawPath, linksLeft: Int = 40) throws(Errno) -> RawPath {
        let (parent, name) = split(path)
        if name.isEmpty { return try realPath(parent) }
        let real = try realPath(parent)
        if linksLeft > 0, let target = link(real.appending(name)), !target.isEmpty {
            let next = target.first == UInt8(ascii: "/") ? RawPath(target) : real.appending(RawPath(target))
            return try realPathOfParent(next, linksLeft: linksLeft - 1)
        }
        return real.bytes.elementsEqual("/".utf8) ? RawPath(Array("/".utf8) + name.bytes) : real.appending(name)
    }

    /// The folder of a path and its last component, which is empty for `/`, `.` and `..`.
    static func split(_ path: RawPath) -> (parent: RawPath, name: RawPath) {
        var bytes = Array(path.bytes)
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        let name = Array(bytes.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed())
        if name.isEmpty || name == [46] || name == [46, 46] { return (RawPath(bytes), RawPath("")) }
        var parent = bytes.dropLast(name.count)
        while parent.count > 1, parent.last == UInt8(ascii: "/") { parent.removeLast() }
        return (parent.isEmpty ? RawPath(".") : RawPath(parent), RawPath(name))
    }

    /// Status of what `path` leads to, symlinks followed.
    static func status(_ path: RawPath) throws(Errno) -> FileStatus { try FileDescriptor.open(path, .pathOnly).status() }

    static var isRoot: Bool { geteuid() == 0 }

    /// Whether this process may write to `path`. The corresponding C function is `access`.
    static func mayWrite(_ path: RawPath) -> Bool { unsafe path.withCString { unsafe access($0, W_OK) } == 0 }

    /// The whole content of a file of /proc, which tells no size; nil where it cannot be read.
    static func content(_ path: String, limit: Int = 16 << 20) -> [UInt8]? {
        guard let file = try? FileDescriptor.open(RawPath(path), .readOnly) else { return nil }
        return try? file.readStream(limit: limit)
    }

    static func link(_ path: String) -> [UInt8]? { link(RawPath(path)) }

    /// The target of a symlink; nil for anything else. `path` is absolute.
    static func link(_ path: RawPath) -> [UInt8]? { try? Console.descriptor(2).symlinkTarget(path) }

    static func entries(_ path: String) -> [[UInt8]] {
        guard let folder = try? FileDescriptor.open(RawPath(path), [.readOnly, .directory]), let stream = try? DirectoryStream(folder)
        else { return [] }
        var names: [[UInt8]] = []
        while let entry = (try? stream.next()) ?? nil { if entry.name != [46] && entry.name != [46, 46] { names.append(entry.name) } }
        return names
    }

    /// Whether `folder` is `path`, or one of the folders above it. Both absolute, without symlinks.
    static func isInside(_ path: some Collection<UInt8>, _ folder: some Collection<UInt8>) -> Bool {
        if folder.elementsEqual("/".utf8) { return path.first == UInt8(ascii: "/") }
        guard path.starts(with: folder) else { return false }
        return path.count == folder.count || path.dropFirst(folder.count).first == UInt8(ascii: "/")
    }

    /// A time as `2026-11-30 08:09:10`, in UTC.
    static func timestamp(_ seconds: Int64) -> String {
        func floorDivided(_ number: Int64, by divisor: Int64) -> Int64 {
            number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
        }
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = floorDivided(seconds, by: 86400)
        let second = seconds - day * 86400
        // Days since 0000-03-01 in eras of 400 years: leap days come last in such a year.
        let shifted = day + 719_468
        let era = floorDivided(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = "\(year)-\(two(month))-\(two(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1))"
        return date + " \(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
    }
}
