import SecureFileCore

/// Extended attributes.
extension VaultFileSystem {
    /// The namespaces of xattr(7) that are only stored.
    private static let namespaces = ["user.", "trusted.", "security."]

    package func extendedAttribute(_ name: [UInt8], of id: NodeID) throws(Errno) -> [UInt8] {
        // Said to be unsupported rather than absent: `ls -l` then asks once and not for every file.
        if name.starts(with: "system.".utf8) { throw .notSupported }
        let node = try table.node(id)
        if try lacksAttributes(node) { throw .noData }
        let inode = try inode(of: node)
        do throws(SecureFileError) { return try vault.attributes.get(inode, name: name, isSymlink: node.kind == .symlink) } catch {
            throw reported(error, node)
        }
    }

    /// Whether the inode has none at all. The kernel asks for security.capability before the first write to every file, `ls` for more: for
    /// most files that costs no call, or one.
    private func lacksAttributes(_ node: Node) throws(Errno) -> Bool {
        let (isKnown, epoch) = table.with(node) { ($0.hasNoAttributes, $0.attributeEpoch) }
        if isKnown { return true }
        guard try extendedAttributeNames(of: node.id).isEmpty else { return false }
        // Unless one was set meanwhile: setting counts before and after.
        table.with(node) { if $0.attributeEpoch == epoch { $0.hasNoAttributes = true } }
        return true
    }

    private func noteChange(_ node: Node) {
        table.with(node) { node in
            node.hasNoAttributes = false
            node.attributeEpoch &+= 1
        }
    }

    package func setExtendedAttribute(
        _ name: [UInt8], of id: NodeID, _ value: [UInt8], _ rule: FileDescriptor.AttributeRule, _ caller: Caller
    ) throws(Errno) {
        // `system.`, access control lists, needs more than storing: they change modes and are inherited. Others nobody knows.
        guard Self.namespaces.contains(where: { name.starts(with: $0.utf8) }) else { throw .notSupported }
        let node = try table.node(id)
        let inode = try inode(of: node)
        noteChange(node)
        defer { noteChange(node) }
        do throws(SecureFileError) {
            try vault.attributes.set(inode, name: name, value, rule, isSymlink: node.kind == .symlink)
        } catch { throw reported(error, node) }
    }

    package func removeExtendedAttribute(_ name: [UInt8], of id: NodeID) throws(Errno) {
        let node = try table.node(id)
        if table.with(node, { $0.hasNoAttributes }) { throw .noData }
        let inode = try inode(of: node)
        do throws(SecureFileError) {
            try vault.attributes.remove(inode, name: name, isSymlink: node.kind == .symlink)
        } catch { throw reported(error, node) }
    }

    package func extendedAttributeNames(of id: NodeID) throws(Errno) -> [[UInt8]] {
        let node = try table.node(id)
        if table.with(node, { $0.hasNoAttributes }) { return [] }
        let inode = try inode(of: node)
        do throws(SecureFileError) { return try vault.attributes.list(inode, isSymlink: node.kind == .symlink) } catch {
            throw reported(error, node)
        }
    }
}
