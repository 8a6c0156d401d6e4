import Foundation

/// Values to keyed archives and back, safely: nothing in an archive can stop the process, and no class is made that was not allowed.
///
/// The bytes are the same with and without secure coding.
public enum SecureArchive {
    /// The archive of a value: an `NSCoding` object, or one of Foundation's or Swift's plain values and containers.
    ///
    /// - Throws: ``SecureEncodingError``: what could not be decoded again is refused.
    public static func encode(
        _ value: Any, requiresSecureCoding: Bool = true, limits: SecureCodingLimits = SecureCodingLimits()
    ) throws(SecureEncodingError) -> Data {
        Data(try SecureKeyedEncoder.archive(value, requiresSecureCoding: requiresSecureCoding, limits: limits))
    }

    /// The value of an archive.
    ///
    /// The whole archive is checked before any object is made. Then each object is checked again in the scope that asks for it.
    /// - Parameter allowedClasses: All classes that may occur, with subclasses. Plain values (texts, numbers, data, dates, UUIDs, URLs) need not
    ///   be listed, containers have to be.
    /// - Throws: ``SecureDecodingError``.
    public static func decode(
        _ archive: Data, allowedClasses: [AnyClass], limits: SecureCodingLimits = SecureCodingLimits()
    ) throws(SecureDecodingError) -> NSObject {
        try decode(archive, .archive(allowedClasses), isSecure: true, limits)
    }

    /// The value of an archive, of whatever classes the program has: for data that nobody else can have written.
    public static func decodeUnchecked(_ archive: Data, limits: SecureCodingLimits = SecureCodingLimits()) throws(SecureDecodingError) -> NSObject
    {
        try decode(archive, .any, isSecure: false, limits)
    }

    /// - Parameter allowedClasses: nil: any.
    static func decode(_ data: Data, _ allowedClasses: [AnyClass]?, isSecure: Bool) throws(SecureDecodingError) -> NSObject {
        try decode(data, allowedClasses.map { .archive($0) } ?? .any, isSecure: isSecure, SecureCodingLimits())
    }

    private static func decode(
        _ data: Data, _ scope: ClassScope, isSecure: Bool, _ limits: SecureCodingLimits
    ) throws(SecureDecodingError) -> NSObject {
        let archive = try KeyedArchive(Array(data), scope, requiresSecureCoding: isSecure, limits: limits)
        return try SecureKeyedDecoder(archive, scope, isSecure: isSecure).decodeRoot()
    }
}
