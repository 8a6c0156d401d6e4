import Glibc
import SecureFileCore

/// The signals that end a mount, taken one at a time by a thread that waits for them: no handler runs in the middle of anything.
@safe
struct SignalWaiter {
    private var set = sigset_t()

    /// Blocks the signals in this thread, and so in all that it starts afterwards.
    init() {
        unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&set, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        // A reader of our output that has gone must not end the mount.
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for the next of the signals.
    mutating func wait() -> Int32 {
        var signal: Int32 = 0
        while unsafe sigwait(&set, &signal) != 0 {}
        return signal
    }
}

/// A thread that can be made to return from ``SignalWaiter/wait()``.
@safe
struct SignalTarget: @unchecked Sendable {
    private let thread = pthread_self()
    func wake() { pthread_kill(thread, SIGTERM) }
}
