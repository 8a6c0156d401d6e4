import SecureFileCore

/// How to mount.
package struct MountOptions: Sendable {
    package var readOnly = false
    /// Other users may use the mount; permissions are the files' own.
    package var allowOther = false
    /// What /proc/mounts shows as the source.
    package var source = "sfs"
    /// Options of mount(8) that are passed on as they are: nosuid, nodev, noexec, noatime, …
    package var passedOn: [String] = []
    package var tuning = LoopTuning()
    package init() {}

    /// The argument of `-o`. Permissions are always checked by the kernel; the subtype makes the mount show as fuse.sfs.
    var argument: String {
        var all = ["default_permissions", "subtype=sfs", "fsname=" + MountOptions.escaped(source)]
        if readOnly { all.append("ro") }
        if allowOther { all.append("allow_other") }
        return (all + passedOn.map(MountOptions.escaped)).joined(separator: ",")
    }

    /// libfuse splits at commas and takes a backslash as an escape.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if character == "," || character == "\\" { result.append("\\") }
            result.append(character)
        }
    }
}
