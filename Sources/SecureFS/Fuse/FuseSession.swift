import CFuse
import CLinux
import Glibc
import SecureFileCore

/// A mount: made, served by the loop, and unmounted.
@safe
final class FuseSession: @unchecked Sendable {
    private let session: OpaquePointer
    private let context: FuseContext
    let mountPoint: RawPath
    private let options: MountOptions
    private var isMounted = false

    /// Prepares a mount; nothing is mounted yet.
    init(_ fileSystem: any FileSystemOperations, at mountPoint: RawPath, _ options: MountOptions) throws(MountFailure) {
        FuseMessages.collect()
        let isRoot = geteuid() == 0
        context = FuseContext(fileSystem, checksPermissions: options.checksPermissions(mountingAsRoot: isRoot))
        self.mountPoint = mountPoint
        self.options = options
        let argument = options.argument(mountingAsRoot: isRoot)
        guard let made = unsafe FuseSession.make(argument, context) else {
            throw MountFailure(message: FuseMessages.last ?? "the mount options are not accepted: \(argument)")
        }
        unsafe session = made
        unsafe context.kernelCache.attach(made)
    }

    deinit {
        context.kernelCache.detach()
        unsafe fuse_session_destroy(session)
    }

    private static func make(_ argument: String, _ context: FuseContext) -> OpaquePointer? {
        var operations = fuse_lowlevel_ops()
        installNegotiation(&operations)
        installNameOperations(&operations)
        installAttributeOperations(&operations)
        installFileOperations(&operations)
        installDirectoryOperations(&operations)
        var arguments = unsafe fuse_args()
        defer { unsafe fuse_opt_free_args(&arguments) }
        for word in ["sfs", "-o", argument] {
            if unsafe fuse_opt_add_arg(&arguments, word) != 0 { return nil }
        }
        // The session keeps no reference of its own: the context lives as long as the owner of both.
        let userData = unsafe Unmanaged.passUnretained(context).toOpaque()
        return unsafe fuse_session_new(&arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size, userData)
    }

    func mount() throws(MountFailure) {
        let result = unsafe mountPoint.withCString { unsafe fuse_session_mount(session, $0) }
        if result != 0 { throw MountFailure(message: FuseMessages.last ?? "cannot mount on \(mountPoint)") }
        isMounted = true
        var io = FuseReplyPath.customIO
        let accepted = unsafe fuse_session_custom_io(session, &io, fuse_session_fd(session))
        if accepted != 0 { throw MountFailure(message: "libfuse does not take our reply path: \(Errno(rawValue: -accepted))") }
    }

    /// Starts the loop. `onEnd` is called by a thread of it when the mount has gone.
    func start(onEnd: @escaping @Sendable () -> Void) throws(Errno) -> FuseLoop {
        let loop = try unsafe FuseLoop(session, fd: fuse_session_fd(session), context, options.tuning, onEnd: onEnd)
        try loop.start()
        return loop
    }

    // MARK: The kernel's caches

    /// The kernel asks for an inode's attributes before it uses them again.
    func forgetAttributes(of node: NodeID) { _ = unsafe fuse_lowlevel_notify_inval_inode(session, node.rawValue, -1, 0) }

    /// The kernel writes what it holds of an inode's content, and keeps nothing of it.
    func forgetContent(of node: NodeID) { _ = unsafe fuse_lowlevel_notify_inval_inode(session, node.rawValue, 0, 0) }

    /// The kernel forgets an entry, and whatever it knows below it.
    func forgetEntry(_ name: [UInt8], in parent: NodeID) {
        let terminated = name + [0]
        unsafe terminated.withUnsafeBytes { bytes in
            guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            _ = unsafe fuse_lowlevel_notify_inval_entry(session, parent.rawValue, start, name.count)
        }
    }

    /// The kernel forgets all entries, missing ones too (FUSE_NOTIFY_INC_EPOCH, Linux 6.16). libfuse 3.14 does not know the message.
    ///
    /// - Returns: false where the kernel does not know it either.
    func forgetAllEntries() -> Bool {
        var message = fuse_out_header(len: UInt32(MemoryLayout<fuse_out_header>.size), error: 8, unique: 0)
        let sent = unsafe write(fuse_session_fd(session), &message, MemoryLayout<fuse_out_header>.size)
        return sent == MemoryLayout<fuse_out_header>.size
    }

    /// Closes the device and, where the mount is still there, detaches it. Only when no thread serves it any more.
    func unmount() {
        guard isMounted else { return }
        isMounted = false
        unsafe fuse_session_unmount(session)
    }
}

/// Why a mount could not be made, in words for the user.
package struct MountFailure: Error, CustomStringConvertible {
    package var message: String
    package var description: String { message }
}
