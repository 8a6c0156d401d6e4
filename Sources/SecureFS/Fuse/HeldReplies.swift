import CFuse
import Glibc
import SecureFileCore

/// Replies to writes of cached data that one thread holds while more of them wait to be taken.
///
/// Whoever waits for cached data to be written waits for one page after the other, in their order. Answered one by one, each page wakes it
/// only to find the next page unwritten, and the waking takes as long as the write. Several are answered together, the last one first: when it
/// is woken, all of them are done.
final class HeldReplies {
    /// Bytes of a reply to a write: fuse_out_header and fuse_write_out.
    private static let size = 24
    private static let limit = 32

    private let bytes = PageBuffer(count: HeldReplies.size * HeldReplies.limit)
    private var count = 0
    /// The reply to the request in hand may be held.
    var isOpen = false

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count == HeldReplies.limit }

    /// Holds a reply that libfuse sends, if it may be held: returns its length then.
    func keep(_ parts: UnsafeMutablePointer<iovec>?, _ number: Int32) -> Int? {
        guard isOpen, !isFull, let parts = unsafe parts else { return nil }
        var length = 0
        for part in 0..<Int(number) { length += unsafe parts[part].iov_len }
        guard length == HeldReplies.size else { return nil }
        unsafe bytes.withPointer(count * HeldReplies.size..<(count + 1) * HeldReplies.size) { room in
            var used = 0
            for part in 0..<Int(number) {
                let source = unsafe UnsafeRawBufferPointer(start: parts[part].iov_base, count: parts[part].iov_len)
                unsafe UnsafeMutableRawBufferPointer(rebasing: room[used..<used + source.count]).copyMemory(from: source)
                used += source.count
            }
        }
        count += 1
        return length
    }

    /// Sends what is held. The kernel refuses a reply only where nobody waits for it any more.
    func send(to device: FuseDevice) {
        while count > 0 {
            count -= 1
            device.write(bytes, count * HeldReplies.size..<(count + 1) * HeldReplies.size)
        }
    }
}
