import Glibc

/// A mutex with a condition: Swift's own mutex has no way to wait. Always used as `lock`, short work, `unlock`.
@safe
package final class WaitPoint: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    package func lock() { unsafe pthread_mutex_lock(mutex) }
    package func unlock() { unsafe pthread_mutex_unlock(mutex) }
    /// Waits for a signal; the lock is held before and after.
    package func wait() { unsafe pthread_cond_wait(condition, mutex) }
    package func signal() { unsafe pthread_cond_signal(condition) }
    package func broadcast() { unsafe pthread_cond_broadcast(condition) }

    /// The same, for at most `nanoseconds`.
    package func wait(nanoseconds: Int) {
        var until = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &until)
        let sum = until.tv_nsec + nanoseconds
        until = timespec(tv_sec: until.tv_sec + sum / 1_000_000_000, tv_nsec: sum % 1_000_000_000)
        unsafe pthread_cond_timedwait(condition, mutex, &until)
    }
}

/// A thread with a stack of known size, joined by whoever started it.
@safe
package struct NativeThread: @unchecked Sendable {
    private let id: pthread_t

    /// Starts `body`. The threads of the loop take requests as deep as the engine goes: 1 MiB holds that with room.
    package static func start(stackBytes: Int = 1 << 20, _ body: @escaping @Sendable () -> Void) throws(Errno) -> NativeThread {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        let box = unsafe Unmanaged.passRetained(Body(run: body))
        var id = pthread_t()
        let result = unsafe pthread_create(
            &id, &attributes,
            { raw in
                if let raw = unsafe raw { unsafe Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        if result != 0 {
            unsafe box.release()
            throw Errno(rawValue: result)
        }
        return NativeThread(id: id)
    }

    package func join() { pthread_join(id, nil) }
    /// Nobody will join it: what it takes goes with its end.
    package func detach() { pthread_detach(id) }

    private final class Body {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// Nanoseconds of the monotonic clock.
package func monotonicNanoseconds() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
}
