import FoundationEssentials

// Reading in Foundation's throwing form, and by position.
extension SecureFileHandle {
    /// Reads up to `count` bytes at the position, which moves behind them.
    ///
    /// - Returns: Fewer bytes than `count` only at the end of the file; nil at or past it.
    /// - Throws: ``SecureFileError``: `.closed`; `.invalidArgument` (a negative count; a handle for writing, with the cause EBADF);
    ///   `.keyNotAvailable`, `.keyRetired`; `.damaged` (`block` says where; nothing unverified is given out), `.truncated`, `.system`. The
    ///   position stays, and the handle can be used.
    /// - Complexity: O(blocks touched): each is decrypted whole.
    public func read(upToCount count: Int) throws(SecureFileError) -> Data? {
        if count < 0 { throw SecureFileError(.invalidArgument, "a negative number of bytes", path: path) }
        return try using { (position) throws(SecureFileError) in
            let data = try read(at: position.offset, count: count)
            position.offset += Int64(data.count)
            return data.isEmpty ? nil : data
        }
    }

    /// Reads from the position to the end of the file.
    ///
    /// - Returns: nil at or past the end.
    /// - Throws: as ``read(upToCount:)``.
    public func readToEnd() throws(SecureFileError) -> Data? { try read(upToCount: .max) }

    // MARK: By position

    /// Reads up to `count` bytes at `offset`. The position is neither used nor moved: several threads may do so at once.
    ///
    /// - Returns: Fewer bytes than `count` only at the end of the file, none at or past it.
    /// - Throws: as ``read(upToCount:)``.
    public func read(upToCount count: Int, at offset: UInt64) throws(SecureFileError) -> Data {
        if count < 0 { throw SecureFileError(.invalidArgument, "a negative number of bytes", path: path) }
        try requireOpen()
        do throws(SecureFileError) { return try read(at: Int64(clamping: offset), count: count) } catch { throw services.refined(error) }
    }

    /// Reads at `offset` into the front of `buffer`, without moving the position. Nothing is copied.
    ///
    /// - Returns: The bytes read: as many as the buffer has, fewer only at the end of the file, 0 at or past it.
    /// - Throws: as ``read(upToCount:)``. The buffer holds nothing of meaning then, and nothing unverified.
    public func read(into buffer: PageBuffer, at offset: UInt64) throws(SecureFileError) -> Int { try read(into: buffer, buffer.count, at: offset) }

    private func read(into buffer: PageBuffer, _ count: Int, at offset: UInt64) throws(SecureFileError) -> Int {
        try requireOpen()
        try requireReading()
        do throws(SecureFileError) {
            return try content.reading { file throws(SecureFileError) in
                try file.read(at: ByteOffset(Int64(clamping: offset)), count: count, into: buffer)
            }
        } catch { throw services.refined(error) }
    }

    /// Reads at `offset` into the front of `span`, without moving the position.
    ///
    /// - Returns: The bytes read: as many as the span has, fewer only at the end of the file, 0 at or past it.
    /// - Throws: as ``read(upToCount:)``; `span` is not touched then.
    public func read(into span: inout MutableSpan<UInt8>, at offset: UInt64) throws(SecureFileError) -> Int {
        if span.isEmpty { return 0 }
        let buffer = content.context.buffers.take(span.count)
        defer { content.context.buffers.giveBack(buffer) }
        let got = try read(into: buffer, span.count, at: offset)
        buffer.copy(0..<got, to: &span)
        return got
    }

    private func read(at offset: Int64, count: Int) throws(SecureFileError) -> Data {
        if count == 0 {  // of any handle, as Foundation's
            try requireKey()
            return Data()
        }
        try requireReading()
        return try content.reading { file throws(SecureFileError) in
            let available = try file.knownSize().rawValue - offset
            let wanted = Int(min(Int64(count), max(0, available)))
            if wanted == 0 { return Data() }
            let buffer = content.context.buffers.take(wanted)
            return buffer.data(count: try file.read(at: ByteOffset(offset), count: wanted, into: buffer), from: content.context.buffers)
        }
    }
}
