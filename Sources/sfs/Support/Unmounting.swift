import CLinux
import SecureFileCore

/// The system's ways to unmount: umount2(2) for root, fusermount3(1) for everybody else.
enum Unmounting {
    enum Refusal: Error {
        case busy
        /// fusermount3 is not there.
        case noHelper
        case other(Errno?, String)
    }

    /// - Parameter place: Absolute, without symlinks.
    static func unmount(_ place: RawPath, isLazy: Bool) throws(Refusal) {
        let lazy: Int32 = isLazy ? 1 : 0
        if System.isRoot {
            if unsafe place.withCString({ unsafe CLinux_unmount($0, lazy) }) == 0 { return }
            let error = Errno(rawValue: CLinux_errno())
            throw error == .busy ? .busy : .other(error, error.description)
        }
        let text = PageBuffer(count: 1024)
        let status = unsafe place.withCString { path in
            unsafe text.withPointer(0..<text.count) {
                guard let start = unsafe $0.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
                return unsafe Int(CLinux_fusermount_unmount(path, lazy, start, $0.count))
            }
        }
        if status == 0 { return }
        if status < 0 { throw .noHelper }
        let message = Escaped(text.bytes(0..<text.count).prefix { $0 != 0 && $0 != 10 }).description
        throw message.contains("busy") ? .busy : .other(nil, message)
    }

    /// Takes a mount away at once, whoever uses it. Whether it worked.
    static func detach(_ place: RawPath) -> Bool {
        do throws(Refusal) {
            try unmount(place, isLazy: true)
            return true
        } catch { return false }
    }
}
