import CFuse
import Synchronization

/// What the kernel remembers of the mount's inodes. Calls do nothing while there is no session.
@safe
final class KernelCache: Sendable {
    /// The address of the libfuse session; 0 without one.
    private let session = Atomic<UInt>(0)

    func attach(_ session: OpaquePointer) { self.session.store(UInt(bitPattern: session), ordering: .releasing) }
    func detach() { session.store(0, ordering: .releasing) }

    /// Has the kernel send all data of `node` that it has not written yet, and drop its cache of it. Waits for those writes: another thread
    /// must be there to serve them.
    func flush(_ node: UInt64) { invalidate(node, from: 0) }

    /// Has the kernel ask for the attributes of `node` anew.
    func forgetAttributes(_ node: UInt64) { invalidate(node, from: -1) }

    private func invalidate(_ node: UInt64, from offset: Int64) {
        guard let session = unsafe OpaquePointer(bitPattern: session.load(ordering: .acquiring)) else { return }
        // An inode the kernel does not have any more has nothing to flush.
        _ = unsafe fuse_lowlevel_notify_inval_inode(session, node, off_t(offset), 0)
    }
}
