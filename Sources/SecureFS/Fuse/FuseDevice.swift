import CLinux
import Glibc
import SecureFileCore

/// The reading side of /dev/fuse: never blocks in read, so that one thread may spin while none is woken by mistake.
final class FuseDevice: Sendable {
    private let fd: Int32
    /// Wakes the thread that sleeps on the device, to end the loop.
    private let wakeUp: FileDescriptor

    enum Outcome {
        case request(count: Int)
        case empty
        /// Unmounted, or the connection was aborted.
        case gone
        case failed(Errno)
    }

    init(fd: Int32) throws(Errno) {
        self.fd = fd
        let event = CLinux_eventfd()
        if event < 0 { throw Errno(rawValue: CLinux_errno()) }
        wakeUp = FileDescriptor(adopting: event)
        if CLinux_set_nonblocking(fd, 1) != 0 { throw Errno(rawValue: CLinux_errno()) }
    }

    /// Takes a request if there is one now.
    func read(into buffer: PageBuffer) -> Outcome {
        while true {
            let got = unsafe buffer.withPointer(0..<buffer.count) { unsafe Glibc.read(fd, $0.baseAddress, $0.count) }
            if got > 0 { return .request(count: got) }
            if got == 0 { return .gone }
            switch CLinux_errno() {
            case EAGAIN: return .empty
            case EINTR, ENOENT: continue  // ENOENT: the request was interrupted before it could be handed over
            case ENODEV, ECONNABORTED: return .gone
            case let other: return .failed(Errno(rawValue: other))
            }
        }
    }

    /// Sends a reply that libfuse does not send itself. The kernel refuses it only where nobody waits for it any more.
    func write(_ reply: PageBuffer, _ range: Range<Int>) {
        _ = unsafe reply.withPointer(range) { unsafe Glibc.write(fd, $0.baseAddress, $0.count) }
    }

    /// Sleeps until there is a request, the mount is gone, or ``wake()``.
    func sleep() {
        var watched = [pollfd(fd: fd, events: Int16(POLLIN), revents: 0), pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0)]
        unsafe watched.withUnsafeMutableBufferPointer { _ = unsafe poll($0.baseAddress, 2, -1) }
    }

    /// Ends every sleep, now and later.
    func wake() {
        var one: UInt64 = 1
        _ = unsafe Glibc.write(wakeUp.rawValue, &one, 8)
    }
}
