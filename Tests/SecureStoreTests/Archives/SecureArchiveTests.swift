import Foundation
import Testing

@testable import SecureStore

struct SecureArchiveTests {
    private static let family: [AnyClass] = [Parent.self, Child.self, NSArray.self]

    @Test func everyKindOfValueComesBack() throws {
        let archive = try SecureArchive.encode(Parent(child: Child("é\u{1F600}"), list: [Child("a"), Grandchild("b")]))
        let parent = try #require(try SecureArchive.decode(archive, allowedClasses: Self.family) as? Parent)
        #expect(parent.id == 42 && parent.big == .min && parent.isOn && parent.score == 0.1 && parent.single == 2.5 && parent.small == -7)
        #expect(parent.child?.name == "é\u{1F600}")
        #expect(parent.list.map(\.name) == ["a", "b"])
        #expect(parent.list.last is Grandchild)
        #expect(parent.data == Data([0, 1, 255]))
        #expect(parent.date == Date(timeIntervalSinceReferenceDate: 12345.5))
    }

    @Test func foundationReadsOurArchives() throws {
        let archive = try SecureArchive.encode(Parent(child: Child("x"), list: [Child("a")]))
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive)
        let parent = unarchiver.decodeObject(of: Parent.self, forKey: NSKeyedArchiveRootObjectKey)
        #expect(parent?.child?.name == "x" && parent?.list.first?.name == "a" && parent?.big == .min)
    }

    @Test(arguments: [false, true]) func weReadFoundationsArchives(secure: Bool) throws {
        let values = NSDictionary(dictionary: ["p": Parent(child: Child("x"), list: [Child("a"), Child("b")]), "n": NSNumber(value: 7), "u": NSUUID()])
        let archive = try NSKeyedArchiver.archivedData(withRootObject: values, requiringSecureCoding: secure)
        let read = try SecureArchive.decode(archive, allowedClasses: Self.family + [NSDictionary.self]) as? NSDictionary
        #expect((read?["p"] as? Parent)?.list.map(\.name) == ["a", "b"])
        #expect(read?["n"] as? NSNumber == 7)
        #expect(read?["u"] as? NSUUID == values["u"] as? NSUUID)
    }

    @Test func foundationsValuesComeBack() throws {
        let id = UUID()
        let values: [String: Any] = [
            "text": "plain", "empty": "", "int": 1, "negative": -5, "big": UInt64.max, "real": 1.5, "true": true,
            "data": Data([1]), "date": Date(timeIntervalSince1970: 0),
            "uuid": id, "url": URL(string: "https://example.org/a?b#c") as Any, "null": NSNull(), "list": ["a", "b"], "set": Set(["x"]),
            "mutable": NSMutableString(string: "m"),
        ]
        let archive = try SecureArchive.encode(values)
        let read = try #require(
            try SecureArchive.decode(archive, allowedClasses: [NSDictionary.self, NSArray.self, NSSet.self]) as? NSDictionary)
        #expect(read.count == values.count)
        #expect(read["text"] as? String == "plain" && read["empty"] as? String == "")
        #expect(read["int"] as? NSNumber == 1 && read["negative"] as? NSNumber == -5)
        #expect((read["big"] as? NSNumber)?.uint64Value == .max)
        #expect(read["real"] as? NSNumber == 1.5 && (read["true"] as? NSNumber)?.boolValue == true)
        #expect((read["uuid"] as? NSUUID)?.uuidString == id.uuidString)
        #expect((read["url"] as? NSURL)?.absoluteString == "https://example.org/a?b#c")
        #expect(read["null"] is NSNull)
        #expect((read["list"] as? NSArray)?.count == 2 && (read["set"] as? NSSet)?.count == 1)
        #expect(read["mutable"] as? String == "m")
        let mutable = try SecureArchive.decode(try SecureArchive.encode(NSMutableString(string: "m")), allowedClasses: [])
        #expect(mutable is NSMutableString)
    }

    @Test func oneObjectTwiceStaysOne() throws {
        let child = Child("one")
        let archive = try SecureArchive.encode([child, child])
        let read = try SecureArchive.decode(archive, allowedClasses: [NSArray.self, Child.self]) as? NSArray
        let (first, second) = (read?[0] as? Child, read?[1] as? Child)
        #expect(first != nil && first === second)
    }

    @Test func aliasReadsOldArchivesAndGivesNames() throws {
        SecureClassNames.setName("old.Name", for: Renamed.self)
        let archive = try SecureArchive.encode(Renamed("x"))
        #expect(archive.range(of: Data("old.Name".utf8)) != nil)
        #expect((try SecureArchive.decode(archive, allowedClasses: [Renamed.self]) as? Renamed)?.name == "x")
    }

    @Test func encodingRefusesWhatCouldNotBeDecoded() throws {
        final class Local: NSObject, NSSecureCoding {
            static var supportsSecureCoding: Bool { true }
            override init() {}
            required init?(coder: NSCoder) {}
            func encode(with coder: NSCoder) {}
        }
        #expect(throws: SecureEncodingError.self) { try SecureArchive.encode(Local()) }
        #expect(throws: SecureEncodingError.classNotSecure("SecureStoreTests.Plain", keyPath: "root")) { try SecureArchive.encode(Plain("x")) }
        #expect(throws: SecureEncodingError.classNotSecure("SecureStoreTests.Liar", keyPath: "root")) { try SecureArchive.encode(Liar()) }
        #expect(throws: SecureEncodingError.self) { try SecureArchive.encode(NSObject()) }
        #expect(throws: SecureEncodingError.self) { try SecureArchive.encode([NSLocale(localeIdentifier: "de")]) }
        let loop = Link()
        loop.next = loop
        #expect(throws: SecureEncodingError.cycle(keyPath: "root.next")) { try SecureArchive.encode(loop) }
        loop.next = nil
        var chain = Link()
        for _ in 0..<1000 { chain = Link(chain) }
        #expect(throws: SecureEncodingError.self) { try SecureArchive.encode(chain) }
    }

    @Test func withoutSecureCodingOldClassesComeBack() throws {
        let archive = try SecureArchive.encode(Plain("x"), requiresSecureCoding: false)
        #expect((try SecureArchive.decodeUnchecked(archive) as? Plain)?.name == "x")
        #expect(throws: SecureDecodingError.classNotSecure("SecureStoreTests.Plain", keyPath: "root")) {
            try SecureArchive.decode(archive, allowedClasses: [Plain.self])
        }
    }

    @Test func numbersThatDoNotFitAreErrors() throws {
        let archive = HostileArchive.of(own: "SecureStoreTests.Parent", [("small", .integer(1 << 40))])
        #expect(throws: SecureDecodingError.typeMismatch(keyPath: "root.small")) { try SecureArchive.decode(archive, allowedClasses: [Parent.self]) }
    }
}
