import Foundation

/// Decodes a checked archive. It never traps: what is wrong is kept in ``error``, and from then on everything reads as nil or zero.
///
/// Each class is checked again in the scope it is decoded in: what `decodeObject(of:forKey:)` names, with subclasses, and nothing else; without
/// such a call the scope of the reader's allowed classes holds. An object that occurs twice is decoded once and checked in each scope.
final class SecureKeyedDecoder: NSCoder {
    private let archive: KeyedArchive
    private let isSecure: Bool
    /// What the reader allows.
    private let scope: ClassScope
    /// The scopes of the objects being decoded: of a container's elements that of the container, of an own class's keys the reader's.
    private var scopes: [ClassScope] = []
    /// Keys of the objects being decoded, innermost last.
    private var stack: [[String: Int]] = []
    private var path: [String] = ["root"]
    private var done: [Int: NSObject] = [:]
    private(set) var failure: SecureDecodingError?

    init(_ archive: KeyedArchive, _ scope: ClassScope, isSecure: Bool) {
        self.archive = archive
        self.scope = scope
        self.isSecure = isSecure
    }

    /// The object at the root.
    func decodeRoot() throws(SecureDecodingError) -> NSObject {
        let object = decode(archive.root, scope)
        if let failure { throw failure }
        guard let object else { throw .refused(name(of: archive.root), keyPath: "root") }
        return object
    }

    private func name(of uid: Int) -> String {
        if case .object(let archived, _)? = archive.entries[uid] { archived.name } else { "value" }
    }

    private var keyPath: String { path.suffix(16).joined(separator: ".") }

    private func fail(_ error: SecureDecodingError) { failure = failure ?? error }

    // MARK: Objects

    private func decode(_ uid: Int, _ scope: ClassScope) -> NSObject? {
        if failure != nil { return nil }
        guard let entry = archive.entries[uid] else {
            fail(.malformed("a reference that was not checked"))
            return nil
        }
        switch entry {
        case .null, .classDescription: return nil
        case .value(let node): return plain(node)
        case .object(let archived, let members):
            guard scope.allows(archived) else {
                fail(.classNotAllowed(archived.name, keyPath: keyPath))
                return nil
            }
            if let object = done[uid] {
                var seen: Set<Int> = []
                return checkElements(of: uid, scope, &seen) ? object : nil
            }
            let object = build(archived, members, scope)
            if failure == nil, let object { done[uid] = object }
            return failure == nil ? object : nil
        }
    }

    /// A container that was decoded before, in a wider scope perhaps: its elements are checked in this one.
    private func checkElements(of uid: Int, _ scope: ClassScope, _ seen: inout Set<Int>) -> Bool {
        guard seen.insert(uid).inserted, case .object(let archived, let members)? = archive.entries[uid],
            case .foundation(let known) = archived, !known.isLeaf
        else { return true }
        for key in ["NS.keys", "NS.objects"] {
            guard let node = members[key], case .array(let range) = archive.list.nodes[node] else { continue }
            for place in range {
                guard case .uid(let element) = archive.list.nodes[archive.list.references[place]],
                    case .object(let inner, _)? = archive.entries[element]
                else { continue }
                guard scope.allows(inner) else {
                    fail(.classNotAllowed(inner.name, keyPath: keyPath + "." + key))
                    return false
                }
                guard checkElements(of: element, scope, &seen) else { return false }
            }
        }
        return true
    }

    private func build(_ archived: KeyedArchive.ArchivedClass, _ members: [String: Int], _ found: ClassScope) -> NSObject? {
        stack.append(members)
        defer {
            stack.removeLast()
            scopes.removeLast()
        }
        switch archived {
        case .foundation(let known):
            scopes.append(found)
            return foundation(known)
        case .own(let type, let name):
            scopes.append(scope)
            guard let coding = type as? NSCoding.Type else {
                fail(.classUnknown(name, keyPath: keyPath))
                return nil
            }
            return coding.init(coder: self) as? NSObject
        }
    }

    /// Texts, numbers, dates and data, which stand in the archive as they are.
    private func plain(_ node: BinaryPropertyList.Node) -> NSObject? {
        switch node {
        case .boolean(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .unsigned(let value): return NSNumber(value: value)
        case .real(let value): return NSNumber(value: value)
        case .date(let seconds): return NSDate(timeIntervalSinceReferenceDate: seconds)
        case .data(let range): return NSData(data: Data(archive.list.bytes[range]))
        case .ascii, .utf16: return archive.list.text(node).map { NSString(string: $0) }
        case .null, .uid, .array, .dictionary: return nil
        }
    }

    // MARK: Values by key

    /// A key as it stands in the archive: those with a dollar sign get another one.
    private func node(_ key: String) -> BinaryPropertyList.Node? {
        if failure != nil { return nil }
        return stack.last?[key.hasPrefix("$") ? "$" + key : key].map { archive.list.nodes[$0] }
    }

    private func object(_ key: String, _ scope: ClassScope) -> NSObject? {
        guard let node = node(key) else { return nil }
        path.append(key)
        defer { path.removeLast() }
        guard case .uid(let uid) = node else { return plain(node) }
        return decode(uid, scope)
    }

    /// A number by key; texts and objects are no numbers.
    private func number(_ key: String) -> NSNumber? {
        guard let node = node(key) else { return nil }
        switch node {
        case .boolean, .integer, .unsigned, .real: return plain(node) as? NSNumber
        case .uid:
            if let number = object(key, .call([NSNumber.self])) as? NSNumber { return number }
        default: break
        }
        fail(.typeMismatch(keyPath: keyPath + "." + key))
        return nil
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { isSecure }
    override var decodingFailurePolicy: NSCoder.DecodingFailurePolicy { .setErrorAndReturn }
    override var error: Error? { failure }
    override func failWithError(_ error: Error) { fail(.refused("\(type(of: error))", keyPath: keyPath)) }
    override func containsValue(forKey key: String) -> Bool { node(key) != nil }

    override func decodeObject(forKey key: String) -> Any? { object(key, scope).map { SwiftValue.of($0) } }
    override func decodeObject() -> Any? { nil }

    override func decodeObject<T: NSObject>(of type: T.Type, forKey key: String) -> T? where T: NSCoding {
        guard let found = object(key, .call([type])) else { return nil }
        if let value = found as? T { return value }
        fail(.typeMismatch(keyPath: keyPath + "." + key))
        return nil
    }

    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
        object(key, classes.map { .call($0) } ?? scope).map { SwiftValue.of($0) }
    }

    override func decodePropertyList(forKey key: String) -> Any? {
        let plist: [AnyClass] = [
            NSArray.self, NSDictionary.self, NSString.self, NSData.self, NSDate.self, NSNumber.self,
        ]
        return object(key, .call(plist)).map { SwiftValue.of($0) }
    }

    override func decodeBool(forKey key: String) -> Bool { number(key)?.boolValue ?? false }
    override func decodeInteger(forKey key: String) -> Int { Int(decodeInt64(forKey: key)) }
    override func decodeInt32(forKey key: String) -> Int32 { integer(key) { Int32(exactly: $0) } }
    override func decodeInt64(forKey key: String) -> Int64 { integer(key) { $0 } }
    override func decodeCInt(forKey key: String) -> Int32 { decodeInt32(forKey: key) }
    override func decodeFloat(forKey key: String) -> Float { Float(decodeDouble(forKey: key)) }
    override func decodeDouble(forKey key: String) -> Double { number(key)?.doubleValue ?? 0 }

    private func integer<T: FixedWidthInteger>(_ key: String, _ fit: (Int64) -> T?) -> T {
        guard let number = number(key) else { return 0 }
        let value = Int64(exactly: number.doubleValue) ?? number.int64Value
        if let value = fit(value) { return value }
        fail(.typeMismatch(keyPath: keyPath + "." + key))
        return 0
    }
}

// MARK: Foundation's classes

extension SecureKeyedDecoder {
    fileprivate func foundation(_ known: FoundationClass) -> NSObject? {
        switch known {
        case .array, .mutableArray:
            guard let objects = list("NS.objects") else { return nil }
            return known == .array ? NSArray(array: objects) : NSMutableArray(array: objects)
        case .set, .mutableSet:
            guard let objects = list("NS.objects") else { return nil }
            return known == .set ? NSSet(array: objects) : NSMutableSet(array: objects)
        case .dictionary, .mutableDictionary: return dictionary(known)
        case .string, .mutableString:
            guard let text = text("NS.string") else { return nil }
            return known == .string ? NSString(string: text) : NSMutableString(string: text)
        case .data, .mutableData:
            guard let data = bytes("NS.data") else { return nil }
            return known == .data ? NSData(data: data) : NSMutableData(data: data)
        case .date:
            guard let seconds = number("NS.time")?.doubleValue else { return missing("NS.time") }
            return NSDate(timeIntervalSinceReferenceDate: seconds)
        case .null: return NSNull()
        case .uuid: return uuid()
        case .url: return url()
        case .number: return missing("NS.number")
        }
    }

    private func missing<T>(_ key: String) -> T? {
        fail(.typeMismatch(keyPath: keyPath + "." + key))
        return nil
    }

    /// The objects of an array, all of them.
    private func list(_ key: String) -> [Any]? {
        guard case .array(let range)? = node(key) else { return missing(key) }
        return objects(range, key)
    }

    private func objects(_ range: Range<Int>, _ key: String) -> [Any]? {
        var objects: [Any] = []
        objects.reserveCapacity(range.count)
        path.append(key)
        defer { path.removeLast() }
        for place in range {
            guard case .uid(let uid) = archive.list.nodes[archive.list.references[place]], let object = decode(uid, scopes.last ?? scope)
            else { return missing("object") }
            objects.append(object)
        }
        return objects
    }

    private func dictionary(_ known: FoundationClass) -> NSObject? {
        guard case .array(let keys)? = node("NS.keys"), case .array(let values)? = node("NS.objects"), keys.count == values.count,
            let names = objects(keys, "NS.keys"), let objects = objects(values, "NS.objects")
        else { return missing("NS.keys") }
        let result = NSMutableDictionary()
        for (name, object) in zip(names, objects) {
            guard let key = name as? NSObject else { return missing("NS.keys") }
            result.setObject(object, forKey: key)
        }
        return known == .mutableDictionary ? result : result.copy() as? NSDictionary
    }

    private func text(_ key: String) -> String? {
        if let node = node(key), let text = archive.list.text(node) { return text }
        return missing(key)
    }

    private func bytes(_ key: String) -> Data? {
        if case .data(let range)? = node(key) { return Data(archive.list.bytes[range]) }
        return missing(key)
    }

    private func uuid() -> NSObject? {
        guard let data = bytes("NS.uuidbytes"), data.count == 16 else { return missing("NS.uuidbytes") }
        let text = data.map { String(format: "%02X", $0) }.joined()
        var parts: [Substring] = []
        var rest = text[...]
        for count in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return NSUUID(uuidString: parts.joined(separator: "-")) ?? missing("NS.uuidbytes")
    }

    private func url() -> NSObject? {
        guard let text = object("NS.relative", .call([NSString.self])) as? NSString else { return missing("NS.relative") }
        let base = object("NS.base", .call([NSURL.self])) as? NSURL
        return NSURL(string: text.description, relativeTo: base.flatMap { URL(string: $0.absoluteString) }) ?? missing("NS.relative")
    }
}
