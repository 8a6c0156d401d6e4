import Foundation
import Synchronization

/// Names of classes in archives. A class is archived as `Module.Class`; after it was renamed or moved, an alias makes old archives readable, and a
/// nested or private class needs a name of its own to be archived at all.
public enum SecureClassNames {
    private struct Names: Sendable {
        var classes: [String: ObjectIdentifier] = [:]
        var types: [ObjectIdentifier: NSObject.Type] = [:]
        var names: [ObjectIdentifier: String] = [:]
    }
    private static let names = Mutex(Names())

    /// Archives that name `name` are decoded to `type`.
    public static func setClass(_ type: NSObject.Type, forName name: String) {
        names.withLock {
            $0.types[ObjectIdentifier(type)] = type
            $0.classes[name] = ObjectIdentifier(type)
        }
    }

    /// Objects of `type` are archived under `name`, and decoded again from it.
    public static func setName(_ name: String, for type: NSObject.Type) {
        setClass(type, forName: name)
        names.withLock { $0.names[ObjectIdentifier(type)] = name }
    }

    /// The name `type` is archived under.
    static func name(of type: NSObject.Type) -> String { names.withLock { $0.names[ObjectIdentifier(type)] } ?? plainName(of: type) }

    /// `Module.Class`. (`NSStringFromClass` traps for a class that is not at the top of its module.)
    static func plainName(of type: NSObject.Type) -> String { String(reflecting: type) }

    /// Whether the class is one of Foundation's own.
    static func isFoundations(_ type: NSObject.Type) -> Bool { plainName(of: type).hasPrefix("Foundation.") }

    /// The class that `name` stands for, if this program has it.
    static func type(named name: String) -> NSObject.Type? {
        if let known = names.withLock({ names in names.classes[name].flatMap { names.types[$0] } }) { return known }
        // Only what can be the name of a class goes to the runtime.
        guard name.utf8.count <= 512, isPlain(name) else { return nil }
        return NSClassFromString(name) as? NSObject.Type
    }

    private static func isPlain(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count <= 2
            && parts.allSatisfy { part in
                !part.isEmpty && !(part.utf8.first.map { (48...57).contains($0) } ?? true)
                    && part.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0) }
            }
    }
}
