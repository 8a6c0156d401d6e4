import CFuse
import Glibc
import SecureFileCore
import Synchronization

/// What every trampoline reaches through libfuse's user data: the file system, and what was agreed with the kernel.
@safe
final class FuseContext: Sendable {
    let fileSystem: any FileSystemOperations
    /// How long the kernel may remember what it is told. With one writer, this mount, that stays true until the kernel changes it itself.
    var rememberSeconds: Double { fileSystem.mayBeRemembered ? stableSeconds : 0 }
    private let stableSeconds: Double
    /// Unique number of the INIT request until its reply has gone out; 0 before and after.
    let initRequest = Atomic<UInt64>(0)
    /// The kernel can leave clearing set-id bits to us and say when (FUSE_HANDLE_KILLPRIV_V2).
    let privilegeFlagOffered = Atomic<Bool>(false)
    /// The kernel checks permissions, and lists with them (FUSE_POSIX_ACL, which implies that check). Where it does not, it passes lists on
    /// as other attributes, and we keep them all the same.
    let checksPermissions: Bool
    let workerKey: pthread_key_t
    let kernelCache = KernelCache()

    init(_ fileSystem: any FileSystemOperations, checksPermissions: Bool) {
        self.fileSystem = fileSystem
        self.checksPermissions = checksPermissions
        stableSeconds = fileSystem.isSoleUser ? 3600 : 1
        var key = pthread_key_t()
        let created = unsafe pthread_key_create(&key, nil)
        precondition(created == 0, "no thread-specific key left")
        workerKey = key
    }

    deinit { pthread_key_delete(workerKey) }

    static func of(_ request: fuse_req_t) -> FuseContext {
        unsafe Unmanaged<FuseContext>.fromOpaque(fuse_req_userdata(request)).takeUnretainedValue()
    }

    static func of(userData: UnsafeMutableRawPointer?) -> FuseContext? {
        unsafe userData.map { unsafe Unmanaged<FuseContext>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The worker of the thread that runs; threads of the loop set it before they touch a request.
    var worker: FuseWorker {
        guard let raw = unsafe pthread_getspecific(workerKey) else { return FuseWorker() }
        return unsafe Unmanaged<FuseWorker>.fromOpaque(raw).takeUnretainedValue()
    }

    /// - Parameter worker: Must outlive the thread's use of the context.
    func setWorker(_ worker: FuseWorker) {
        unsafe pthread_setspecific(workerKey, Unmanaged.passUnretained(worker).toOpaque())
    }
}
