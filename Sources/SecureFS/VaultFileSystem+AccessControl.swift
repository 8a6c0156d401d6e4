import SecureFileCore

/// Which of its two access control lists of an inode.
enum AccessListKind {
    /// Who may do what with the inode.
    case access
    /// What is made in the directory begins with it.
    case inherited

    var attribute: [UInt8] {
        switch self {
        case .access: Array("system.posix_acl_access".utf8)
        case .inherited: Array("system.posix_acl_default".utf8)
        }
    }

    init?(_ attribute: [UInt8]) {
        if attribute.elementsEqual("system.posix_acl_access".utf8) {
            self = .access
        } else if attribute.elementsEqual("system.posix_acl_default".utf8) {
            self = .inherited
        } else {
            return nil
        }
    }
}

/// What a new inode begins with.
struct Heritage {
    /// Its permission bits.
    var permissions: UInt32
    /// Attributes to be stored with it.
    var lists: [(kind: AccessListKind, list: AccessControlList)] = []
    /// The permission bits until the lists are there: with them the class of groups means a mask, without them everybody in the group.
    var permissionsAtFirst: UInt32 { lists.contains { $0.kind == .access } ? permissions & ~0o070 : permissions }
}

/// POSIX access control lists: acl(5). The kernel checks them, where it checks permissions at all; here they are kept, inherited, and held in
/// step with the modes.
///
/// The mode counts where an access list says otherwise (FORMAT section 6.1), so that chmod(2) changes nothing but the mode.
extension VaultFileSystem {
    func accessListValue(_ kind: AccessListKind, of node: Node) throws(Errno) -> [UInt8] {
        if node.kind == .symlink { throw .notSupported }
        let stored = try storedAttribute(kind.attribute, of: node)
        guard kind == .access else { return stored }
        guard let list = try storedList(stored) else { throw .noData }
        return list.withMode(try status(of: node).permissions).value
    }

    /// - Throws: `.inputOutput` for what no list is: somebody else with the key has written it.
    private func storedList(_ value: [UInt8]) throws(Errno) -> AccessControlList? {
        do { return try AccessControlList.read(value) } catch { throw .inputOutput }
    }

    func setAccessList(_ kind: AccessListKind, of node: Node, _ value: [UInt8], _ caller: Caller) throws(Errno) {
        if node.kind == .symlink { throw .notSupported }
        let list: AccessControlList?
        do { list = try AccessControlList.read(value) } catch {
            throw error == .unsupportedVersion ? .notSupported : .invalidArgument
        }
        guard let list else { return try removeAccessList(kind, of: node) }
        if vault.access == .readOnly { throw .readOnly }
        guard kind == .access else {
            if node.kind != .directory { throw .accessDenied }
            return try setStoredAttribute(kind.attribute, of: node, list.value)
        }
        let inode = try inode(of: node)
        let status = try inode.status()
        var permissions = status.permissions & ~0o777 | list.permissionBits
        if permissions & 0o2000 != 0, !caller.belongs(to: status.group) { permissions &= ~0o2000 }
        // In the order in which nobody may do for a moment what neither the old nor the new list allows.
        if list.isMinimal {
            if permissions != status.permissions { try inode.setInodePermissions(permissions) }
            try removeAccessList(kind, of: node)
        } else {
            try setStoredAttribute(kind.attribute, of: node, list.value)
            if permissions != status.permissions { try inode.setInodePermissions(permissions) }
        }
    }

    /// The mode stays. Where there is none, nothing happens.
    func removeAccessList(_ kind: AccessListKind, of node: Node) throws(Errno) {
        if node.kind == .symlink { throw .notSupported }
        do throws(Errno) { try removeStoredAttribute(kind.attribute, of: node) } catch {
            if error != .noData { throw error }
        }
    }

    // MARK: Inheriting

    /// What an inode made in `directory` by `caller` begins with: by the directory's default list where it has one, else by the umask.
    func heritage(
        in parent: Node, _ directory: VaultDirectory, mode: UInt32, _ caller: Caller, isDirectory: Bool = false
    ) throws(Errno) -> Heritage {
        guard let inherited = try defaultList(of: parent, directory) else { return Heritage(permissions: mode & ~caller.umask) }
        let own = inherited.inherited(mode: mode)
        var heritage = Heritage(permissions: mode & ~0o777 | own.permissionBits)
        if !own.isMinimal { heritage.lists.append((.access, own)) }
        if isDirectory { heritage.lists.append((.inherited, inherited)) }
        return heritage
    }

    private func defaultList(of parent: Node, _ directory: VaultDirectory) throws(Errno) -> AccessControlList? {
        if try lacksAttributes(parent, directory.descriptor) { return nil }
        let value: [UInt8]
        do throws(SecureFileError) {
            value = try vault.attributes.get(directory.descriptor, name: AccessListKind.inherited.attribute)
        } catch {
            if error.cause == .noData { return nil }
            throw reported(error, parent)
        }
        return try storedList(value)
    }

    /// Gives the new inode `inode` its lists; its mode is ``Heritage/permissionsAtFirst`` yet.
    func bequeath(_ heritage: Heritage, to inode: FileDescriptor, inTrusted: Bool = false) throws(Errno) {
        if heritage.lists.isEmpty { return }
        try asErrno { () throws(SecureFileError) in
            for (kind, list) in heritage.lists { try vault.attributes.set(inode, name: kind.attribute, list.value, inTrusted: inTrusted) }
        }
    }
}
