import SecureFileCore

/// Pipes, sockets and devices, where the mount has them. What they do is the kernel's affair; here they are names with attributes.
extension VaultFileSystem {
    package func makeSpecialFile(
        _ name: [UInt8], in parent: NodeID, _ kind: FileKind, mode: UInt32, device: UInt64, _ caller: Caller
    ) throws(Errno) -> Entry {
        let (parentNode, directory) = try directory(parent)
        let stored = try storedName(name, directory)
        let heritage = try heritage(in: parentNode, directory, mode: mode, caller)
        let made = try directory.makeSpecialFile(stored, kind, permissions: heritage.permissionsAtFirst, device: device)
        do throws(Errno) {
            try giveToCaller(made, heritage, directory, caller)
        } catch {
            try? directory.remove(stored)
            throw error
        }
        let result = try entry(try made.status(), Alias(parent: parentNode, name: stored), directory, isNew: true)
        if !heritage.lists.isEmpty { noteChange(try table.node(result.node)) }
        return result
    }

    private func giveToCaller(_ made: FileDescriptor, _ heritage: Heritage, _ directory: VaultDirectory, _ caller: Caller) throws(Errno) {
        var needsPermissions = !heritage.lists.isEmpty
        if givesOwnership, caller.user != 0 || caller.group != 0 {
            let keepsGroup = try directory.descriptor.status().permissions & 0o2000 != 0
            try made.setInodeOwner(caller.user, group: keepsGroup ? nil : caller.group)
            if heritage.permissions & 0o6000 != 0 { needsPermissions = true }
        }
        try bequeath(heritage, to: made, inTrusted: true)
        if needsPermissions { try made.setInodePermissions(heritage.permissions) }
    }
}
