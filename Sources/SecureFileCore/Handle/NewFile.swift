/// A file that is being made: it has a temporary name beside its place until it is whole, and is put there in one step.
///
/// One thread at a time. What is not put into its place goes with the object.
final class NewFile {
    /// What putting it into its place does with a file that is there.
    enum Rule { case replace, refuse }

    let descriptor: FileDescriptor
    private let folder: FileDescriptor
    private let temporary: RawPath
    private let place: Place
    private let path: RawPath
    private var isThere = false

    private enum Place {
        case standalone(RawPath)
        case vault(VaultDirectory, StoredName)
    }

    /// - Parameters:
    ///   - place: Where it is going to be.
    ///   - permissions: Its permission bits, whatever the umask.
    /// - Throws: ``SecureFileError``: `.notFound` (no such directory), `.permissionDenied`, `.noSpace`, `.readOnly`, `.invalidArgument`.
    init(at place: SecurePlace, path: RawPath, permissions: UInt32) throws(SecureFileError) {
        self.path = path
        do throws(Errno) {
            switch place {
            case .standalone(let target):
                let (parent, name) = try Self.split(target)
                folder = try FileDescriptor.open(parent, [.readOnly, .directory])
                self.place = .standalone(name)
            case .vault(let directory, let name):
                try directory.requireWritable()
                folder = directory.descriptor
                self.place = .vault(directory, name)
            }
            temporary = try AtomicFile.temporaryName()
            descriptor = try folder.open(temporary, [.readWrite, .create, .exclusive, .noFollow], permissions: 0o600)
            try descriptor.setPermissions(permissions)
        } catch { throw SecureFileError(error, "cannot be made", path: path.description) }
    }

    deinit { if !isThere { try? folder.remove(temporary) } }

    private static func split(_ path: RawPath) throws(Errno) -> (parent: RawPath, name: RawPath) {
        let slash = UInt8(ascii: "/")
        guard let last = path.bytes.last else { throw .noEntry }
        if last == slash { throw .isDirectory }
        guard let cut = path.bytes.lastIndex(of: slash) else { return (RawPath("."), path) }
        return (cut == path.bytes.startIndex ? RawPath("/") : RawPath(path.bytes[..<cut]), RawPath(path.bytes[(cut + 1)...]))
    }

    /// Gives it owner, permissions and time of modification of another file, as far as this process may.
    func adopt(_ status: FileStatus) {
        // First the owner: a change of owner clears set-id bits.
        if let own = try? descriptor.status(), own.owner != status.owner || own.group != status.group {
            try? descriptor.setOwner(status.owner, group: status.group)
        }
        try? descriptor.setPermissions(status.permissions)
        try? descriptor.setTimes(accessed: .keep, modified: .to(status.modified))
    }

    /// Puts the file, which is whole, into its place; durable when it returns.
    ///
    /// - Throws: ``SecureFileError``: `.alreadyExists` (with `.refuse`), `.noSpace`, `.system`. What was there is there still.
    func put(_ rule: Rule) throws(SecureFileError) {
        do throws(Errno) {
            try descriptor.synchronize()
            let renaming: FileDescriptor.RenameRule = rule == .replace ? .replace : .noReplace
            switch place {
            case .standalone(let name): try folder.rename(temporary, to: folder, name, renaming)
            case .vault(let directory, let name):
                try directory.makingEntry(name) { () throws(Errno) in try folder.rename(temporary, to: folder, name.entry, renaming) }
            }
            isThere = true
            try folder.synchronize()
        } catch { throw SecureFileError(error, "cannot be put into its place", path: path.description) }
    }
}
