import CFuse
import CLinux
import Glibc
import SecureFileCore
import Synchronization

/// What is agreed with the kernel in the first request.
func installNegotiation(_ operations: inout fuse_lowlevel_ops) {
    unsafe operations.`init` = { userData, connection in
        guard let context = unsafe FuseContext.of(userData: userData), let connection = unsafe connection else { return }
        var wanted = Capabilities.wanted
        if context.fileSystem.keepsAccessControlLists {
            wanted |= UInt32(FUSE_CAP_DONT_MASK)
            if context.checksPermissions { wanted |= UInt32(FUSE_CAP_POSIX_ACL) }
        }
        // The kernel must not answer from a cache of its own what another process may have changed.
        if !context.fileSystem.isSoleUser { wanted &= ~UInt32(FUSE_CAP_WRITEBACK_CACHE) }
        let offered = unsafe connection.pointee.capable
        unsafe connection.pointee.want &= ~Capabilities.unwanted
        unsafe connection.pointee.want |= wanted & offered
        unsafe connection.pointee.max_write = UInt32(FuseWorker.largestData)
        unsafe connection.pointee.max_readahead = UInt32(FuseWorker.largestData)
        unsafe connection.pointee.max_background = 256
        unsafe connection.pointee.congestion_threshold = 192
        unsafe connection.pointee.time_gran = 1
    }
}

/// FUSE_CAP_…, each with its reason where it is not the plain name.
private enum Capabilities {
    /// With the write-back cache small writes and appends are gathered by the kernel: the greatest single gain in speed there is.
    /// Listings always bring attributes along: one more fstatat an entry, where a lookup later costs a request.
    static let wanted = UInt32(
        FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_ASYNC_READ
            | FUSE_CAP_ASYNC_DIO | FUSE_CAP_HANDLE_KILLPRIV | FUSE_CAP_CACHE_SYMLINKS)
    /// O_TRUNC comes as a change of size of its own: as part of the open the kernel (6.18) cuts its cache after it has let writes go on, and
    /// a write in between brings back what was cut (seen with libfuse's own example too).
    /// Splicing costs two system calls a request and gains nothing for data that must be deciphered; nobody but the kernel changes files,
    /// so there is nothing to look for behind its back.
    static let unwanted = UInt32(
        FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE
            | FUSE_CAP_EXPORT_SUPPORT | FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_IOCTL_DIR)
}

/// Sends replies. libfuse 3.14 cannot ask for FUSE_HANDLE_KILLPRIV_V2, with which the kernel no longer asks for `security.capability` on
/// every write; so the flag is put into the INIT reply on its way out, where the kernel has offered it.
struct FuseReplyPath {
    static var customIO: fuse_custom_io {
        var io = fuse_custom_io()
        unsafe io.read = { fd, buffer, count, _ in unsafe Glibc.read(fd, buffer, count) }
        unsafe io.writev = { fd, parts, count, userData in
            if let context = unsafe FuseContext.of(userData: userData) {
                if context.initRequest.load(ordering: .relaxed) != 0 { unsafe FuseReplyPath.editInitReply(parts, count, context) }
                if let length = unsafe context.worker.replies.keep(parts, count) { return length }
            }
            return unsafe Glibc.writev(fd, parts, count)
        }
        return io
    }

    private static func editInitReply(_ parts: UnsafeMutablePointer<iovec>?, _ count: Int32, _ context: FuseContext) {
        guard count >= 2, let parts = unsafe parts, let body = unsafe parts[1].iov_base else { return }
        let header = unsafe parts[0].iov_base.loadUnaligned(as: fuse_out_header.self)
        guard header.unique == context.initRequest.load(ordering: .relaxed), header.error == 0 else { return }
        // The flags are the fourth 32-bit word of fuse_init_out.
        let flagsOffset = 12
        guard unsafe parts[1].iov_len >= flagsOffset + 4 else { return }
        context.initRequest.store(0, ordering: .relaxed)
        guard context.privilegeFlagOffered.load(ordering: .relaxed) else { return }
        var flags = unsafe body.loadUnaligned(fromByteOffset: flagsOffset, as: UInt32.self)
        flags = flags & ~UInt32(FUSE_HANDLE_KILLPRIV) | UInt32(FUSE_HANDLE_KILLPRIV_V2)
        unsafe body.storeBytes(of: flags, toByteOffset: flagsOffset, as: UInt32.self)
    }
}
