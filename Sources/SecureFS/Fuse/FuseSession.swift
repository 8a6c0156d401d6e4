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
        context = FuseContext(fileSystem)
        self.mountPoint = mountPoint
        self.options = options
        let argument = options.argument(mountingAsRoot: geteuid() == 0)
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
