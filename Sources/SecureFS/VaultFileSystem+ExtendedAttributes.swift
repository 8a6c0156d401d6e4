import SecureFileCore

/// Extended attributes.
extension VaultFileSystem {
    /// The namespaces of xattr(7) that are only stored.
    private static let namespaces = ["user.", "trusted.", "security."].map { Array($0.utf8) }

    /// - Throws: `.notSupported` for a name of no namespace; `.invalidArgument` for a namespace without a name.
    private func checkName(_ name: [UInt8]) throws(Errno) {
        guard let namespace = Self.namespaces.first(where: { name.starts(with: $0) }) else { throw .notSupported }
        if name.count == namespace.count { throw .invalidArgument }
    }

    package func extendedAttribute(_ name: [UInt8], of id: NodeID) throws(Errno) -> [UInt8] {
        let node = try table.node(id)
        if name.starts(with: "system.".utf8) {
            guard let kind = AccessListKind(name) else { throw .notSupported }
            return try accessListValue(kind, of: node)
        }
        try checkName(name)
        return try storedAttribute(name, of: node)
    }

    func storedAttribute(_ name: [UInt8], of node: Node) throws(Errno) -> [UInt8] {
        if try lacksAttributes(node) { throw .noData }
        let inode = try inode(of: node)
        do throws(SecureFileError) { return try vault.attributes.get(inode, name: name, inTrusted: node.kind.takesNoUserAttributes) } catch {
            throw reported(error, node)
        }
    }

    /// Whether the inode has none at all. The kernel asks for security.capability before the first write to every file, `ls` for more: for
    /// most files that costs no call, or one.
    ///
    /// - Parameter descriptor: Of the inode, if there is one at hand.
    func lacksAttributes(_ node: Node, _ descriptor: FileDescriptor? = nil) throws(Errno) -> Bool {
        let (isKnown, epoch) = table.with(node) { ($0.hasNoAttributes, $0.attributeEpoch) }
        if isKnown { return true }
        guard try storedAttributeNames(of: node, descriptor).isEmpty else { return false }
        // Unless one was set meanwhile: setting counts before and after.
        table.with(node) { if $0.attributeEpoch == epoch { $0.hasNoAttributes = true } }
        return true
    }

    func noteChange(_ node: Node) {
        table.with(node) { node in
            node.hasNoAttributes = false
            node.attributeEpoch &+= 1
        }
    }

    package func setExtendedAttribute(
        _ name: [UInt8], of id: NodeID, _ value: [UInt8], _ rule: FileDescriptor.AttributeRule, _ caller: Caller
    ) throws(Errno) {
        let node = try table.node(id)
        if let kind = AccessListKind(name) { return try setAccessList(kind, of: node, value, caller) }
        try checkName(name)
        try setStoredAttribute(name, of: node, value, rule)
    }

    func setStoredAttribute(
        _ name: [UInt8], of node: Node, _ value: [UInt8], _ rule: FileDescriptor.AttributeRule = .any
    ) throws(Errno) {
        let inode = try inode(of: node)
        noteChange(node)
        defer { noteChange(node) }
        do throws(SecureFileError) {
            try vault.attributes.set(inode, name: name, value, rule, inTrusted: node.kind.takesNoUserAttributes)
        } catch { throw reported(error, node) }
    }

    package func removeExtendedAttribute(_ name: [UInt8], of id: NodeID) throws(Errno) {
        let node = try table.node(id)
        if let kind = AccessListKind(name) { return try removeAccessList(kind, of: node) }
        try checkName(name)
        try removeStoredAttribute(name, of: node)
    }

    func removeStoredAttribute(_ name: [UInt8], of node: Node) throws(Errno) {
        if table.with(node, { $0.hasNoAttributes }) { throw .noData }
        let inode = try inode(of: node)
        do throws(SecureFileError) {
            try vault.attributes.remove(inode, name: name, inTrusted: node.kind.takesNoUserAttributes)
        } catch { throw reported(error, node) }
    }

    package func extendedAttributeNames(of id: NodeID) throws(Errno) -> [[UInt8]] { try storedAttributeNames(of: try table.node(id)) }

    private func storedAttributeNames(of node: Node, _ descriptor: FileDescriptor? = nil) throws(Errno) -> [[UInt8]] {
        if table.with(node, { $0.hasNoAttributes }) { return [] }
        let inode = if let descriptor { descriptor } else { try inode(of: node) }
        do throws(SecureFileError) { return try vault.attributes.list(inode, inTrusted: node.kind.takesNoUserAttributes) } catch {
            throw reported(error, node)
        }
    }
}
