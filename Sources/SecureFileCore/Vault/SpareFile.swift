/// A file with space in it, so that the session record can be replaced where there is none left: on a full disk a vault can be opened, and room be
/// made. FORMAT section 8.1.
enum SpareFile {
    private static let size = (SessionRecord.lengthMaximum + 4095) & ~4095

    /// As ``AtomicFile/replace(_:in:with:permissions:)``; where there is no space, the spare file becomes the new one.
    ///
    /// - Throws: `.noSpace` where there is no spare file either, and the system's errors. The file has its old content then.
    static func replace(_ name: RawPath, in directory: FileDescriptor, with content: [UInt8], permissions: UInt32) throws(Errno) {
        do throws(Errno) {
            try AtomicFile.replace(name, in: directory, with: content, permissions: permissions)
        } catch {
            guard error == .noSpace || error == .quotaExceeded, let file = usable(in: directory, for: content) else { throw error }
            try AtomicFile.keepingTime(of: directory) { () throws(Errno) in
                try AtomicFile.put(file, ReservedNames.spare, in: directory, as: name, with: content, permissions: permissions)
            }
            try directory.synchronize()
        }
        renew(in: directory)
    }

    private static func usable(in directory: FileDescriptor, for content: [UInt8]) -> FileDescriptor? {
        guard let file = try? directory.open(ReservedNames.spare, [.writeOnly, .noFollow, .nonBlocking]), let status = try? file.status() else { return nil }
        // One that was linked elsewhere is not ours to write to.
        return status.kind == .regular && status.linkCount == 1 && status.size >= content.count ? file : nil
    }

    /// Makes the file where it is missing. No promise: without it all is as it is without space.
    private static func renew(in directory: FileDescriptor) {
        if (try? directory.status(of: ReservedNames.spare)) != nil { return }
        try? AtomicFile.keepingTime(of: directory) { () throws(Errno) in
            let file = try directory.open(ReservedNames.spare, [.writeOnly, .create, .exclusive, .noFollow], permissions: 0o600)
            do throws(Errno) { try file.writeStream([UInt8](repeating: 0, count: size)) } catch {
                try? directory.remove(ReservedNames.spare)
                throw error
            }
        }
    }
}
