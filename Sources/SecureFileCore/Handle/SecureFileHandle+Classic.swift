import FoundationEssentials

// The old forms, without an error. Foundation's stop the process where they fail; these never do: they give what their text says, and
// ``SecureFileHandle/lastError`` tells why. Prefer the throwing forms.
extension SecureFileHandle {
    /// All bytes from the position to the end of the file; none where that fails.
    public var availableData: Data { noting(Data()) { () throws(SecureFileError) in try readToEnd() ?? Data() } }

    /// Reads from the position to the end of the file; no bytes where that fails.
    public func readDataToEndOfFile() -> Data { noting(Data()) { () throws(SecureFileError) in try readToEnd() ?? Data() } }

    /// Reads up to `length` bytes at the position; none at the end of the file, or where that fails.
    public func readData(ofLength length: Int) -> Data {
        noting(Data()) { () throws(SecureFileError) in try read(upToCount: length) ?? Data() }
    }

    /// Writes all of `data` at the position. Where that fails, as ``write(contentsOf:)``.
    public func write(_ data: Data) { noting(()) { () throws(SecureFileError) in try write(contentsOf: data) } }

    /// The position; 0 where that fails: the handle is closed, or the key away.
    public var offsetInFile: UInt64 { noting(0) { () throws(SecureFileError) in try offset() } }

    /// Moves the position to the end of the file, and returns it; 0 where that fails, and the position stays.
    @discardableResult
    public func seekToEndOfFile() -> UInt64 { noting(0) { () throws(SecureFileError) in try seekToEnd() } }

    /// Moves the position to `offset`; where that fails, it stays.
    public func seek(toFileOffset offset: UInt64) { noting(()) { () throws(SecureFileError) in try seek(toOffset: offset) } }

    /// Cuts or lengthens the file to `offset` bytes and moves the position there; where that fails, both stay.
    public func truncateFile(atOffset offset: UInt64) { noting(()) { () throws(SecureFileError) in try truncate(atOffset: offset) } }

    /// Makes everything written durable. Where that fails, ``lastError`` is all that tells.
    public func synchronizeFile() { noting(()) { () throws(SecureFileError) in try synchronize() } }

    /// Closes the handle. Where not everything could be written, ``lastError`` is all that tells.
    public func closeFile() { noting(()) { () throws(SecureFileError) in try close() } }
}
