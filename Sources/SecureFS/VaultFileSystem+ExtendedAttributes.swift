import SecureFileCore

/// Extended attributes.
extension VaultFileSystem {
    package func extendedAttribute(_ name: [UInt8], of id: NodeID) throws(Errno) -> [UInt8] {
        let node = try table.node(id)
        // The kernel asks for security.capability before the first write to every file: a new one has none, and no call is made.
        if table.with(node, { $0.hasNoAttributes }) { throw .noData }
        let inode = try inode(of: node)
        do throws(SecureFileError) { return try vault.attributes.get(inode, name: name, isSymlink: node.kind == .symlink) } catch {
            throw reported(error, node)
        }
    }

    package func setExtendedAttribute(
        _ name: [UInt8], of id: NodeID, _ value: [UInt8], _ rule: FileDescriptor.AttributeRule, _ caller: Caller
    ) throws(Errno) {
        // Access control lists need more than storing: they change modes and are inherited.
        if name.starts(with: "system.".utf8) { throw .notSupported }
        let node = try table.node(id)
        let inode = try inode(of: node)
        table.with(node) { $0.hasNoAttributes = false }
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
