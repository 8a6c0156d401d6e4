import Foundation
import Synchronization

/// How many objects of classes that must not be made were made all the same.
let forbiddenObjects = Atomic<Int>(0)

/// A class as in the seed's guide.
class Child: NSObject, NSSecureCoding {
    class var supportsSecureCoding: Bool { true }
    let name: String
    init(_ name: String) { self.name = name }
    required init?(coder: NSCoder) { name = coder.decodeObject(of: NSString.self, forKey: "name") as String? ?? "" }
    func encode(with coder: NSCoder) { coder.encode(name, forKey: "name") }
}

/// A subclass of an allowed class is allowed.
final class Grandchild: Child {}

/// Secure itself; decodes its parts in scopes of their own.
final class Parent: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let id: Int
    let big: Int64
    let isOn: Bool
    let score: Double
    let single: Float
    let small: Int32
    let child: Child?
    let list: [Child]
    let data: Data?
    let date: Date?
    init(child: Child?, list: [Child] = []) {
        (id, big, isOn, score, single, small) = (42, .min, true, 0.1, 2.5, -7)
        (self.child, self.list) = (child, list)
        data = Data([0, 1, 255])
        date = Date(timeIntervalSinceReferenceDate: 12345.5)
    }
    required init?(coder: NSCoder) {
        id = coder.decodeInteger(forKey: "id")
        big = coder.decodeInt64(forKey: "big")
        isOn = coder.decodeBool(forKey: "isOn")
        score = coder.decodeDouble(forKey: "score")
        single = coder.decodeFloat(forKey: "single")
        small = coder.decodeInt32(forKey: "small")
        child = coder.decodeObject(of: Child.self, forKey: "child")
        list = coder.decodeObject(of: [NSArray.self, Child.self], forKey: "list") as? [Child] ?? []
        data = coder.decodeObject(of: NSData.self, forKey: "data").map { Data(referencing: $0) }
        date = coder.decodeObject(of: NSDate.self, forKey: "date").map { Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) }
    }
    func encode(with coder: NSCoder) {
        coder.encode(id, forKey: "id")
        coder.encode(big, forKey: "big")
        coder.encode(isOn, forKey: "isOn")
        coder.encode(score, forKey: "score")
        coder.encode(single, forKey: "single")
        coder.encode(small, forKey: "small")
        coder.encode(child, forKey: "child")
        coder.encode(list, forKey: "list")
        coder.encode(data, forKey: "data")
        coder.encode(date, forKey: "date")
    }
}

/// A class that no reader allows.
class Forbidden: NSObject, NSSecureCoding {
    class var supportsSecureCoding: Bool { true }
    override init() {}
    required init?(coder: NSCoder) { forbiddenObjects.add(1, ordering: .relaxed) }
    func encode(with coder: NSCoder) {}
}

/// A class without secure coding.
final class Plain: NSObject, NSCoding {
    let name: String
    init(_ name: String) { self.name = name }
    required init?(coder: NSCoder) {
        forbiddenObjects.add(1, ordering: .relaxed)
        name = coder.decodeObject(forKey: "name") as? String ?? ""
    }
    func encode(with coder: NSCoder) { coder.encode(name, forKey: "name") }
}

/// Says that it is secure, and is not.
final class Liar: Forbidden {
    override class var supportsSecureCoding: Bool { false }
}

/// Refers to others of its kind.
final class Link: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    var next: NSObject?
    init(_ next: NSObject? = nil) { self.next = next }
    required init?(coder: NSCoder) { next = coder.decodeObject(of: [Link.self, Child.self], forKey: "next") as? NSObject }
    func encode(with coder: NSCoder) { coder.encode(next, forKey: "next") }
}

/// Renamed since its archives were written.
final class Renamed: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let name: String
    init(_ name: String) { self.name = name }
    required init?(coder: NSCoder) { name = coder.decodeObject(of: NSString.self, forKey: "name") as String? ?? "" }
    func encode(with coder: NSCoder) { coder.encode(name, forKey: "name") }
}
