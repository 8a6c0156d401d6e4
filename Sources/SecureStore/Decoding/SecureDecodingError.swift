/// Why an archive was not decoded. Names classes and key paths, never values.
public enum SecureDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are no keyed archive, or a damaged one.
    case malformed(String)
    /// A class that the reader did not list.
    case classNotAllowed(String, keyPath: String)
    /// A class that does not support secure coding.
    case classNotSecure(String, keyPath: String)
    /// A class that this program does not have.
    case classUnknown(String, keyPath: String)
    /// More than the limits allow: depth, count, size.
    case limitExceeded(String)
    /// An object contains itself.
    case cycle(keyPath: String)
    /// A value is of another type than the one that was asked for.
    case typeMismatch(keyPath: String)
    /// An object's own initializer refused, by an error or by returning nil.
    case refused(String, keyPath: String)

    public var description: String {
        switch self {
        case .malformed(let what): "no sound archive: \(what)"
        case .classNotAllowed(let name, let path): "class \(name) at \(path) is not among the allowed classes"
        case .classNotSecure(let name, let path): "class \(name) at \(path) does not support secure coding"
        case .classUnknown(let name, let path): "class \(name) at \(path) is not known here"
        case .limitExceeded(let what): "the archive is beyond the limits: \(what)"
        case .cycle(let path): "the object at \(path) contains itself"
        case .typeMismatch(let path): "the value at \(path) is of another type"
        case .refused(let name, let path): "class \(name) at \(path) did not take its archive"
        }
    }
}

/// Why a value was not encoded.
public enum SecureEncodingError: Error, Hashable, Sendable, CustomStringConvertible {
    case classNotSecure(String, keyPath: String)
    /// The name of the class does not lead back to it: a nested, local or generic class without an alias (``SecureClassNames``), or a Foundation
    /// class that is not supported.
    case classNotDecodable(String, keyPath: String)
    case notEncodable(String, keyPath: String)
    case cycle(keyPath: String)
    case limitExceeded(String)
    case empty

    public var description: String {
        switch self {
        case .classNotSecure(let name, let path): "class \(name) at \(path) does not support secure coding"
        case .classNotDecodable(let name, let path): "class \(name) at \(path) could not be decoded again"
        case .notEncodable(let name, let path): "a \(name) at \(path) cannot be archived"
        case .cycle(let path): "the object at \(path) contains itself"
        case .limitExceeded(let what): "the value is beyond the limits: \(what)"
        case .empty: "the archive is empty"
        }
    }
}

/// What an archive may be at most.
public struct SecureCodingLimits: Sendable {
    /// Bytes of the archive.
    public var bytes = 1 << 30
    /// Objects in objects.
    public var depth = 128
    /// Objects, those that occur several times counted each time.
    public var objects = 10_000_000
    public init() {}
}
