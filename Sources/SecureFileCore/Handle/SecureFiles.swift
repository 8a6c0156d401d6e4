import FoundationEssentials

/// Whole secure files: made, read, replaced, copied, moved, and made of plaintext files and into them. What replaces a file is complete, verified
/// where the text says so, and durable before the old one goes. Safe to use from several threads.
public struct SecureFiles: Sendable {
    /// Who has the key.
    public let services: SecureServices

    public init(_ services: SecureServices = .shared) { self.services = services }

    /// Permission bits of files that are made, unless others are asked for.
    public static let standardPermissions: UInt32 = 0o600

    /// Which key the standalone secure file at `path` was encrypted with, as it says itself: no key is needed to ask, and nothing is verified.
    ///
    /// - Throws: ``SecureFileError``: `.notSecureFile` (an empty file too), `.unsupportedVersion`, `.regularFileOnly`, `.notFound`.
    public static func keyID(ofFileAt path: RawPath) throws(SecureFileError) -> UInt64 {
        let descriptor = try SecurePlace.standalone(path).open(.readOnly, path: path)
        let page = MetadataPage(PageBuffer(count: ContentGeometry.blockSize))
        let got = try explained("cannot be read", path: path.description) { () throws(Errno) in
            try descriptor.read(at: 0, into: page.buffer, 0..<ContentGeometry.blockSize)
        }
        guard got >= ContentGeometry.headSize, page.hasMagic else { throw SecureFileError(.notSecureFile, "is not a file of SecureFS", path: path.description) }
        do { try page.checkHead(of: .zero) } catch {
            if error == .unsupportedVersion { throw SecureFileError(.unsupportedVersion, "was made by a newer version of SecureFS", path: path.description) }
            throw SecureFileError(.damaged, "the first page is damaged", path: path.description)
        }
        return page.keyID
    }

    // MARK: Reading and writing

    /// The content of the secure file at `path`.
    ///
    /// - Throws: ``SecureFileError``: as ``SecureFileHandle/init(opening:for:services:)`` and ``SecureFileHandle/read(upToCount:)``.
    public func read(_ path: RawPath) throws(SecureFileError) -> Data {
        let handle = try SecureFileHandle(opening: path, for: .reading, services: services)
        let data = try handle.readToEnd() ?? Data()
        try handle.close()
        return data
    }

    /// Writes `data` as the content of the secure file at `path`, which is made where it does not exist.
    ///
    /// - Parameters:
    ///   - atomically: A new file is written and synced, and put in the place of the old one in one step, keeping its owner and permissions.
    ///     Without it the old file is cut and written, and holds part of the content if that fails half-way.
    ///   - overwriting: Whether a file that is there may be replaced.
    ///   - permissions: Of a new file; the umask does not count.
    /// - Throws: ``SecureFileError``: as ``SecureFileHandle/init(opening:for:services:)`` and ``SecureFileHandle/write(contentsOf:)``;
    ///   `.alreadyExists`. A plaintext file with content is `.notSecureFile`, and never overwritten.
    public func write(
        _ data: some DataProtocol, to path: RawPath, atomically: Bool = false, overwriting: Bool = true,
        permissions: UInt32 = SecureFiles.standardPermissions
    ) throws(SecureFileError) {
        let old = try existing(path)
        if old != nil, !overwriting { throw SecureFileError(.alreadyExists, "is there already", path: path.description) }
        if old != nil, !atomically { return try overwrite(path, with: data) }
        let claim = if let old { try claim(path, old) as Claim? } else { nil as Claim? }
        let content = data as? Data ?? Data(data)
        let new = try make(path, permissions)
        if let claim { new.file.adopt(claim.status) }
        try new.write { file throws(SecureFileError) in try file.write(content.span, 0..<content.count, at: ByteOffset(0)) }
        try new.file.put(old == nil && !overwriting ? .refuse : .replace)
        withExtendedLifetime(claim) {}
    }

    private func overwrite(_ path: RawPath, with data: some DataProtocol) throws(SecureFileError) {
        let handle = try SecureFileHandle(opening: path, for: .writing, services: services)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }

    // MARK: Copying and moving

    /// Copies a secure file; holes stay holes, permissions and time of modification go with it. Standalone files and files of the vault in any
    /// direction.
    ///
    /// - Throws: ``SecureFileError``: `.alreadyExists` where `target` is there; as ``read(_:)`` and ``write(_:to:atomically:overwriting:permissions:)``.
    public func copy(_ source: RawPath, to target: RawPath) throws(SecureFileError) {
        try requireVacant(target)
        let handle = try SecureFileHandle(opening: source, for: .reading, services: services)
        let new = try make(target, Self.standardPermissions)
        try new.write { file throws(SecureFileError) in
            try handle.content.reading { from throws(SecureFileError) in try PlainCopy.all(of: from, to: file) }
        }
        new.file.adopt(try status(source))
        try new.file.put(.refuse)
        try handle.close()
    }

    /// Moves a secure file. Within one filesystem, or within the vault, it is renamed; else it is copied, the copy verified, and the source
    /// removed.
    ///
    /// - Throws: ``SecureFileError``: `.alreadyExists` where `target` is there; `.inUse` where it has to be copied and is open for writing
    ///   elsewhere; as ``copy(_:to:)``. The source is there still.
    public func move(_ source: RawPath, to target: RawPath) throws(SecureFileError) {
        try requireVacant(target)
        // Looked at first, so that nothing but a secure file is ever moved.
        try SecureFileHandle(opening: source, for: .reading, services: services).close()
        if try rename(source, to: target) { return }
        let claim = try claim(source, try status(source))
        try copy(source, to: target)
        do throws(SecureFileError) { try verifySame(source, target) } catch {
            try? remove(target)
            throw error
        }
        withExtendedLifetime(claim) {}
        try remove(source)
    }

    /// False where the two are not in one filesystem, or one is in the vault and the other not.
    private func rename(_ source: RawPath, to target: RawPath) throws(SecureFileError) -> Bool {
        switch (try services.place(of: source), try services.place(of: target)) {
        case (.standalone(let old), .standalone(let new)):
            do throws(Errno) {
                let here = try FileDescriptor.open(RawPath("."), [.pathOnly, .directory])
                try here.rename(old, to: here, new, .noReplace)
                return true
            } catch {
                if error == .crossDevice { return false }
                throw SecureFileError(error, "cannot be moved", path: source.description)
            }
        case (.vault(let directory, let name), .vault(let newDirectory, let newName)):
            do throws(SecureFileError) { try directory.rename(name, to: newDirectory, newName, .noReplace) } catch {
                throw error.named(source)
            }
            return true
        default: return false
        }
    }

    func remove(_ path: RawPath) throws(SecureFileError) {
        let place = try services.place(of: path)
        do throws(Errno) {
            switch place {
            case .standalone(let path): try FileDescriptor.open(RawPath("."), [.pathOnly, .directory]).remove(path)
            case .vault(let directory, let name): try directory.remove(name)
            }
        } catch { throw SecureFileError(error, "cannot be removed", path: path.description) }
    }
}
