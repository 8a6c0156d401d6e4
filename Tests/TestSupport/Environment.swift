import Glibc

/// Variables of the environment that choose seeds and lengths of random tests.
public enum Environment {
    public static func value(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }
}
