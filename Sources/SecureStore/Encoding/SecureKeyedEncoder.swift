import Foundation

/// Makes keyed archives: the format of Foundation's `NSKeyedArchiver`, readable by it, without its traps. What could not be decoded again is
/// refused: classes whose name does not lead back to them, objects that contain themselves, depths beyond the limit.
final class SecureKeyedEncoder: NSCoder {
    private let isSecure: Bool
    private let limits: SecureCodingLimits
    /// The table of objects.
    private var objects: [PropertyListValue] = [.text("$null")]
    private var known: [ObjectIdentifier: Int] = [:]
    /// Encoded objects are kept: an identity must not be given to another meanwhile.
    private var kept: [AnyObject] = []
    private var beingEncoded: Set<ObjectIdentifier> = []
    private var texts: [String: Int] = [:]
    private var classes: [String: Int] = [:]
    private var stack: [[(String, PropertyListValue)]] = []
    private var path: [String] = ["root"]
    private var failure: SecureEncodingError?

    private init(isSecure: Bool, limits: SecureCodingLimits) {
        self.isSecure = isSecure
        self.limits = limits
    }

    /// The archive of `value`.
    static func archive(_ value: Any, requiresSecureCoding: Bool, limits: SecureCodingLimits = SecureCodingLimits()) throws(SecureEncodingError) -> [UInt8] {
        let encoder = SecureKeyedEncoder(isSecure: requiresSecureCoding, limits: limits)
        let root = encoder.reference(to: value)
        if let failure = encoder.failure { throw failure }
        guard root != 0 else { throw .empty }
        let bytes = BinaryPropertyListWriter.write(
            .dictionary([
                ("$version", .integer(100_000)), ("$archiver", .text("NSKeyedArchiver")), ("$top", .dictionary([("root", .uid(root))])),
                ("$objects", .array(encoder.objects)),
            ]))
        guard bytes.count <= limits.bytes else { throw .limitExceeded("\(bytes.count) bytes") }
        return bytes
    }

    private var keyPath: String { path.suffix(16).joined(separator: ".") }

    private func fail(_ error: SecureEncodingError) { failure = failure ?? error }

    // MARK: Objects

    /// The UID of a value in the table.
    private func reference(to value: Any?) -> Int {
        guard failure == nil, let value = Self.flattened(value) else { return 0 }
        if let text = Self.text(value) { return reference(toText: text) }
        if let plain = Self.plain(value) { return add(plain) }
        if let object = Self.object(value) { return reference(to: object) }
        fail(.notEncodable("\(type(of: value))", keyPath: keyPath))
        return 0
    }

    /// What an optional in an `Any` holds.
    private static func flattened(_ value: Any?) -> Any? {
        guard let value else { return nil }
        guard let optional = value as? any AnyOptional else { return value }
        return flattened(optional.content)
    }

    private static func text(_ value: Any) -> String? {
        if value is NSMutableString { return nil }
        return value as? String
    }

    private func reference(toText text: String) -> Int {
        if let place = texts[text] { return place }
        let place = add(.text(text))
        texts[text] = place
        return place
    }

    private func add(_ value: PropertyListValue) -> Int {
        objects.append(value)
        if objects.count > limits.objects { fail(.limitExceeded("more than \(limits.objects) objects")) }
        return objects.count - 1
    }

    /// Numbers and data, which stand in the archive as they are.
    private static func plain(_ value: Any) -> PropertyListValue? {
        if value is NSMutableData { return nil }
        switch value {
        case let value as Bool where Swift.type(of: value as Any) == Bool.self: return .boolean(value)
        case let number as any BinaryInteger:
            if let signed = Int64(exactly: number) { return .integer(signed) }
            return UInt64(exactly: number).map { .unsigned($0) }
        case let number as Double where Swift.type(of: value) == Double.self: return .real(number)
        case let number as Float where Swift.type(of: value) == Float.self: return .single(number)
        case let number as NSNumber: return plain(number)
        case let data as Data: return .data(Array(data))
        case let bytes as [UInt8]: return .data(bytes)
        default: return nil
        }
    }

    private static func plain(_ number: NSNumber) -> PropertyListValue {
        if NSNumber(value: number.int64Value) == number { return .integer(number.int64Value) }
        if NSNumber(value: number.uint64Value) == number { return .unsigned(number.uint64Value) }
        return .real(number.doubleValue)
    }

    /// Swift's containers and values as Foundation's objects.
    private static func object(_ value: Any) -> NSObject? {
        switch value {
        case let object as NSObject: object
        case let date as Date: NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let id as UUID: NSUUID(uuidString: id.uuidString)
        case let url as URL: NSURL(string: url.absoluteString)
        case let array as [Any]: NSArray(array: array)
        case let dictionary as [AnyHashable: Any]: NSDictionary(dictionary: dictionary)
        case let set as Set<AnyHashable>: NSSet(array: Array(set))
        default: nil
        }
    }

    private func reference(to object: NSObject) -> Int {
        let identity = ObjectIdentifier(object)
        if let place = known[identity] {
            if beingEncoded.contains(identity) { fail(.cycle(keyPath: keyPath)) }
            return place
        }
        guard stack.count < limits.depth else {
            fail(.limitExceeded("deeper than \(limits.depth) objects"))
            return 0
        }
        guard let (name, chain) = archivedClass(of: object) else { return 0 }
        let place = add(.uid(0))
        known[identity] = place
        kept.append(object)
        beingEncoded.insert(identity)
        stack.append([])
        encodeContent(of: object)
        let members = stack.removeLast()
        beingEncoded.remove(identity)
        objects[place] = .dictionary(members + [("$class", .uid(classReference(name, chain)))])
        return place
    }

    /// The name an object's class has in the archive, with those it inherits from; nil, and a failure, where it cannot be decoded again.
    private func archivedClass(of object: NSObject) -> (String, [String])? {
        let type = Swift.type(of: object)
        if let known = FoundationClass(exactly: type) {
            return (known.rawValue, Self.chain(of: known.type, first: known.rawValue))
        }
        let name = SecureClassNames.name(of: type)
        guard object is NSCoding, !SecureClassNames.isFoundations(type), SecureClassNames.type(named: name) == type else {
            fail(.classNotDecodable(name, keyPath: keyPath))
            return nil
        }
        if isSecure {
            guard let secure = type as? NSSecureCoding.Type, secure.supportsSecureCoding else {
                fail(.classNotSecure(name, keyPath: keyPath))
                return nil
            }
        }
        return (name, Self.chain(of: type, first: name))
    }

    private static func chain(of type: NSObject.Type, first: String) -> [String] {
        var names = [first]
        var next: AnyClass? = _getSuperclass(type)
        while let type = next as? NSObject.Type, names.count < 64 {
            names.append(FoundationClass(exactly: type)?.rawValue ?? (type == NSObject.self ? "NSObject" : SecureClassNames.name(of: type)))
            next = _getSuperclass(type)
        }
        return names
    }

    private func classReference(_ name: String, _ chain: [String]) -> Int {
        if let place = classes[name] { return place }
        let place = add(.dictionary([("$classname", .text(name)), ("$classes", .array(chain.map { .text($0) }))]))
        classes[name] = place
        return place
    }

    private func encodeContent(of object: NSObject) {
        switch object {
        case let array as NSArray: put("NS.objects", list(Array(array)))
        case let set as NSSet: put("NS.objects", list(set.allObjects))
        case let dictionary as NSDictionary:
            let keys = dictionary.allKeys
            put("NS.keys", list(keys))
            put("NS.objects", list(keys.map { dictionary[$0] as Any }))
        case let text as NSMutableString: put("NS.string", .text(String._unconditionallyBridgeFromObjectiveC(text)))
        case let data as NSMutableData: put("NS.data", .data(Array(Data(referencing: data))))
        case let date as NSDate: put("NS.time", .real(date.timeIntervalSinceReferenceDate))
        case is NSNull: return
        case let id as NSUUID: put("NS.uuidbytes", .data(Self.bytes(of: id)))
        case let url as NSURL:
            put("NS.base", .uid(0))
            put("NS.relative", .uid(reference(toText: url.absoluteString)))
        case let coding as NSCoding: coding.encode(with: self)
        default: return
        }
    }

    private static func bytes(of id: NSUUID) -> [UInt8] {
        let digits = Array(id.uuidString.filter { $0 != "-" })
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    private func list(_ values: [Any]) -> PropertyListValue {
        .array(values.enumerated().map { place, value in
            path.append("\(place)")
            defer { path.removeLast() }
            let uid = reference(to: value)
            if uid == 0 { fail(.notEncodable("nil", keyPath: keyPath)) }
            return .uid(uid)
        })
    }

    private func put(_ key: String, _ value: PropertyListValue) {
        guard failure == nil, !stack.isEmpty else { return }
        let key = key.hasPrefix("$") ? "$" + key : key
        stack[stack.count - 1].removeAll { $0.0 == key }
        stack[stack.count - 1].append((key, value))
    }

    // MARK: What objects call

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { isSecure }
    override func failWithError(_ error: Error) { fail(.notEncodable("\(type(of: error))", keyPath: keyPath)) }

    override func encode(_ object: Any?, forKey key: String) {
        path.append(key)
        defer { path.removeLast() }
        put(key, .uid(reference(to: object)))
    }

    override func encodeConditionalObject(_ object: Any?, forKey key: String) { encode(object, forKey: key) }
    override func encode(_ value: Bool, forKey key: String) { put(key, .boolean(value)) }
    override func encode(_ value: Int32, forKey key: String) { put(key, .integer(Int64(value))) }
    override func encode(_ value: Int64, forKey key: String) { put(key, .integer(value)) }
    override func encode(_ value: Int, forKey key: String) { put(key, .integer(Int64(value))) }
    override func encode(_ value: Float, forKey key: String) { put(key, .single(value)) }
    override func encode(_ value: Double, forKey key: String) { put(key, .real(value)) }
    override func encodePropertyList(_ aPropertyList: Any) { fail(.notEncodable("value without a key", keyPath: keyPath)) }
}

/// An optional, whatever of.
private protocol AnyOptional { var content: Any? { get } }
extension Optional: AnyOptional { fileprivate var content: Any? { self } }
