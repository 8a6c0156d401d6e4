/// Where a mount writes what its user should know. Lines hold ciphertext names only.
package struct MountLog: Sendable {
    private let sink: @Sendable (String) -> Void
    package init(_ sink: @escaping @Sendable (String) -> Void) { self.sink = sink }
    package func write(_ line: String) { sink(line) }
}
