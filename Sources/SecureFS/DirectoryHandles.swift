import SecureFileCore
import Synchronization

/// The directories that programs have open.
final class DirectoryHandles: Sendable {
    private struct State: Sendable {
        var open: [HandleID: DirectoryHandle] = [:]
        var next: UInt64 = 1
    }
    private let state = Mutex(State())

    /// A directory that is open here takes two descriptors. Beyond so many, one is opened when it is read: programs that hold thousands open
    /// do so to come back to them, not to read them.
    private static let crowd = 1024
    var isCrowded: Bool { state.withLock { $0.open.count >= DirectoryHandles.crowd } }

    func add(_ handle: DirectoryHandle) -> HandleID {
        state.withLock { state in
            let id = HandleID(rawValue: state.next)
            state.next += 1
            state.open[id] = handle
            return id
        }
    }

    func get(_ id: HandleID) throws(Errno) -> DirectoryHandle {
        guard let handle = state.withLock({ $0.open[id] }) else { throw .badDescriptor }
        return handle
    }

    /// Leaves no name in memory; each directory goes on where it was.
    func forgetNames() {
        for handle in state.withLock({ Array($0.open.values) }) {
            handle.reading.withLock { reading in
                guard reading.left != nil, case .open(_, let stream) = reading.place else { return }
                reading.left = nil
                stream.seek(to: reading.position)
            }
        }
    }

    func remove(_ id: HandleID) {
        let removed = state.withLock { $0.open.removeValue(forKey: id) }
        _ = removed
    }
}

/// One of them. The kernel asks one question at a time of an open directory, but not of all its descriptors: the lock makes sure.
final class DirectoryHandle: Sendable {
    let reading: Mutex<Reading>

    enum Place: Sendable {
        case open(VaultDirectory, VaultDirectoryStream)
        /// Not read yet, and not opened before.
        case unopened
        /// Empty.
        case removed
    }

    struct Reading: Sendable {
        var place: Place
        /// Where the stream stands.
        var position = 0
        /// An entry that was read but did not fit into the last reply.
        var left: VaultDirectoryStream.Entry?
    }

    init(_ place: Place) { reading = Mutex(Reading(place: place)) }
}
