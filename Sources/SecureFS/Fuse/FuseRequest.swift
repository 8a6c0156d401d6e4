import CFuse
import Glibc
import SecureFileCore

/// A request of the kernel that waits for its one reply.
///
/// Not copyable, and every reply consumes it: a second reply does not compile, and a forgotten one is answered with EIO. The replies that
/// hand something over (an entry, a handle) tell whether the kernel took it: it does not when the caller was interrupted meanwhile.
@safe
struct FuseRequest: ~Copyable {
    private let raw: fuse_req_t

    init(_ raw: fuse_req_t) { unsafe self.raw = unsafe raw }

    deinit { unsafe fuse_reply_err(raw, EIO) }

    var caller: Caller { unsafe Caller(of: raw) }

    /// The caller and all groups it is in, which /proc tells. Of root they do not matter.
    var callerWithGroups: Caller {
        var caller = caller
        if caller.user == 0 { return caller }
        var groups = [gid_t](repeating: 0, count: 64)
        while true {
            let count = Int(unsafe groups.withUnsafeMutableBufferPointer { unsafe fuse_req_getgroups(raw, Int32($0.count), $0.baseAddress) })
            if count < 0 { return caller }
            if count <= groups.count {
                caller.groups = Array(groups.prefix(count))
                return caller
            }
            groups = [gid_t](repeating: 0, count: count)
        }
    }

    consuming func reply(_ error: Errno) {
        unsafe fuse_reply_err(raw, error.rawValue)
        discard self
    }

    consuming func replyDone() {
        unsafe fuse_reply_err(raw, 0)
        discard self
    }

    /// For requests that have no reply (forget).
    consuming func finish() {
        unsafe fuse_reply_none(raw)
        discard self
    }

    consuming func reply(_ entry: Entry?, remember seconds: Double) -> Bool {
        var parameters = entry.map { fuse_entry_param($0, remember: seconds) } ?? .negative(remember: seconds)
        let taken = unsafe fuse_reply_entry(raw, &parameters) == 0
        discard self
        return taken
    }

    consuming func reply(_ attributes: FileStatus, remember seconds: Double) {
        var raw = stat(attributes)
        unsafe fuse_reply_attr(self.raw, &raw, seconds)
        discard self
    }

    consuming func reply(_ entry: Entry, opened info: inout fuse_file_info, remember seconds: Double) -> Bool {
        var parameters = fuse_entry_param(entry, remember: seconds)
        let taken = unsafe fuse_reply_create(raw, &parameters, &info) == 0
        discard self
        return taken
    }

    consuming func reply(opened info: inout fuse_file_info) -> Bool {
        let taken = unsafe fuse_reply_open(raw, &info) == 0
        discard self
        return taken
    }

    consuming func reply(symlinkTarget target: [UInt8]) {
        let terminated = target + [0]
        unsafe terminated.withUnsafeBytes { bytes in
            _ = unsafe fuse_reply_readlink(raw, bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
        }
        discard self
    }

    consuming func reply(written count: Int) {
        unsafe fuse_reply_write(raw, count)
        discard self
    }

    /// The first `count` bytes of `buffer`.
    consuming func reply(_ buffer: PageBuffer, count: Int) -> Bool {
        let taken = unsafe buffer.withPointer(0..<count) {
            unsafe fuse_reply_buf(raw, $0.baseAddress?.assumingMemoryBound(to: CChar.self), count) == 0
        }
        discard self
        return taken
    }

    /// An attribute's value or the list of names: the size where the caller asks for it (`room` is 0), ERANGE where it does not fit.
    consuming func reply(_ bytes: [UInt8], room: Int) {
        if room == 0 {
            unsafe fuse_reply_xattr(raw, bytes.count)
        } else if bytes.count > room {
            unsafe fuse_reply_err(raw, ERANGE)
        } else {
            unsafe bytes.withUnsafeBytes {
                _ = unsafe fuse_reply_buf(raw, $0.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }
        discard self
    }

    consuming func reply(_ status: FilesystemStatus) {
        var raw = statvfs(status, nameLimit: 255)
        unsafe fuse_reply_statfs(self.raw, &raw)
        discard self
    }

    consuming func reply(offset: Int64) {
        unsafe fuse_reply_lseek(raw, off_t(offset))
        discard self
    }
}

extension Caller {
    init(of request: fuse_req_t) {
        guard let context = unsafe fuse_req_ctx(request) else {
            self.init(user: .max, group: .max, process: 0, umask: 0o777)
            return
        }
        unsafe self.init(
            user: context.pointee.uid, group: context.pointee.gid, process: context.pointee.pid, umask: context.pointee.umask)
    }
}
