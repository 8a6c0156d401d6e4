import Glibc

extension CurrentProcess {
    /// The value of an environment variable; nil where it is not set or empty. The corresponding C function is `getenv`.
    package static func environmentValue(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}

extension CurrentProcess {
    /// Milliseconds since 1970 by the system's clock.
    package static var millisecondsSince1970: Int64 {
        var now = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
