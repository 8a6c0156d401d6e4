import CLinux
import SecureFileCore

/// Other processes, by /proc. Of those of other users only root sees much.
enum Processes {
    struct Busy {
        var pid: Int32
        var command: [UInt8]
        /// The first use found, such as `working directory` or `open file docs/letter`.
        var use: String
    }

    static var all: [Int32] { System.entries("/proc").compactMap { Int32(String(decoding: $0, as: UTF8.self)) }.filter { $0 > 0 }.sorted() }

    /// The name a process has given itself, at most 15 bytes.
    static func command(_ pid: Int32) -> [UInt8] { (System.content("/proc/\(pid)/comm", limit: 256) ?? []).filter { $0 != 10 } }

    static func arguments(_ pid: Int32) -> [[UInt8]] {
        (System.content("/proc/\(pid)/cmdline") ?? []).split(separator: 0, omittingEmptySubsequences: false).map { Array($0) }
    }

    /// The processes that use something under `mountPoint`.
    static func using(_ mountPoint: [UInt8]) -> [Busy] {
        all.compactMap { pid in use(pid, mountPoint).map { Busy(pid: pid, command: command(pid), use: $0) } }
    }

    private static func use(_ pid: Int32, _ mountPoint: [UInt8]) -> String? {
        for (link, words) in [("cwd", "its working directory"), ("root", "its root directory"), ("exe", "runs from it")] {
            if let target = System.link("/proc/\(pid)/\(link)"), System.isInside(target, mountPoint) { return words }
        }
        for number in System.entries("/proc/\(pid)/fd") {
            if let target = System.link("/proc/\(pid)/fd/\(String(decoding: number, as: UTF8.self))"), System.isInside(target, mountPoint) {
                let name = target.dropFirst(mountPoint.count).drop { $0 == UInt8(ascii: "/") }
                return name.isEmpty ? "has it open" : "has open: \(Escaped(name))"
            }
        }
        // Lines of maps end with the path, newlines in it as \012.
        for line in (System.content("/proc/\(pid)/maps") ?? []).split(separator: 10) {
            guard let start = line.firstIndex(of: UInt8(ascii: "/")) else { continue }
            if System.isInside(line[start...], mountPoint) {
                return "has mapped: \(Escaped(line[start...].dropFirst(mountPoint.count).drop { $0 == UInt8(ascii: "/") }))"
            }
        }
        return nil
    }

    /// The process that serves a mount, as far as it can be told.
    static func server(of mount: MountTable.Entry) -> Int32? {
        if !mount.isReadOnly, let holder = VaultUse.holder(of: RawPath(mount.source)) { return holder }
        // A read-only mount holds no lock, and a vault whose path is no text is not found by it: by its command line.
        return all.first { pid in
            guard pid != CurrentProcess.id, command(pid).elementsEqual("sfs".utf8) else { return false }
            let words = arguments(pid)
            // `sfs mount …`, or `sfs /vault /mountpoint …`: no other command serves anything.
            guard words.count > 3, words[1].elementsEqual("mount".utf8) || words[1].contains(UInt8(ascii: "/")) else { return false }
            return words.dropFirst(2).contains { argument in
                if argument == mount.mountPoint { return true }
                guard !argument.isEmpty, !argument.contains(0), let real = try? System.realPathOfParent(RawPath(argument)) else {
                    return false
                }
                return real.bytes.elementsEqual(mount.mountPoint)
            }
        }
    }

    /// Waits until the process has ended, at most `milliseconds`.
    static func waitForEnd(_ pid: Int32, milliseconds: Int32) -> Bool { CLinux_wait_for_end(pid, milliseconds) == 1 }
}
