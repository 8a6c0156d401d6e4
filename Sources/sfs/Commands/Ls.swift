import SecureFileCore

enum Ls: Command {
    static let name = "ls"
    static let operands = ["VAULT", "[PATH]"]
    static let options: [Option] = Option.ofKeys + [.long, .recursive, .json]
    static let summary = "List a directory of a vault, without a mount."
    static let details = """
        All entries are listed, sorted by their bytes, one a line. On a terminal control characters in names are shown as \\xNN;
        elsewhere names are printed as they are. With --json there is one object a line.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let reader = try VaultReader(arguments)
        let path = arguments.operands.count > 1 ? arguments.operands[1] : RawPath("/")
        let listing = Listing(reader.vault, arguments)
        switch try reader.resolve(path, followingLast: false) {
        case .directory(let directory): try listing.show(directory, path)
        case .entry(let name, let status, let directory): try listing.show(Array(path.bytes), name, status, directory)
        }
        try listing.output.flush()
        if let failure = listing.firstFailure { return failure }
        return .success
    }
}

/// Prints entries. What cannot be read is complained of and left out.
private final class Listing {
    let output = Output()
    private(set) var firstFailure: ExitCode?
    private let vault: Vault
    private let isLong, isRecursive, isJSON: Bool

    init(_ vault: Vault, _ arguments: Arguments) {
        self.vault = vault
        isLong = arguments.has(.long)
        isRecursive = arguments.has(.recursive)
        isJSON = arguments.has(.json)
    }

    /// A directory still to be listed.
    private struct Task {
        /// Nil for the first, which is `parent` itself.
        var stored: StoredName?
        var parent: VaultDirectory
        /// Before the names in it.
        var prefix: [UInt8]
    }

    func show(_ directory: VaultDirectory, _ path: RawPath) throws(Failure) {
        var tasks = [Task(stored: nil, parent: directory, prefix: [])]
        while let task = tasks.popLast() {
            let place = task.prefix.isEmpty ? path : RawPath(task.prefix.dropLast())
            let opened: VaultDirectory
            var entries: [(name: [UInt8], stored: StoredName)] = []
            do throws(SecureFileError) {
                opened = if let stored = task.stored { try task.parent.openDirectory(stored) } else { task.parent }
                let stream = try opened.entries()
                while let entry = try stream.next() {
                    if entry.name != [46] && entry.name != [46, 46] { entries.append((entry.name, entry.stored)) }
                }
            } catch {
                note(Failure(error, about: .entry, path: place))
                continue
            }
            entries.sort { $0.name.lexicographicallyPrecedes($1.name) }
            var below: [Task] = []
            for entry in entries {
                let name = task.prefix + entry.name
                let status: FileStatus
                do throws(Errno) { status = try opened.status(entry.stored) } catch {
                    if error != .noEntry { note(Failure(error, "cannot be examined", about: .entry, path: RawPath(name))) }
                    continue  // gone meanwhile
                }
                try show(name, entry.stored, status, opened)
                if isRecursive, status.kind == .directory {
                    below.append(Task(stored: entry.stored, parent: opened, prefix: name + [UInt8(ascii: "/")]))
                }
            }
            tasks += below.reversed()
        }
    }

    func show(_ name: [UInt8], _ stored: StoredName, _ status: FileStatus, _ directory: VaultDirectory) throws(Failure) {
        guard isLong || isJSON else {
            try output.name(name)
            return try output.line()
        }
        let size = self.size(status, stored, directory)
        var target: [UInt8]?
        if status.kind == .symlink {
            do throws(SecureFileError) { target = try directory.symlinkTarget(stored) } catch {
                note(Failure(error, about: .entry, path: RawPath(name)))
            }
        }
        if isJSON { return try output.line(json(name, status, size, target).encoded) }
        let columns = [
            Self.mode(status), "\(status.linkCount)", "\(status.owner)", "\(status.group)", Self.padded("\(size)", 12),
            System.timestamp(status.modified.seconds),
        ]
        try output.write((columns.joined(separator: " ") + " ").utf8)
        try output.name(name)
        if let target {
            try output.write(" -> ".utf8)
            try output.name(target)
        }
        try output.line()
    }

    private func size(_ status: FileStatus, _ stored: StoredName, _ directory: VaultDirectory) -> Int64 {
        // While a session is open or died, only the file itself knows how much of it counts.
        if status.kind == .regular, status.size > 0, vault.sessionRule.hasDead, let file = try? directory.openFile(stored, .readOnly),
            let content = try? SecureFile.open(PosixByteStore(file), vault.content, path: stored.entry.description)
        {
            return content.size.rawValue
        }
        return (try? directory.plaintextSize(status, stored)) ?? status.size
    }

    private func json(_ name: [UInt8], _ status: FileStatus, _ size: Int64, _ target: [UInt8]?) -> JSON {
        let kind =
            switch status.kind {
            case .regular: "file"
            case .directory: "directory"
            case .symlink: "symlink"
            case .pipe, .socket, .characterDevice, .blockDevice: "other"
            }
        var members = JSON.bytes("name", name)
        members += [
            ("type", .string(kind)), ("size", .integer(size)), ("mode", .string(String(status.permissions, radix: 8))),
            ("links", .number(status.linkCount)), ("owner", .number(status.owner)), ("group", .number(status.group)),
            ("modified", .integer(status.modified.seconds)), ("modifiedNanoseconds", .integer(status.modified.nanoseconds)),
        ]
        if let target { members += JSON.bytes("target", target) }
        return .object(members)
    }

    /// As ls(1) shows it: `-rw-r--r--`.
    private static func mode(_ status: FileStatus) -> String {
        var text =
            switch status.kind {
            case .regular: "-"
            case .directory: "d"
            case .symlink: "l"
            case .pipe, .socket, .characterDevice, .blockDevice: "?"
            }
        for (shift, special, letters) in [(6, 0o4000, ("s", "S")), (3, 0o2000, ("s", "S")), (0, 0o1000, ("t", "T"))] {
            let bits = status.permissions >> UInt32(shift) & 7
            let isSpecial = status.permissions & UInt32(special) != 0
            text += bits & 4 != 0 ? "r" : "-"
            text += bits & 2 != 0 ? "w" : "-"
            text += isSpecial ? (bits & 1 != 0 ? letters.0 : letters.1) : (bits & 1 != 0 ? "x" : "-")
        }
        return text
    }

    private static func padded(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

    private func note(_ failure: Failure) {
        firstFailure = firstFailure ?? failure.code
        Console.complain(Ls.name, failure.path, failure.message)
    }
}
