import Synchronization

/// The files that handles of one service have open: one content for each backing inode, shared by all its handles.
final class OpenFileTable: Sendable {
    private struct Entry: Sendable {
        var content: SharedContent
        var users: Int
    }
    private let entries = Mutex<[BackingKey: Entry]>([:])

    /// The content of an inode; `make` gives it where there is none. Counts as one more user until ``leave(_:)``.
    func join(_ key: BackingKey, make: () -> SharedContent) -> SharedContent {
        entries.withLock { entries in
            let content = entries[key]?.content ?? make()
            entries[key, default: Entry(content: content, users: 0)].users += 1
            return content
        }
    }

    func leave(_ content: SharedContent) {
        entries.withLock { entries in
            guard let entry = entries[content.key], entry.content === content else { return }
            if entry.users > 1 { entries[content.key]?.users -= 1 } else { entries[content.key] = nil }
        }
    }

    /// The handles of files of `context` fail as closed from now on.
    func abandon(_ context: ContentContext) {
        let all = entries.withLock { entries in
            let all = entries.values.map(\.content).filter { $0.context === context }
            entries = entries.filter { $0.value.content.context !== context }
            return all
        }
        for content in all { content.abandon() }
    }
}
