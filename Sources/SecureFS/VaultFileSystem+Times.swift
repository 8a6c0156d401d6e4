import SecureFileCore
import Synchronization

/// The time of a file's last change, as the kernel has it. With its write-back cache the kernel keeps this time itself, and sends it, where a
/// write moved it, before or behind what was written. Where it did not move, because the file was made, or written before, in the same tick of
/// the clock, nothing is sent; what the backing file system makes of the late write would then be another time than programs were told.
struct ToldTime {
    /// The one told last; nil where it is not known.
    var modified: FileTime?
    /// Something was written since.
    var isDisturbed = false
}

extension OpenContent {
    /// Runs a change of the content that the kernel has given a time of its own. Until ``restoreToldTime()`` the backing file's time may be too
    /// late, never too early.
    func keepingToldTime(_ body: () throws(Errno) -> Void) throws(Errno) {
        if backing.told.withLock({ $0.modified == nil }) {
            let found = try backing.modificationTime()
            backing.told.withLock { if $0.modified == nil { $0.modified = found } }
        }
        // Afterwards, whatever came of it: a time that is set meanwhile may be gone again.
        defer { backing.told.withLock { $0.isDisturbed = true } }
        try body()
    }

    /// After a change that came directly from a program: the time is the backing file system's.
    func forgetToldTime() { backing.told.withLock { $0 = ToldTime() } }

    /// `status` of the backing file, as programs are to see it.
    func shown(_ status: FileStatus) -> FileStatus {
        var status = status
        status.size = file.size.rawValue
        if let time = backing.told.withLock({ $0.modified }) { status.modified = time }
        return status
    }

    /// What the kernel says of its writes to an open file is only noted. The backing file gets it with the next flush, fsync or close, which it would
    /// need again then for what was written meanwhile, and until then has about the same time by itself.
    func noteTime(_ change: AttributeChange) -> Bool {
        let now = FileTime(seconds: CurrentProcess.secondsSince1970, nanoseconds: 0)
        guard users > 0, isWritable, let time = change.timeOfKernel, time.isAbout(now, nanoseconds: 60_000_000_000) else { return false }
        backing.told.withLock { $0 = ToldTime(modified: time, isDisturbed: true) }
        return true
    }

    /// Sets the times of the backing file, as the kernel has said. Not while a late write puts back the time it found: that would be the one
    /// before this change.
    func setTimes(_ change: AttributeChange) throws(Errno) {
        switch change.modified {
        case .keep: break
        case .to(let time): backing.told.withLock { $0 = ToldTime(modified: time) }
        case .now: forgetToldTime()
        }
        try file.excludingWrites { () throws(Errno) in
            try backing.descriptor.setTimes(accessed: change.accessed, modified: change.modified)
        }
    }

    /// What the kernel has said last holds again. Called when the kernel has sent what it holds of the file; an fsync does the same by itself.
    func restoreToldTime() throws(Errno) {
        guard backing.told.withLock({ $0.isDisturbed && $0.modified != nil }) else { return }
        try file.excludingWrites { () throws(Errno) in
            let told = backing.told.withLock { $0 }
            if told.isDisturbed, let time = told.modified { try backing.restore(modified: time) }
        }
    }
}

extension FileTime {
    /// The same moment, but for so much.
    func isAbout(_ other: FileTime, nanoseconds tolerance: Int64) -> Bool {
        let (seconds, overflow) = other.seconds.subtractingReportingOverflow(seconds)
        if overflow || seconds.magnitude > 1_000_000 { return false }
        return abs(seconds * 1_000_000_000 + other.nanoseconds - nanoseconds) < tolerance
    }
}
