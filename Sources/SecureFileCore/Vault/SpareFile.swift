/// A file with space in it, so that the session record can be replaced where there is none left: on a full disk a vault can be opened, and room be
/// made. FORMAT section 8.1.
enum SpareFile {
    /// Bytes: the longest record, or where there is no space for that, one for 250 dead sessions.
    private static let sizes = [(SessionRecord.lengthMaximum + 4095) & ~4095, 4096]

    /// As ``AtomicFile/replace(_:in:with:permissions:)``; where there is no space, the spare file becomes the new one.
    ///
    /// - Throws: `.noSpace` where there is no spare file either, and the system's errors. The file has its old content then.
    static func replace(_ name: RawPath, in directory: FileDescriptor, with content: [UInt8], permissions: UInt32) throws(Errno) {
        do throws(Errno) {
            try AtomicFile.replace(name, in: directory, with: content, permissions: permissions)
        } catch {
            guard error == .noSpace || error == .quotaExceeded, let file = usable(in: directory, for: content) else { throw error }
            try AtomicFile.keepingTime(of: directory) { () throws(Errno) in
                try AtomicFile.put(file, ReservedNames.spare, in: directory, as: name, with: content, permissions: permissions, like: name)
            }
            try directory.synchronize()
        }
        renew(in: directory, as: name)
    }

    /// The file, if it is one of ours with room for `content`.
    private static func usable(in directory: FileDescriptor, for content: [UInt8]) -> FileDescriptor? {
        guard let file = try? directory.open(ReservedNames.spare, [.writeOnly, .noFollow, .nonBlocking]), let status = try? file.status() else { return nil }
        return room(status) >= content.count ? file : nil
    }

    /// Bytes that can be written to a file without taking space. One that was linked elsewhere is not ours to write to.
    private static func room(_ file: FileStatus) -> Int64 { file.kind == .regular && file.linkCount == 1 ? file.size : 0 }

    /// Makes the file where it is missing, or not what it should be; durable when it returns. No promise: without it all is as it is without space.
    private static func renew(in directory: FileDescriptor, as name: RawPath) {
        let present = (try? directory.status(of: ReservedNames.spare)).map(room) ?? 0
        for size in sizes {
            if present >= size { return }
            let content = [UInt8](repeating: 0, count: size)
            do throws(Errno) {
                return try AtomicFile.replace(ReservedNames.spare, in: directory, with: content, permissions: 0o600, like: name)
            } catch { continue }
        }
    }
}
