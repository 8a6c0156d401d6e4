import CLinux

extension FileDescriptor.OpenMode {
    /// A new regular file without a name, in the directory that is opened. The corresponding C constant is `O_TMPFILE`.
    public static let unnamed = FileDescriptor.OpenMode(rawValue: CLinux_O_TMPFILE)
}
