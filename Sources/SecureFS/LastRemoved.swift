import SecureFileCore
import Synchronization

/// What files were when their last name was removed: right after that the kernel says which time of change the file has now, and waits for the answer.
/// One that comes before it has gone to sleep saves whoever removes the waking. A few, by their place; each is told once.
final class LastRemoved: Sendable {
    private static let places: UInt32 = 8
    private let kept = Mutex<[(id: NodeID, status: FileStatus)?]>(Array(repeating: nil, count: Int(places)))

    /// Takes note of a file that nobody has open. Its number is never used again.
    func note(_ id: NodeID, _ status: FileStatus) { kept.withLock { $0[Self.place(id)] = (id, status) } }

    /// What the file was; nil where that is not known, or not any more. Forgets it.
    func take(_ id: NodeID) -> FileStatus? {
        kept.withLock { kept in
            guard let found = kept[Self.place(id)], found.id == id else { return nil }
            kept[Self.place(id)] = nil
            return found.status
        }
    }

    private static func place(_ id: NodeID) -> Int { Int(id.slot % places) }
}
