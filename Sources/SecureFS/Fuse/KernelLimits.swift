import CLinux
import SecureFileCore

/// What the kernel may hold of a mount's data: /sys/class/bdi/MAJOR:MINOR, of which the kernel's Documentation/ABI/testing/sysfs-class-bdi tells.
/// Root's to set.
enum KernelLimits {
    /// Percent of all the data the machine may have unwritten. FUSE starts with 1, some 40 MB on a machine with 24 GB, and makes a program that
    /// writes wait for us from half of that on. (The limit is there to protect a machine from servers that do not write: a tenth protects it too.)
    static let unwrittenPercent = 10
    /// KiB read ahead of a program that reads a file from its start; FUSE starts with 128, a request each.
    static let readAhead = 1024

    /// Raises the limits of the mount at `path`. Where that is not allowed, or not known, they stay as they are.
    static func raise(at path: RawPath) {
        var (major, minor): (UInt32, UInt32) = (0, 0)
        guard unsafe path.withCString({ unsafe CLinux_device_of($0, &major, &minor) }) == 0 else { return }
        let folder = "/sys/class/bdi/\(major):\(minor)/"
        for (name, value) in [("max_ratio", unwrittenPercent), ("read_ahead_kb", readAhead)] { set(folder + name, value) }
    }

    private static func set(_ path: String, _ value: Int) {
        guard let file = try? FileDescriptor.open(RawPath(path), .writeOnly) else { return }
        try? file.writeStream(Array("\(value)".utf8))
    }
}
