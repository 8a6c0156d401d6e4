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

    /// Permissions are checked by the kernel (`default_permissions`), except where nobody could be refused: a mount of root's, which only
    /// root may enter. There the check would cost a request for the directory's attributes after each change in it, and never say no.
    func checksPermissions(mountingAsRoot: Bool) -> Bool { allowOther || !mountingAsRoot || passedOn.contains("default_permissions") }

    /// The argument of `-o`. The subtype makes the mount show as fuse.sfs.
    func argument(mountingAsRoot: Bool) -> String {
        var all = ["subtype=sfs", "fsname=" + MountOptions.escaped(source)]
        if checksPermissions(mountingAsRoot: mountingAsRoot) { all.append("default_permissions") }
        if readOnly { all.append("ro") }
        if allowOther { all.append("allow_other") }
        return (all + passedOn.filter { $0 != "default_permissions" }.map(MountOptions.escaped)).joined(separator: ",")
    }

    /// libfuse splits at commas and takes a backslash as an escape.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if character == "," || character == "\\" { result.append("\\") }
            result.append(character)
        }
    }
}
