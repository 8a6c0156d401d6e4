import CLinux

enum SystemLimits {
    /// Raises the limit of open descriptors, once: a deep tree needs one for each level.
    static let raiseDescriptors: Int = CLinux_raise_descriptor_limit()
}

/// The system's log, where a process without a terminal says what went wrong.
enum SystemLog {
    static func write(_ line: String) { unsafe line.withCString { unsafe CLinux_log($0) } }
}
