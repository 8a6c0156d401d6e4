import FoundationEssentials

// The seed's forms with an error argument: a failure is put there, a ``SecureFileError``; success leaves it alone. What the seed has no such
// form of (seek, offset, truncate, synchronize, close) has one here.
extension SecureFileHandle {
    private func reporting<R>(_ error: inout (any Error)?, _ body: () throws(SecureFileError) -> R) -> R? {
        do throws(SecureFileError) { return try body() } catch let failure {
            note(failure)
            error = failure
            return nil
        }
    }

    /// All bytes from the position to the end of the file, none at the end; nil where that fails.
    public func availableData(error: inout (any Error)?) -> Data? { readDataToEndOfFile(error: &error) }

    /// Reads from the position to the end of the file; no bytes at the end, nil where that fails.
    public func readDataToEndOfFile(error: inout (any Error)?) -> Data? {
        reporting(&error) { () throws(SecureFileError) in try readToEnd() ?? Data() }
    }

    /// Reads up to `length` bytes at the position; no bytes at the end of the file, nil where that fails.
    public func readData(ofLength length: Int, error: inout (any Error)?) -> Data? {
        reporting(&error) { () throws(SecureFileError) in try read(upToCount: length) ?? Data() }
    }

    /// Writes all of `data` at the position; false where that fails.
    @discardableResult
    public func write(_ data: Data, error: inout (any Error)?) -> Bool {
        reporting(&error) { () throws(SecureFileError) in try write(contentsOf: data) } != nil
    }

    /// The position; nil where that fails.
    public func offsetInFile(error: inout (any Error)?) -> UInt64? { reporting(&error) { () throws(SecureFileError) in try offset() } }

    /// Moves the position to the end of the file, and returns it; nil where that fails.
    @discardableResult
    public func seekToEndOfFile(error: inout (any Error)?) -> UInt64? { reporting(&error) { () throws(SecureFileError) in try seekToEnd() } }

    /// Moves the position; false where that fails.
    @discardableResult
    public func seek(toFileOffset offset: UInt64, error: inout (any Error)?) -> Bool {
        reporting(&error) { () throws(SecureFileError) in try seek(toOffset: offset) } != nil
    }

    /// Cuts or lengthens the file and moves the position there; false where that fails.
    @discardableResult
    public func truncateFile(atOffset offset: UInt64, error: inout (any Error)?) -> Bool {
        reporting(&error) { () throws(SecureFileError) in try truncate(atOffset: offset) } != nil
    }

    /// Makes everything written durable; false where that fails.
    @discardableResult
    public func synchronizeFile(error: inout (any Error)?) -> Bool { reporting(&error) { () throws(SecureFileError) in try synchronize() } != nil }

    /// Closes the handle; false where not everything could be written. It counts as closed in any case.
    @discardableResult
    public func closeFile(error: inout (any Error)?) -> Bool { reporting(&error) { () throws(SecureFileError) in try close() } != nil }
}
