import SecureFileCore

/// What every file system says of the name of an extended attribute before it looks for one: of a namespace that nobody knows (xattr(7)), and
/// of a namespace alone.
func checkAttributeName(_ name: [UInt8]) throws(Errno) {
    for namespace in ["user.", "trusted.", "security.", "system."] where name.starts(with: namespace.utf8) {
        guard name.count > namespace.utf8.count else { throw .invalidArgument }
        return
    }
    throw .notSupported
}
