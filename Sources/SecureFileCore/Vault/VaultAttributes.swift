/// Extended attributes, their names and values sealed. FORMAT section 6. Safe to use from several threads.
///
/// Attributes are addressed by a descriptor of the inode; one opened as a path only will do. Of inodes that take no attributes of `user.`
/// (``FileKind/takesNoUserAttributes``) it must be one, and `inTrusted` be passed: their attributes are stored in the namespace `trusted.`.
public struct VaultAttributes: Sendable {
    let codec: VaultCodec

    /// The value of the attribute `name`.
    ///
    /// - Parameter name: with its namespace, 1 to 255 bytes.
    /// - Throws: ``SecureFileError`` with the cause `.noData` where there is none; `.damaged` where it does not open.
    public func get(_ file: FileDescriptor, name: [UInt8], inTrusted: Bool = false) throws(SecureFileError) -> [UInt8] {
        let stored = try storedName(name, inTrusted)
        let sealed = try explained("an attribute cannot be read") { () throws(Errno) in
            try onInode(file, inTrusted) { () throws(Errno) in
                try file.extendedAttribute(stored)
            } path: { () throws(Errno) in
                try file.pathExtendedAttribute(stored)
            }
        }
        guard let plaintext = try open(sealed, stored) else { throw SecureFileError(.damaged, "an attribute's value is damaged") }
        if name.count <= NameLimits.shortAttribute { return plaintext }
        guard let (inside, value) = Self.split(plaintext), inside == name else {
            throw SecureFileError(.damaged, "an attribute's value is damaged")
        }
        return value
    }

    /// Sets the attribute `name`.
    ///
    /// - Throws: ``SecureFileError`` with the cause `.exists` or `.noData` (by `rule`), `.range` for a name above 255 bytes, `.noSpace` or
    ///   `.argumentTooBig` for a value the backing does not take with 32 bytes more.
    public func set(
        _ file: FileDescriptor, name: [UInt8], _ value: [UInt8], _ rule: FileDescriptor.AttributeRule = .any, inTrusted: Bool = false
    ) throws(SecureFileError) {
        if !codec.isWritable { throw SecureFileError(.readOnly, "the vault is open read-only", cause: .readOnly) }
        let stored = try storedName(name, inTrusted)
        let length = [UInt8(truncatingIfNeeded: name.count), UInt8(truncatingIfNeeded: name.count >> 8)]
        let plaintext = name.count <= NameLimits.shortAttribute ? value : length + name + value
        let sealed: [UInt8]
        do {
            let random = try RandomBytes.make(16)
            sealed = random + (try codec.attributes.seal(plaintext, associatedData: [Self.label, random, Array(stored.bytes)]))
        } catch { throw SecureFileError(error, "an attribute cannot be set") }
        try explained("an attribute cannot be set") { () throws(Errno) in
            try onInode(file, inTrusted) { () throws(Errno) in
                try file.setExtendedAttribute(stored, sealed, rule)
            } path: { () throws(Errno) in
                try file.setPathExtendedAttribute(stored, sealed, rule)
            }
        }
    }

    /// Removes the attribute `name`.
    ///
    /// - Throws: ``SecureFileError`` with the cause `.noData` where there is none.
    public func remove(_ file: FileDescriptor, name: [UInt8], inTrusted: Bool = false) throws(SecureFileError) {
        if !codec.isWritable { throw SecureFileError(.readOnly, "the vault is open read-only", cause: .readOnly) }
        let stored = try storedName(name, inTrusted)
        try explained("an attribute cannot be removed") { () throws(Errno) in
            try onInode(file, inTrusted) { () throws(Errno) in
                try file.removeExtendedAttribute(stored)
            } path: { () throws(Errno) in
                try file.removePathExtendedAttribute(stored)
            }
        }
    }

    /// The names of all attributes, with their namespaces. What is not ours, or does not open, is left out.
    ///
    /// - Throws: ``SecureFileError``: `.keyNotAvailable`, or the system's error.
    public func list(_ file: FileDescriptor, inTrusted: Bool = false) throws(SecureFileError) -> [[UInt8]] {
        try explained("attributes cannot be listed") { () throws(Errno) in
            let all = try onInode(file, inTrusted) { () throws(Errno) in
                try file.extendedAttributeNames()
            } path: { () throws(Errno) in
                try file.pathExtendedAttributeNames()
            }
            var names: [[UInt8]] = []
            for stored in all { if let name = try plaintextName(stored, file, inTrusted) { names.append(name) } }
            return names
        }
    }

    // MARK: Codec

    private static let label = Array("value".utf8)

    private static func prefix(inTrusted: Bool) -> [UInt8] { Array((inTrusted ? "trusted.sfs." : "user.sfs.").utf8) }

    /// A descriptor opened as a path only is refused by the calls that take one; /proc has the same inode.
    private func onInode<R>(
        _ file: FileDescriptor, _ inTrusted: Bool, _ call: () throws(Errno) -> R, path: () throws(Errno) -> R
    ) throws(Errno) -> R {
        if inTrusted { return try path() }
        do throws(Errno) { return try call() } catch {
            guard error == .badDescriptor else { throw error }
            return try path()
        }
    }

    private func storedName(_ name: [UInt8], _ inTrusted: Bool) throws(SecureFileError) -> RawPath {
        guard !name.isEmpty, name.count <= NameLimits.attribute, !name.contains(0) else {
            throw SecureFileError(.invalidArgument, "an attribute's name has 1 to 255 bytes", cause: .range)
        }
        do {
            let sealed = try codec.attributes.seal(name, codec.attributeNames)
            let isShort = name.count <= NameLimits.shortAttribute
            let prefix = Self.prefix(inTrusted: inTrusted) + Array((isShort ? "n." : "h.").utf8)
            return RawPath(Base64URL.encode(isShort ? sealed : try Hashing.sha256(sealed), after: prefix))
        } catch { throw SecureFileError(error, "an attribute's name cannot be encrypted") }
    }

    /// Nil where the value does not open.
    private func open(_ sealed: [UInt8], _ stored: RawPath) throws(SecureFileError) -> [UInt8]? {
        guard sealed.count >= 32 else { return nil }
        let associatedData = [Self.label, Array(sealed.prefix(16)), Array(stored.bytes)]
        do { return try codec.attributes.open(Array(sealed.dropFirst(16)), associatedData: associatedData) } catch {
            if error == .authentication { return nil }
            throw SecureFileError(error, "an attribute cannot be read")
        }
    }

    /// The name and the value of a plaintext value that holds both.
    private static func split(_ plaintext: [UInt8]) -> (name: [UInt8], value: [UInt8])? {
        guard plaintext.count >= 2 else { return nil }
        let count = Int(plaintext[0]) | Int(plaintext[1]) << 8
        guard count > NameLimits.shortAttribute, count <= NameLimits.attribute, plaintext.count >= 2 + count else { return nil }
        return (Array(plaintext[2..<2 + count]), Array(plaintext[(2 + count)...]))
    }

    /// Nil where the attribute is not ours, or does not open.
    ///
    /// - Throws: `.noKey` while the key is locked away.
    private func plaintextName(_ stored: RawPath, _ file: FileDescriptor, _ inTrusted: Bool) throws(Errno) -> [UInt8]? {
        let prefix = Self.prefix(inTrusted: inTrusted)
        guard stored.bytes.starts(with: prefix), stored.count > prefix.count + 2 else { return nil }
        let form = stored.bytes.dropFirst(prefix.count).prefix(2)
        do throws(SecureFileError) {
            if form.elementsEqual("n.".utf8) { return try nameInName(Array(stored.bytes.dropFirst(prefix.count + 2))) }
            if form.elementsEqual("h.".utf8) { return try nameInValue(stored, file, inTrusted) }
        } catch {
            if error.code == .keyNotAvailable { throw .noKey }
        }
        return nil
    }

    private func nameInName(_ text: [UInt8]) throws(SecureFileError) -> [UInt8]? {
        guard let sealed = Base64URL.decode(text) else { return nil }
        do {
            let name = try codec.attributes.open(sealed, codec.attributeNames)
            return (1...NameLimits.shortAttribute).contains(name.count) ? name : nil
        } catch { throw SecureFileError(error, "an attribute's name cannot be read") }
    }

    private func nameInValue(_ stored: RawPath, _ file: FileDescriptor, _ inTrusted: Bool) throws(SecureFileError) -> [UInt8]? {
        let sealed = try? onInode(file, inTrusted) { () throws(Errno) in
            try file.extendedAttribute(stored)
        } path: { () throws(Errno) in
            try file.pathExtendedAttribute(stored)
        }
        guard let sealed, let plaintext = try open(sealed, stored), let (name, _) = Self.split(plaintext) else { return nil }
        return try storedName(name, inTrusted) == stored ? name : nil
    }
}
