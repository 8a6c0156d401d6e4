import FoundationEssentials

// The same operations for paths that are text.
extension SecureFiles {
    /// As ``keyID(ofFileAt:)-(RawPath)``.
    public static func keyID(ofFileAt path: String) throws(SecureFileError) -> UInt64 { try keyID(ofFileAt: RawPath(path)) }

    /// As ``read(_:)-(RawPath)``.
    public func read(_ path: String) throws(SecureFileError) -> Data { try read(RawPath(path)) }

    /// As ``write(_:to:atomically:overwriting:permissions:)-(_,RawPath,_,_,_)``.
    public func write(
        _ data: some DataProtocol, to path: String, atomically: Bool = false, overwriting: Bool = true,
        permissions: UInt32 = SecureFiles.standardPermissions
    ) throws(SecureFileError) {
        try write(data, to: RawPath(path), atomically: atomically, overwriting: overwriting, permissions: permissions)
    }

    /// As ``copy(_:to:)-(RawPath,_)``.
    public func copy(_ source: String, to target: String) throws(SecureFileError) { try copy(RawPath(source), to: RawPath(target)) }

    /// As ``move(_:to:)-(RawPath,_)``.
    public func move(_ source: String, to target: String) throws(SecureFileError) { try move(RawPath(source), to: RawPath(target)) }

    /// As ``importFile(_:to:overwriting:)-(RawPath,_,_)``.
    public func importFile(_ source: String, to target: String, overwriting: Bool = false) throws(SecureFileError) {
        try importFile(RawPath(source), to: RawPath(target), overwriting: overwriting)
    }

    /// As ``exportFile(_:to:overwriting:)-(RawPath,_,_)``.
    public func exportFile(_ source: String, to target: String, overwriting: Bool = false) throws(SecureFileError) {
        try exportFile(RawPath(source), to: RawPath(target), overwriting: overwriting)
    }

    /// As ``encrypt(_:)-(RawPath)``.
    public func encrypt(_ path: String) throws(SecureFileError) { try encrypt(RawPath(path)) }

    /// As ``decrypt(_:)-(RawPath)``.
    public func decrypt(_ path: String) throws(SecureFileError) { try decrypt(RawPath(path)) }
}
