import FoundationEssentials

// Writing and cutting in Foundation's throwing form, and by position.
extension SecureFileHandle {
    /// Writes all of `data` at the position, which moves behind it. A gap between the end of the file and the position reads as zeros.
    ///
    /// - Throws: ``SecureFileError``: `.closed`; `.invalidArgument` (a handle for reading, with the cause EBADF); `.keyNotAvailable`,
    ///   `.keyRetired`; `.noSpace`, `.limitExceeded`, `.system`; `.damaged` if a block that is written in part cannot be read. Then some of the
    ///   blocks may have the new content and others the old, none is mixed, and the position stays. The handle can be used.
    public func write(contentsOf data: some DataProtocol) throws(SecureFileError) {
        if let data = data as? Data { return try write(data.span) }
        if let bytes = data as? [UInt8] { return try write(bytes.span) }
        try write(Data(data).span)
    }

    /// Writes all bytes of `span` at the position, which moves behind them.
    ///
    /// - Throws: as ``write(contentsOf:)``.
    public func write(_ span: Span<UInt8>) throws(SecureFileError) {
        try using { (position) throws(SecureFileError) in
            try write(span, at: position.offset)
            position.offset += Int64(span.count)
        }
    }

    /// Writes all of `data` at `offset`. The position is neither used nor moved.
    ///
    /// - Throws: as ``write(contentsOf:)``.
    public func write(_ data: some DataProtocol, at offset: UInt64) throws(SecureFileError) {
        if let data = data as? Data { return try write(data.span, at: offset) }
        if let bytes = data as? [UInt8] { return try write(bytes.span, at: offset) }
        try write(Data(data).span, at: offset)
    }

    /// Writes all bytes of `span` at `offset`. The position is neither used nor moved.
    ///
    /// - Throws: as ``write(contentsOf:)``.
    public func write(_ span: Span<UInt8>, at offset: UInt64) throws(SecureFileError) {
        try requireOpen()
        do throws(SecureFileError) { try write(span, at: Int64(clamping: offset)) } catch { throw services.refined(error) }
    }

    private func write(_ span: Span<UInt8>, at offset: Int64) throws(SecureFileError) {
        if span.isEmpty { return try requireKey() }  // to any handle, as Foundation's
        try requireWriting()
        let file = try content.writer()
        try file.write(span, 0..<span.count, at: ByteOffset(offset))
        services.flusher.noteWork(services)
    }

    // MARK: Size

    /// Cuts the file to `offset` bytes, or lengthens it with zeros, and moves the position there.
    ///
    /// - Throws: as ``write(contentsOf:)``; the size and the position stay.
    public func truncate(atOffset offset: UInt64) throws(SecureFileError) {
        try using { (position) throws(SecureFileError) in
            try requireWriting()
            guard let size = Int64(exactly: offset) else {
                throw SecureFileError(.limitExceeded, "the size is out of range", path: path)
            }
            try content.writer().truncate(to: ByteCount(size))
            services.flusher.noteWork(services)
            position.offset = size
        }
    }
}
