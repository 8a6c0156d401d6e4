import SecureFileCore
import Synchronization

/// The time of a file's last change, as the kernel has it. With its write-back cache the kernel keeps this time itself, and sends it, where a
/// write moved it, together with what was written. Where it did not move, because the file was made, or written before, in the same tick of the
/// clock, nothing is sent; what the backing filesystem makes of the late write would then be another time than programs were told.
struct ToldTime {
    /// The one told last; nil where nothing has been written since the file is open.
    var modified: FileTime?
    /// Something was written since.
    var isDisturbed = false
}

extension OpenContent {
    /// Runs a change of the content, after which the backing file may have another time than the kernel.
    func disturbingTime(_ body: () throws(Errno) -> Void) throws(Errno) {
        if told.withLock({ $0.modified == nil }) {
            let found = try backing.modificationTime()
            told.withLock { if $0.modified == nil { $0.modified = found } }
        }
        // Afterwards, whatever came of it: a time that is set meanwhile may be gone again.
        defer { told.withLock { $0.isDisturbed = true } }
        try body()
    }

    /// Runs a change of the times that the kernel asks for.
    func changingTimes(_ change: AttributeChange, _ body: () throws(Errno) -> Void) throws(Errno) {
        switch change.modified {
        case .keep: break
        case .to(let time): told.withLock { $0 = ToldTime(modified: time) }
        case .now: told.withLock { $0 = ToldTime() }
        }
        try file.excludingWrites(body)
    }

    /// Gives the backing file the time that the kernel has. Called when the kernel has sent what it holds of the file.
    func restoreToldTime() throws(Errno) {
        let time = told.withLock { told in
            defer { told.isDisturbed = false }
            return told.isDisturbed ? told.modified : nil
        }
        guard let time else { return }
        try file.excludingWrites { () throws(Errno) in
            if try backing.modificationTime() != time { try backing.restore(modified: time) }
        }
    }
}
