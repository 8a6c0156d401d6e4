import SecureFileCore

/// SQLite's five lock levels of one connection on one database, by locks of byte ranges that lie past any content. FORMAT section 15.
///
/// The protocol is SQLite's own (see its os_unix.c): readers share the shared range; a writer-to-be takes the reserved byte, then the pending
/// byte, which keeps new readers out, then the shared range.
final class StoreLock {
    enum Level: Int32, Comparable {
        case none = 0, shared, reserved, pending, exclusive
        static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    private static let pendingByte: Int64 = 0x7FFF_FFFF_0000_0000
    private static let reservedByte = pendingByte + 1
    private static let sharedStart = pendingByte + 2
    private static let sharedCount: Int64 = 510

    private let file: FileDescriptor
    private(set) var level = Level.none

    init(_ file: FileDescriptor) { self.file = file }

    /// Raises the level; false when another connection is in the way. Then it may have got as far as `pending`.
    func raise(to wanted: Level) throws(Errno) -> Bool {
        if wanted <= level { return true }
        switch wanted {
        case .none, .pending: return true
        case .shared: return try takeShared()
        case .reserved:
            guard try file.setLock(.exclusive, start: Self.reservedByte, count: 1) else { return false }
        case .exclusive:
            if level < .pending {
                guard try file.setLock(.exclusive, start: Self.pendingByte, count: 1) else { return false }
                level = .pending
            }
            guard try file.setLock(.exclusive, start: Self.sharedStart, count: Self.sharedCount) else { return false }
        }
        level = wanted
        return true
    }

    private func takeShared() throws(Errno) -> Bool {
        guard try file.setLock(.shared, start: Self.pendingByte, count: 1) else { return false }
        let got: Bool
        do throws(Errno) { got = try file.setLock(.shared, start: Self.sharedStart, count: Self.sharedCount) } catch {
            _ = try? file.setLock(.none, start: Self.pendingByte, count: 1)
            throw error
        }
        _ = try file.setLock(.none, start: Self.pendingByte, count: 1)
        if got { level = .shared }
        return got
    }

    /// Lowers the level to `shared` or `none`.
    func lower(to wanted: Level) throws(Errno) {
        if wanted >= level { return }
        if wanted == .shared {
            if level == .exclusive { _ = try file.setLock(.shared, start: Self.sharedStart, count: Self.sharedCount) }
            _ = try file.setLock(.none, start: Self.pendingByte, count: 2)
        } else {
            _ = try file.setLock(.none, start: Self.pendingByte, count: 2 + Self.sharedCount)
        }
        level = wanted
    }

    /// Whether any connection, this one included, holds the reserved byte or more.
    func isReserved() throws(Errno) -> Bool {
        if level >= .reserved { return true }
        return try file.isLockedElsewhere(start: Self.reservedByte, count: 1)
    }
}
