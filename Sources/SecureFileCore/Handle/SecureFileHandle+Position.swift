// The position in Foundation's throwing form.
extension SecureFileHandle {
    /// The position: bytes from the start of the file; it may lie past the end.
    ///
    /// - Throws: ``SecureFileError``: `.closed`, `.keyNotAvailable`, `.keyRetired`.
    public func offset() throws(SecureFileError) -> UInt64 {
        try using { (position) throws(SecureFileError) in
            try requireKey()
            return UInt64(position.offset)
        }
    }

    /// Moves the position to `offset`, which may lie past the end: nothing is lengthened by that.
    ///
    /// - Throws: ``SecureFileError``: `.closed`, `.keyNotAvailable`, `.keyRetired`; `.invalidArgument` for 2⁶³ and more. The position stays.
    public func seek(toOffset offset: UInt64) throws(SecureFileError) {
        try using { (position) throws(SecureFileError) in
            try requireKey()
            guard let offset = Int64(exactly: offset) else {
                throw SecureFileError(.invalidArgument, "the offset is out of range", path: path)
            }
            position.offset = offset
        }
    }

    /// Moves the position to the end of the file: of its plaintext.
    ///
    /// - Returns: The position, which is the size.
    /// - Throws: as ``read(upToCount:)``.
    @discardableResult
    public func seekToEnd() throws(SecureFileError) -> UInt64 {
        try using { (position) throws(SecureFileError) in
            position.offset = try content.reading { file throws(SecureFileError) in try file.knownSize() }.rawValue
            return UInt64(position.offset)
        }
    }

    /// While the key is away every call fails, those too that could do without.
    func requireKey() throws(SecureFileError) {
        if content.context.isLocked { throw ContentContext.locked.at(path) }
    }
}
