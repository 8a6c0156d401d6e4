import Glibc

/// Many readers or one writer. Not recursive. The corresponding C type is `pthread_rwlock_t`.
@safe
final class ReadWriteLock: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>

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

    func lockShared() { unsafe pthread_rwlock_rdlock(lock) }
    func lockExclusively() { unsafe pthread_rwlock_wrlock(lock) }
    func unlock() { unsafe pthread_rwlock_unlock(lock) }

    @inline(__always)
    func reading<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        unsafe pthread_rwlock_rdlock(lock)
        defer { unsafe pthread_rwlock_unlock(lock) }
        return try body()
    }

    @inline(__always)
    func writing<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        unsafe pthread_rwlock_wrlock(lock)
        defer { unsafe pthread_rwlock_unlock(lock) }
        return try body()
    }
}
