import Synchronization

/// Looks at everything in a vault: names, directory ids, headers, every block, symlinks, attributes, and what should not be there.
///
/// It reads only, unless it is told to settle. It works beside a process that writes: what does not open is looked at again before it is
/// called damaged, and what may be work in progress is passed over. One thread at a time.
public final class VaultChecker {
    /// What was looked at.
    public struct Totals: Sendable {
        public var directories = 0
        public var files = 0
        public var symlinks = 0
        public var attributes = 0
        /// Plaintext that was opened; holes do not count.
        public var bytes: Int64 = 0
        /// Files that were brought to a settled state.
        public var settled = 0
        /// Sessions that died and are forgotten now.
        public var sessionsForgotten = 0
        /// Sessions that died and are still remembered: their files are read leniently.
        public var sessionsRemembered = 0
        public init() {}
    }

    /// What the checker tells while it works.
    public struct Listener {
        /// Bytes of plaintext done since it was last called.
        public var progress: (Int64) -> Void
        public var report: (VaultFinding) -> Void
        public init(progress: @escaping (Int64) -> Void, report: @escaping (VaultFinding) -> Void) {
            self.progress = progress
            self.report = report
        }
    }

    /// Takes the lines about what is accepted leniently: to be given to ``Vault/open(at:_:_:content:log:)`` as its log.
    public final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        public init() {}
        public func add(_ line: String) { lines.withLock { $0.append(line) } }
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    let vault: Vault
    let log: Log
    let listener: Listener
    let settles: Bool
    private let asksForWriter: () -> Bool
    private var knowsOfWriter = false
    var totals = Totals()
    /// Something could not be looked into: nothing that is not referenced may be called an orphan, no session be forgotten.
    var isIncomplete = false
    /// Targets of long symlinks that were seen.
    var referencedTargets: Set<[UInt8]> = []
    private var seenInodes: Set<UInt64> = []

    /// - Parameters:
    ///   - settles: Ends the lenient reading of files that dead sessions left, and removes leftovers; needs the vault open for writing.
    ///   - log: What the vault was opened with.
    ///   - hasWriter: Whether another process has the vault open for writing now. Asked only where something looks wrong.
    public init(_ vault: Vault, log: Log, settles: Bool, hasWriter: @escaping () -> Bool, _ listener: Listener) {
        precondition(!settles || vault.access == .readWrite)
        self.vault = vault
        self.log = log
        self.settles = settles
        asksForWriter = hasWriter
        self.listener = listener
    }

    /// Another process may be writing, or has been since the check began.
    var isShared: Bool {
        if !settles && !knowsOfWriter { knowsOfWriter = asksForWriter() }
        return knowsOfWriter
    }

    /// A directory to be looked at.
    private struct Task {
        /// Nil for the root.
        var stored: StoredName?
        var parent: VaultDirectory
        var place: Place
    }

    /// Where something is: in the backing folder and for the user.
    struct Place {
        var stored: [UInt8]
        var path: [UInt8]?

        static let root = Place(stored: [], path: [])

        func appending(stored name: some Collection<UInt8>, path plaintext: [UInt8]?) -> Place {
            let slash = [UInt8(ascii: "/")]
            let userPath: [UInt8]? = path.flatMap { above in plaintext.map { above.isEmpty ? $0 : above + slash + $0 } }
            return Place(stored: stored.isEmpty ? Array(name) : stored + slash + name, path: userPath)
        }
    }

    /// Checks everything.
    ///
    /// - Throws: ``SecureFileError`` only where the check as a whole cannot go on; what is wrong in the vault is reported.
    public func run() throws(SecureFileError) -> Totals {
        var tasks = [Task(stored: nil, parent: vault.root, place: .root)]
        while let task = tasks.popLast() {
            guard let directory = open(task) else { continue }
            totals.directories += 1
            checkAttributes(directory.descriptor, inTrusted: false, task.place)
            for below in checkEntries(of: directory, task.place).reversed() {
                tasks.append(Task(stored: below.stored, parent: directory, place: below.place))
            }
        }
        checkTargets()
        try finishSettling()
        return totals
    }

    // MARK: Directories

    private func open(_ task: Task) -> VaultDirectory? {
        guard let stored = task.stored else {
            checkDirectoryID(task.parent.descriptor, task.place)
            return task.parent
        }
        do throws(Errno) {
            checkDirectoryID(try task.parent.descriptor.open(stored.entry, [.readOnly, .directory, .noFollow]), task.place)
        } catch {
            if error == .noEntry && isShared { return nil }
            report(error, "the directory cannot be opened", task.place)
            return nil
        }
        do throws(SecureFileError) { return try task.parent.openDirectory(stored) } catch {
            if error.cause == .noEntry && isShared { return nil }
            isIncomplete = true
            report(error.code == .damaged ? .damagedDirectory : .unreadable, error, task.place)
            return nil
        }
    }

    /// Whether the file `sfs.dir` is good; where the attribute is too, the directory works without it.
    private func checkDirectoryID(_ descriptor: FileDescriptor, _ place: Place) {
        guard let key = try? vault.keys.directoryKey else { return }
        let file = (try? AtomicFile.read(ReservedNames.directoryID, in: descriptor, limit: DirectoryIdentity.length)) ?? nil
        if let file, (try? DirectoryIdentity.decode(file, key)) ?? nil != nil { return }
        guard let attribute = try? descriptor.extendedAttribute(ReservedNames.directoryAttribute),
            (try? DirectoryIdentity.decode(attribute, key)) ?? nil != nil
        else { return }  // reported when it is opened
        var finding = finding(
            .directoryIDInAttributeOnly, "sfs.dir is missing or damaged; the directory works by its attribute",
            place.appending(stored: ReservedNames.directoryID.bytes, path: nil))
        finding.path = place.path
        finding.isRepaired = settles  // opening it restores the file
        listener.report(finding)
    }

    /// Looks at all entries but directories, which it returns.
    private func checkEntries(of directory: VaultDirectory, _ place: Place) -> [(stored: StoredName, place: Place)] {
        var raw: [(name: [UInt8], kind: FileKind?)] = []
        do throws(Errno) {
            let stream = try DirectoryStream(directory.descriptor)
            while let entry = try stream.next() { raw.append((entry.name, entry.kind)) }
        } catch {
            report(error, "the directory cannot be read to its end", place)
            // What was read is looked at all the same.
        }
        let names = Set(raw.map(\.name))
        var directories: [(stored: StoredName, place: Place)] = []
        for (name, kind) in raw {
            switch ReservedNames.meaning(of: name) {
            case .dots, .directoryID: continue
            case .short, .long:
                if let below = checkEntry(name, kind, directory, place) { directories.append(below) }
            case .companion: checkCompanion(name, names, directory, place)
            case .temporary: checkLeftover(name, directory, place)
            case .other: checkReserved(name, isRoot: place.stored.isEmpty, place)
            }
        }
        return directories
    }

    private func checkEntry(
        _ name: [UInt8], _ kind: FileKind?, _ directory: VaultDirectory, _ place: Place
    ) -> (stored: StoredName, place: Place)? {
        var here = place.appending(stored: name, path: nil)
        let stored: StoredName
        let status: FileStatus
        do throws(Errno) {
            status = try directory.descriptor.status(of: RawPath(name))
            guard let (plaintext, found) = try directory.plaintextName(of: name) else {
                reportForeign(name, here)
                return nil
            }
            here = place.appending(stored: name, path: plaintext)
            stored = found
        } catch {
            if !(error == .noEntry && isShared) { report(error, "the entry cannot be examined", here) }
            return nil
        }
        switch status.kind {
        case .directory: return (stored, here)
        case .symlink: checkSymlink(stored, directory, here)
        case .pipe, .socket, .characterDevice, .blockDevice: checkSpecialFile(stored, directory, here)
        case .regular:
            // Content is shared by all names of an inode.
            if status.linkCount > 1, !seenInodes.insert(status.inode).inserted { return nil }
            checkFile(stored, directory, here)
        }
        return nil
    }

    private func checkSpecialFile(_ stored: StoredName, _ directory: VaultDirectory, _ place: Place) {
        listener.report(finding(.specialFile, "a socket, pipe or device: mounts show it with -o special_files only", place))
        do throws(Errno) {
            checkAttributes(try directory.descriptor.open(stored.entry, [.pathOnly, .noFollow]), inTrusted: true, place)
        } catch {
            if !(error == .noEntry && isShared) { report(error, "the entry cannot be opened", place) }
        }
    }

    private func reportForeign(_ name: [UInt8], _ place: Place) {
        let isLong = ReservedNames.meaning(of: name) == .long
        // A sealed name has 17 bytes at least; what has that form was ours, or looks much like it.
        if isLong || (Base64URL.decode(name)?.count ?? 0) > NameLimits.sivOverhead {
            isIncomplete = true
            let why = isLong ? "its name, or the .name file beside it, does not open" : "its name does not open"
            listener.report(finding(.damagedName, why + ": changed, or moved here from another directory or vault", place))
        } else {
            listener.report(finding(.foreignEntry, "not of this vault; it is not shown", place))
        }
    }

    private func checkReserved(_ name: [UInt8], isRoot: Bool, _ place: Place) {
        if isRoot, ReservedNames.inRoot.contains(RawPath(name)) { return }
        listener.report(finding(.foreignEntry, "not of this vault; it is not shown", place.appending(stored: name, path: nil)))
    }

    private func checkSymlink(_ stored: StoredName, _ directory: VaultDirectory, _ place: Place) {
        totals.symlinks += 1
        if let text = try? directory.descriptor.symlinkTarget(stored.entry), case .file(let name, _)? = StoredSymlink(text: text) {
            referencedTargets.insert(name)
        }
        do throws(SecureFileError) {
            _ = try directory.symlinkTarget(stored)
            let link = try explained("the symlink cannot be opened") { () throws(Errno) in
                try directory.descriptor.open(stored.entry, [.pathOnly, .noFollow])
            }
            checkAttributes(link, inTrusted: true, place)
        } catch {
            if error.cause == .noEntry && isShared { return }
            report(error.code == .damaged ? .damagedSymlink : .unreadable, error, place)
        }
    }

    // MARK: Reporting

    func finding(_ kind: VaultFinding.Kind, _ message: String, _ place: Place) -> VaultFinding {
        VaultFinding(kind: kind, storedPath: RawPath(place.stored), path: place.path, message: message)
    }

    func report(_ kind: VaultFinding.Kind, _ error: SecureFileError, _ place: Place) {
        var finding = finding(kind, error.message, place)
        finding.block = error.block
        finding.cause = error.cause
        listener.report(finding)
    }

    func report(_ error: Errno, _ message: String, _ place: Place) {
        isIncomplete = true
        var finding = finding(.unreadable, message, place)
        finding.cause = error
        listener.report(finding)
    }
}
