import SecureFileCore

/// A mount that only reads, while another process writes to the vault.
extension VaultFileSystem {
    /// Most times something is read again before it counts as damaged.
    private static let attempts = 20

    /// Runs `body`. What looks damaged to a mount that only reads may be in the middle of being written: it is looked at again, with what is known
    /// of `file` forgotten and under the sessions of now.
    func besideWriter<R>(_ file: SecureFile?, _ body: () throws(SecureFileError) -> R) throws(SecureFileError) -> R {
        var attempt = 1
        while true {
            do throws(SecureFileError) { return try body() } catch {
                // A writer that has just gone may have left what it wrote last.
                guard mayBeUnderWay(error), attempt < (vault.isInUseElsewhere ? Self.attempts : 2) else { throw error }
            }
            CurrentProcess.pause(milliseconds: UInt32(attempt))
            if let rule = try? vault.currentSessionRule() { context.follow(rule) }
            // Where it fails the next attempt reads it anew.
            try? file?.readAnew()
            attempt += 1
        }
    }

    /// To a mount that only reads: whether somebody writes, and which sessions have died, is looked up once a second.
    func followWriter() {
        if isSoleUser { return }
        let now = CurrentProcess.secondsSince1970
        guard followed.exchange(now, ordering: .relaxed) != now, let rule = try? vault.currentSessionRule() else { return }
        context.follow(rule)
    }

    /// To a mount that only reads: a file that somebody has open is read anew where the other mount has changed it.
    ///
    /// - Parameter status: Of the backing file, as it is now.
    func lookAgain(_ open: OpenContent, _ status: FileStatus) {
        if isSoleUser { return }
        let isOld = open.seenChange.withLock { seen in
            defer { seen = status.changeAtRest }
            return seen != status.changed
        }
        guard isOld else { return }
        followWriter()
        // Where it fails it is tried again by the next call that needs the content.
        try? open.file.readAnew()
    }

    private func mayBeUnderWay(_ error: SecureFileError) -> Bool {
        vault.access == .readOnly && (error.code == .damaged || error.code == .truncated || error.code == .notSecureFile)
    }
}

extension FileStatus {
    /// The time of the last change, by which a later one can be told; nil where the next may get the same time.
    var changeAtRest: FileTime? { changed.seconds < CurrentProcess.secondsSince1970 - 1 ? changed : nil }
}
