import Glibc

/// Many readers or one writer. Not recursive. The corresponding C type is `pthread_rwlock_t`.
@safe
final class ReadWriteLock: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>
    /// Nanoseconds; with one processor nothing can happen meanwhile.
    private static let patience = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 ? 30_000 : 0

    init() {
        unsafe lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
        var attributes = pthread_rwlockattr_t()
        unsafe pthread_rwlockattr_init(&attributes)
        // The default lets readers that follow each other keep a writer out for ever: a key could not be taken away from a busy file.
        unsafe pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
        unsafe pthread_rwlock_init(lock, &attributes)
        unsafe pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_rwlock_destroy(lock)
        unsafe lock.deallocate()
    }

    @inline(__always)
    func lockShared() {
        if unsafe pthread_rwlock_tryrdlock(lock) == 0 { return }
        if !spins({ unsafe pthread_rwlock_tryrdlock(lock) == 0 }) { unsafe pthread_rwlock_rdlock(lock) }
    }

    @inline(__always)
    func lockExclusively() {
        if unsafe pthread_rwlock_trywrlock(lock) == 0 { return }
        if !spins({ unsafe pthread_rwlock_trywrlock(lock) == 0 }) { unsafe pthread_rwlock_wrlock(lock) }
    }

    /// Tries for a while: most holders are gone within a microsecond or two. To sleep and be woken takes longer, and the lock is handed to a
    /// sleeper before it runs: whoever comes meanwhile has to sleep as well, and so on for as long as there is no pause.
    private func spins(_ attempt: () -> Bool) -> Bool {
        if Self.patience == 0 { return false }
        let end = monotonicNanoseconds() + Self.patience
        repeat {
            for _ in 0..<16 where attempt() { return true }
        } while monotonicNanoseconds() < end
        return false
    }

    func unlock() { unsafe pthread_rwlock_unlock(lock) }

    @inline(__always)
    func reading<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        lockShared()
        defer { unlock() }
        return try body()
    }

    @inline(__always)
    func writing<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        lockExclusively()
        defer { unlock() }
        return try body()
    }
}
