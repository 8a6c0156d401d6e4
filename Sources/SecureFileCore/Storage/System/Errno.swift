import CLinux
import Glibc

/// An error number of the operating system. The corresponding C name is that of the member in capitals.
public struct Errno: Error, RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    public static let notPermitted = Errno(rawValue: EPERM)
    public static let noEntry = Errno(rawValue: ENOENT)
    public static let inputOutput = Errno(rawValue: EIO)
    public static let badDescriptor = Errno(rawValue: EBADF)
    public static let tryAgain = Errno(rawValue: EAGAIN)
    public static let noMemory = Errno(rawValue: ENOMEM)
    public static let accessDenied = Errno(rawValue: EACCES)
    public static let exists = Errno(rawValue: EEXIST)
    public static let crossDevice = Errno(rawValue: EXDEV)
    public static let notDirectory = Errno(rawValue: ENOTDIR)
    public static let isDirectory = Errno(rawValue: EISDIR)
    public static let invalidArgument = Errno(rawValue: EINVAL)
    public static let fileTooLarge = Errno(rawValue: EFBIG)
    public static let noSpace = Errno(rawValue: ENOSPC)
    public static let quotaExceeded = Errno(rawValue: EDQUOT)
    public static let readOnly = Errno(rawValue: EROFS)
    public static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    public static let notEmpty = Errno(rawValue: ENOTEMPTY)
    public static let notSupported = Errno(rawValue: EOPNOTSUPP)
    public static let noSystemCall = Errno(rawValue: ENOSYS)
    public static let noData = Errno(rawValue: ENODATA)
    public static let range = Errno(rawValue: ERANGE)
    public static let busy = Errno(rawValue: EBUSY)
    public static let stale = Errno(rawValue: ESTALE)
    public static let tooManyLinks = Errno(rawValue: EMLINK)
    public static let loop = Errno(rawValue: ELOOP)
    public static let noKey = Errno(rawValue: ENOKEY)
    public static let keyExpired = Errno(rawValue: EKEYEXPIRED)
    public static let keyRevoked = Errno(rawValue: EKEYREVOKED)
    public static let noSuchAddress = Errno(rawValue: ENXIO)
    public static let notConnected = Errno(rawValue: ENOTCONN)
    public static let interrupted = Errno(rawValue: EINTR)
    public static let tooManyOpen = Errno(rawValue: EMFILE)
    public static let argumentTooBig = Errno(rawValue: E2BIG)

    /// The system's own words, as of strerror(3).
    public var description: String {
        unsafe strerror(rawValue).map { unsafe String(cString: $0) } ?? "error \(rawValue)"
    }

    /// The error of the call that has just failed.
    static var last: Errno { Errno(rawValue: CLinux_errno()) }
}

/// Makes a system call again as long as a signal interrupts it. The only place where errno is read after a call.
@inline(__always)
func retrying(_ call: () -> Int) throws(Errno) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        let error = Errno.last
        if error != .interrupted { throw error }
    }
}

/// The same for calls that return an `Int32`.
@inline(__always)
@discardableResult
func retrying(_ call: () -> Int32) throws(Errno) -> Int32 {
    Int32(try retrying { Int(call()) })
}
