/// The standard error of the process.
package enum StandardError {
    /// Never closed.
    private static let descriptor = FileDescriptor(adopting: 2)

    /// Writes a line; where that fails there is nowhere to say so.
    package static func write(_ line: String) { try? descriptor.writeStream(Array((line + "\n").utf8)) }
}
