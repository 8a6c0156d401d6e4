import Glibc

/// What a process can ask about itself and the clock.
public enum CurrentProcess {
    /// The process ID. The corresponding C function is `getpid`.
    public static var id: Int32 { getpid() }

    /// Lets other threads run. The corresponding C function is `sched_yield`.
    static func yieldProcessor() { sched_yield() }

    /// Does nothing for a moment. The corresponding C function is `usleep`.
    package static func nap(microseconds: UInt32) { usleep(microseconds) }

    /// Seconds since 1970 by the system's clock.
    public static var secondsSince1970: Int64 {
        var now = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }

    /// Does nothing for a while. The corresponding C function is `usleep`.
    public static func pause(milliseconds: UInt32) { nap(microseconds: milliseconds * 1000) }

    /// The working directory. The corresponding C function is `getcwd`.
    static func workingDirectory() throws(Errno) -> RawPath {
        let buffer = PageBuffer(count: 8192)
        let failed = unsafe buffer.withPointer(0..<8192) {
            unsafe getcwd($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) == nil
        }
        if failed { throw Errno.last }
        return RawPath(buffer.bytes(0..<8192).prefix { $0 != 0 })
    }
}
