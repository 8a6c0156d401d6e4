/// Files and attributes.
extension VaultChecker {
    /// Most times a file is looked at again where another process may be writing it.
    private static let attempts = 5

    func checkFile(_ stored: StoredName, _ directory: VaultDirectory, _ place: Place) {
        totals.files += 1
        let file: FileDescriptor
        do throws(Errno) { file = try directory.openFile(stored, settles ? .readWrite : .readOnly) } catch {
            if error == .noEntry && isShared { return }
            return report(error, "the file cannot be opened", place)
        }
        var findings: [VaultFinding] = []
        var progressDone: Int64 = 0
        for attempt in 1...Self.attempts {
            var done: Int64 = 0
            findings = verify(file, place, isAgain: attempt > 1) { bytes in
                done += bytes
                // What is done again is not counted again.
                if done > progressDone {
                    self.listener.progress(done - progressDone)
                    progressDone = done
                }
            }
            if findings.isEmpty || attempt == Self.attempts || !isShared { break }
            CurrentProcess.pause(milliseconds: 50)
        }
        let lenient = log.take()
        if !lenient.isEmpty && !isShared { findings += lenient.map { lenientFinding($0, place) } }
        totals.bytes += progressDone
        if findings.contains(where: \.meansIncomplete) { isIncomplete = true }
        for finding in findings { listener.report(finding) }
        checkAttributes(file, inTrusted: false, place)
    }

    private func verify(_ file: FileDescriptor, _ place: Place, isAgain: Bool, _ progress: (Int64) -> Void) -> [VaultFinding] {
        var findings: [VaultFinding] = []
        _ = log.take()
        let content: SecureFile
        do throws(SecureFileError) {
            let context = isAgain ? try presentContext() : vault.content
            content = try SecureFile.open(PosixByteStore(file), context, path: RawPath(place.stored).description)
        } catch { return [contentFinding(error, place)] }
        content.verifyAll(progress: progress) { findings.append(contentFinding($0, place)) }
        if content.backingDisagreed {
            findings.append(finding(.excessBytes, "the backing file is longer than the file needs; the rest is ignored", place))
        }
        if settles { settle(content, &findings, place) }
        return findings
    }

    /// Which sessions are read leniently may have changed since the vault was opened.
    private func presentContext() throws(SecureFileError) -> ContentContext {
        let keys = try vault.keys
        return ContentContext(
            contentKey: keys.contentKey, keyID: keys.keyID, cipher: vault.cipher, session: try vault.currentSessionRule())
    }

    private func settle(_ content: SecureFile, _ findings: inout [VaultFinding], _ place: Place) {
        guard content.needsSettling else { return }
        do throws(SecureFileError) {
            try content.settleForGood()
            totals.settled += 1
        } catch { findings.append(contentFinding(error, place)) }
    }

    /// - Parameter line: The path, as the file was opened with, a colon, and the words.
    private func lenientFinding(_ line: String, _ place: Place) -> VaultFinding {
        let path = RawPath(place.stored).description + ": "
        return finding(.lenientlyRead, line.hasPrefix(path) ? String(line.dropFirst(path.count)) : line, place)
    }

    private func contentFinding(_ error: SecureFileError, _ place: Place) -> VaultFinding {
        let kind: VaultFinding.Kind =
            switch error.code {
            case .damaged: .damagedContent
            case .truncated: .truncatedContent
            case .notSecureFile, .wrongKey: .foreignContent
            case .unsupportedVersion: .unsupportedContent
            default: .unreadable
            }
        var finding = finding(kind, error.message, place)
        finding.block = error.block
        finding.cause = error.cause
        return finding
    }

    // MARK: Attributes

    func checkAttributes(_ file: FileDescriptor, inTrusted: Bool, _ place: Place) {
        let attributes = vault.attributes
        let stored: [RawPath]
        do throws(Errno) {
            stored = inTrusted ? try file.pathExtendedAttributeNames() : try file.extendedAttributeNames()
        } catch {
            // A filesystem without them has none; a directory opened as a path only was reported already.
            if error != .notSupported && error != .badDescriptor && error != .noSystemCall {
                report(error, "the attributes cannot be read", place)
            }
            return
        }
        let ours = stored.filter(VaultAttributes.isOurs).count
        if ours == 0 { return }
        do throws(SecureFileError) {
            let names = try attributes.list(file, inTrusted: inTrusted)
            totals.attributes += ours
            if names.count < ours && !isShared {
                listener.report(finding(.damagedAttribute, "the names of \(ours - names.count) attributes do not open", place))
            }
            for name in names { try checkAttribute(name, file, inTrusted, place) }
        } catch { report(.unreadable, error, place) }
    }

    private func checkAttribute(_ name: [UInt8], _ file: FileDescriptor, _ inTrusted: Bool, _ place: Place) throws(SecureFileError) {
        do throws(SecureFileError) { _ = try vault.attributes.get(file, name: name, inTrusted: inTrusted) } catch {
            if error.cause == .noData && isShared { return }
            if error.code != .damaged { throw error }
            report(.damagedAttribute, error, place)
        }
    }
}

extension VaultFinding {
    /// A whole file could not be opened, or not be settled.
    fileprivate var meansIncomplete: Bool { severity != .note && (block == nil || severity == .unreadable) }
}

extension VaultAttributes {
    /// Whether a stored name has the form of an attribute of the user's.
    static func isOurs(_ stored: RawPath) -> Bool {
        ["user.sfs.n.", "user.sfs.h.", "trusted.sfs.n.", "trusted.sfs.h."].contains { stored.bytes.starts(with: $0.utf8) }
    }
}
