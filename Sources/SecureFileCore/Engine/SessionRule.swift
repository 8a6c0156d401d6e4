/// Which session writes now, and whose files are read leniently. FORMAT section 8.
public struct SessionRule: Sendable {
    /// The session files are stamped with.
    public var current: SessionID
    /// Sessions that died, and the open session of another process.
    public var lenient: Set<SessionID>

    public init(current: SessionID, lenient: Set<SessionID> = []) {
        self.current = current
        self.lenient = lenient
    }

    /// Whether a file that `session` wrote last may hold what a loss of power leaves.
    public func isLenient(_ session: SessionID) -> Bool { !lenient.isEmpty && lenient.contains(session) }

    /// Whether any file may hold it: then sizes come from headers, not from backing lengths.
    public var hasDead: Bool { !lenient.isEmpty }
}
