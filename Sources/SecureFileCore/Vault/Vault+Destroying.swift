extension Vault {
    /// Destroys the wrapped copies of the volume key: nothing opens the vault any more, but a copy of `sfs.json` made before.
    ///
    /// The file is overwritten, synced and removed. A filesystem that writes elsewhere (copy on write, a flash translation layer) may keep the
    /// old bytes for a while.
    /// - Throws: ``SecureFileError``: `.readOnly`; the system's error.
    func destroyKeySlots() throws(SecureFileError) {
        guard access == .readWrite else { throw SecureFileError(.readOnly, "the vault is open read-only", path: path.description) }
        let folder = root.codec.root
        try explained("the vault's key slots cannot be destroyed", path: path.description) { () throws(Errno) in
            let file = try folder.open(ReservedNames.configuration, [.readWrite, .noFollow])
            let count = Int(try file.status().size)
            if count > 0 {
                try file.write(PageBuffer(count: count), 0..<count, at: 0)
                try file.synchronize()
            }
            try folder.remove(ReservedNames.configuration)
            try folder.synchronize()
        }
    }
}
