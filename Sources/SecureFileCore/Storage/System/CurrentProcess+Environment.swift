import Glibc

extension CurrentProcess {
    /// The value of an environment variable; nil where it is not set or empty. The corresponding C function is `getenv`.
    package static func environmentValue(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
