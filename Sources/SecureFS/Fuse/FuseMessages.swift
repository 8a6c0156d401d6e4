import CFuse
import Glibc
import Synchronization

/// libfuse's own messages: kept for the error we report, rather than written to a terminal that may not be ours.
enum FuseMessages {
    private static let lines = Mutex<[String]>([])
    private static let kept = 4

    /// Has libfuse report here from now on.
    static func collect() {
        lines.withLock { $0 = [] }
        unsafe fuse_set_log_func { _, format, arguments in
            guard let format = unsafe format, let arguments = unsafe arguments else { return }
            var text = [CChar](repeating: 0, count: 512)
            let length = unsafe text.withUnsafeMutableBufferPointer { unsafe vsnprintf($0.baseAddress, $0.count, format, arguments) }
            if length <= 0 { return }
            let bytes = text.prefix(while: { $0 != 0 }).map { UInt8(bitPattern: $0) }
            let line = String(decoding: bytes, as: UTF8.self)
            FuseMessages.lines.withLock { $0 = ($0 + [line]).suffix(FuseMessages.kept) }
        }
    }

    /// What it said, on one line; nil when it said nothing.
    static var last: String? {
        lines.withLock { lines in
            let text = lines.joined().split(separator: "\n").joined(separator: "; ")
            return text.isEmpty ? nil : text
        }
    }
}
