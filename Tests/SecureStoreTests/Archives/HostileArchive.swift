import Foundation

@testable import SecureStore

/// Archives made by hand.
enum HostileArchive {
    typealias Value = PropertyListValue

    static func data(_ value: Value) -> Data { Data(BinaryPropertyListWriter.write(value)) }

    /// An archive with a given table of objects, `$null` before them.
    static func of(_ objects: [Value], root: Value = .uid(1), archiver: Value = .text("NSKeyedArchiver"), version: Value = .integer(100_000)) -> Data {
        data(
            .dictionary([
                ("$version", version), ("$archiver", archiver), ("$top", .dictionary([("root", root)])), ("$objects", .array([.text("$null")] + objects)),
            ]))
    }

    static func describe(_ name: String, _ chain: [String]? = nil) -> Value {
        .dictionary([("$classname", .text(name)), ("$classes", .array((chain ?? [name, "NSObject"]).map { .text($0) }))])
    }

    static func object(_ members: [(String, Value)], class uid: Int) -> Value { .dictionary(members + [("$class", .uid(uid))]) }

    /// One object at the root.
    static func of(own name: String, _ members: [(String, Value)] = []) -> Data { of([object(members, class: 2), describe(name)]) }

    /// An object of another class as the value `key` of one that is allowed.
    static func nested(_ name: String, in outer: String = "SecureStoreTests.Parent", key: String = "child") -> Data {
        of([object([(key, .uid(2))], class: 4), object([("name", .uid(5))], class: 3), describe(name), describe(outer), .text("x")])
    }

    /// An object of a class as an element of a container.
    static func inside(_ container: String, _ name: String, asKey: Bool = false) -> Data {
        var members: [(String, Value)] = [("NS.objects", .array([.uid(asKey ? 5 : 2)]))]
        if container.hasSuffix("Dictionary") { members.append(("NS.keys", .array([.uid(asKey ? 2 : 5)]))) }
        return of([object(members, class: 4), object([("name", .uid(5))], class: 3), describe(name), describe(container), .text("x")])
    }

    /// `depth` objects in each other.
    static func deep(_ depth: Int, container: Bool = false) -> Data {
        let (key, value): (String, (Int) -> Value) = container ? ("NS.objects", { .array([.uid($0)]) }) : ("next", { .uid($0) })
        var objects: [Value] = [describe(container ? "NSArray" : "SecureStoreTests.Link")]
        for place in 0..<depth { objects.append(object([(key, value(place + 3))], class: 1)) }
        objects.append(.text("end"))
        return of(objects, root: .uid(2))
    }

    /// Arrays that hold the next one twice: 2^levels objects from few bytes.
    static func doubling(_ levels: Int) -> Data {
        var objects: [Value] = [describe("NSArray")]
        for place in 0..<levels { objects.append(object([("NS.objects", .array([.uid(place + 3), .uid(place + 3)]))], class: 1)) }
        objects.append(.text("end"))
        return of(objects, root: .uid(2))
    }

    /// `archive` with some bytes replaced.
    static func patched(_ archive: Data, _ old: [UInt8], _ new: [UInt8]) -> Data {
        var copy = archive
        if let range = copy.range(of: Data(old)) { copy.replaceSubrange(range, with: new) }
        return copy
    }

    static func cut(_ archive: Data, _ count: Int) -> Data { archive.prefix(count) }
}
