import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SecureStore

/// Archives that somebody made to do harm: each gives its error, and no object of a class that was not allowed is made.
@Suite(.serialized)
struct HostileArchiveTests {
    enum Expected: String { case malformed, notAllowed, notSecure, unknown, limit, cycle, mismatch }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var expected: Expected
        var archive: Data
        var testDescription: String { name }
        init(_ name: String, _ expected: Expected, _ archive: Data) { (self.name, self.expected, self.archive) = (name, expected, archive) }
    }

    private static let bad = "SecureStoreTests.Forbidden"
    private static let good = HostileArchive.nested("SecureStoreTests.Child")
    private static func scalar(_ value: HostileArchive.Value) -> Data { HostileArchive.data(value) }

    static let classes: [Case] = [
        Case("disallowed root", .notAllowed, HostileArchive.of(own: bad)),
        Case("disallowed nested", .notAllowed, HostileArchive.nested(bad)),
        Case("disallowed under a key nobody reads", .notAllowed, HostileArchive.nested(bad, key: "unused")),
        Case("disallowed in array", .notAllowed, HostileArchive.inside("NSArray", bad)),
        Case("disallowed in mutable array", .notAllowed, HostileArchive.inside("NSMutableArray", bad)),
        Case("disallowed in set", .notAllowed, HostileArchive.inside("NSSet", bad)),
        Case("disallowed as dictionary value", .notAllowed, HostileArchive.inside("NSDictionary", bad)),
        Case("disallowed as dictionary key", .notAllowed, HostileArchive.inside("NSDictionary", bad, asKey: true)),
        Case("disallowed subclass of a class that is not listed", .notAllowed, HostileArchive.of(own: "SecureStoreTests.Liar")),
        Case("allowed container in a scope without containers", .notAllowed, HostileArchive.nested("NSArray", key: "child")),
        Case("superclass of an allowed class", .unknown, HostileArchive.of(own: "NSObject")),
        Case("class list that claims an allowed class", .malformed,
            HostileArchive.of([HostileArchive.object([], class: 2), HostileArchive.describe(bad, ["SecureStoreTests.Child", bad])])),
        Case("class that pretends to inherit an allowed one", .notAllowed,
            HostileArchive.of([HostileArchive.object([], class: 2), HostileArchive.describe(bad, [bad, "SecureStoreTests.Child"])])),
        Case("non-secure class in the list", .notSecure, HostileArchive.of(own: "SecureStoreTests.Plain")),
        Case("non-secure class nested", .notSecure, HostileArchive.nested("SecureStoreTests.Plain", key: "unused")),
        Case("unknown class", .unknown, HostileArchive.of(own: "Nowhere.Nothing")),
        Case("unknown class without a module", .unknown, HostileArchive.of(own: "NSNothing")),
        Case("mangled name", .unknown, HostileArchive.of(own: "$s16SecureStoreTests9ForbiddenC")),
        Case("name of a struct", .unknown, HostileArchive.of(own: "SecureStoreTests.HostileArchiveTests")),
        Case("empty class name", .unknown, HostileArchive.of(own: "")),
        Case("class name of a megabyte", .unknown, HostileArchive.of(own: String(repeating: "a", count: 1 << 20))),
        Case("Foundation class with traps", .unknown, HostileArchive.of(own: "NSLocale")),
        Case("attributed string", .unknown, HostileArchive.of(own: "NSAttributedString")),
    ]

    static let scopes: [Case] = [
        // Allowed for the archive, not where it stands.
        Case("object substituted in a narrower scope", .notAllowed, HostileArchive.nested("SecureStoreTests.Parent")),
        Case("allowed once, then in a narrower scope", .notAllowed,
            HostileArchive.of([
                HostileArchive.object([("NS.objects", .array([.uid(2), .uid(3)]))], class: 5), HostileArchive.object([], class: 4),
                HostileArchive.object([("child", .uid(2))], class: 4), HostileArchive.describe("SecureStoreTests.Parent"),
                HostileArchive.describe("NSArray"),
            ])),
        Case("disallowed element of a list read with a scope", .notAllowed,
            HostileArchive.of([
                HostileArchive.object([("list", .uid(2))], class: 4), HostileArchive.object([("NS.objects", .array([.uid(3)]))], class: 5),
                HostileArchive.object([], class: 4), HostileArchive.describe("SecureStoreTests.Parent"), HostileArchive.describe("NSArray"),
            ])),
        Case("text where an object is expected", .mismatch,
            HostileArchive.of([
                HostileArchive.object([("child", .uid(3))], class: 2), HostileArchive.describe("SecureStoreTests.Parent"), .text("x"),
            ])),
        Case("text where a number is expected", .mismatch, HostileArchive.of(own: "SecureStoreTests.Parent", [("id", .text("7"))])),
    ]

    static let tables: [Case] = [
        Case("missing class", .malformed, HostileArchive.of([.dictionary([("name", .text("x"))])])),
        Case("class out of range", .malformed, HostileArchive.of([HostileArchive.object([], class: 99)])),
        Case("class that is a text", .malformed, HostileArchive.of([HostileArchive.object([], class: 2), .text("SecureStoreTests.Child")])),
        Case("class that is no UID", .malformed, HostileArchive.of([.dictionary([("$class", .integer(2))]), HostileArchive.describe("NSArray")])),
        Case("class without a name", .malformed, HostileArchive.of([HostileArchive.object([], class: 2), .dictionary([("$classes", .array([]))])])),
        Case("class without a chain", .malformed, HostileArchive.of([HostileArchive.object([], class: 2), .dictionary([("$classname", .text("NSArray"))])])),
        Case("class of itself", .malformed, HostileArchive.of([HostileArchive.object([], class: 1)])),
        Case("root out of range", .malformed, HostileArchive.of([.text("x")], root: .uid(7))),
        Case("root far out of range", .malformed, HostileArchive.of([.text("x")], root: .uid(1 << 40))),
        Case("root no UID", .malformed, HostileArchive.of([.text("x")], root: .integer(1))),
        Case("value out of range", .malformed, HostileArchive.of(own: "SecureStoreTests.Parent", [("child", .uid(77))])),
        Case("UID of a UID", .malformed, HostileArchive.of([.uid(1)])),
        Case("object that is an array", .malformed, HostileArchive.of([.array([.uid(1)])])),
        Case("object cycle of one", .cycle,
            HostileArchive.of([HostileArchive.object([("next", .uid(1))], class: 2), HostileArchive.describe("SecureStoreTests.Link")])),
        Case("object cycle of two", .cycle,
            HostileArchive.of([
                HostileArchive.object([("next", .uid(2))], class: 3), HostileArchive.object([("next", .uid(1))], class: 3),
                HostileArchive.describe("SecureStoreTests.Link"),
            ])),
        Case("array that holds itself", .cycle,
            HostileArchive.of([HostileArchive.object([("NS.objects", .array([.uid(1)]))], class: 2), HostileArchive.describe("NSArray")])),
        Case("array without objects", .mismatch, HostileArchive.of([HostileArchive.object([], class: 2), HostileArchive.describe("NSArray")])),
        Case("array with null", .mismatch,
            HostileArchive.of([HostileArchive.object([("NS.objects", .array([.uid(0)]))], class: 2), HostileArchive.describe("NSArray")])),
        Case("array of bare values", .mismatch,
            HostileArchive.of([HostileArchive.object([("NS.objects", .array([.integer(1)]))], class: 2), HostileArchive.describe("NSArray")])),
        Case("more keys than values", .mismatch,
            HostileArchive.of([
                HostileArchive.object([("NS.keys", .array([.uid(3)])), ("NS.objects", .array([]))], class: 2),
                HostileArchive.describe("NSDictionary"), .text("x"),
            ])),
        Case("short UUID", .mismatch,
            HostileArchive.of([HostileArchive.object([("NS.uuidbytes", .data([1, 2]))], class: 2), HostileArchive.describe("NSUUID")])),
        Case("date without a time", .mismatch, HostileArchive.of([HostileArchive.object([], class: 2), HostileArchive.describe("NSDate")])),
        Case("100,000 deep", .limit, HostileArchive.deep(100_000)),
        Case("100,000 arrays deep", .limit, HostileArchive.deep(100_000, container: true)),
        Case("2^60 elements by sharing", .limit, HostileArchive.doubling(60)),
    ]

    static let files: [Case] = [
        Case("empty", .malformed, Data()),
        Case("only a magic", .malformed, Data("bplist00".utf8)),
        Case("text", .malformed, Data("not an archive, but long enough to be one, surely".utf8)),
        Case("zeros", .malformed, Data(count: 4096)),
        Case("XML", .malformed, Data("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict/></plist>".utf8)),
        Case("truncated by one", .malformed, HostileArchive.cut(good, good.count - 1)),
        Case("truncated to half", .malformed, HostileArchive.cut(good, good.count / 2)),
        Case("array at the top", .malformed, scalar(.array([.text("a"), .text("b"), .text("c"), .text("d")]))),
        Case("number at the top", .malformed, scalar(.integer(1)) + Data(count: 0)),
        Case("empty dictionary", .malformed, scalar(.dictionary([]))),
        Case("another archiver", .malformed, HostileArchive.of([.text("x")], archiver: .text("NSArchiver"))),
        Case("another version", .malformed, HostileArchive.of([.text("x")], version: .integer(1))),
        Case("version as text", .malformed, HostileArchive.of([.text("x")], version: .text("100000"))),
        Case("10^8 claimed elements", .malformed, HostileArchive.patched(good, [0xA6], [0xAF, 0x12, 0x05, 0xF5, 0xE1, 0x00])),
        Case("2^63 objects", .malformed, trailer(good, at: 8, [0x80])),
        Case("top out of range", .malformed, trailer(good, at: 23, [0xFF])),
        Case("offset table past the end", .malformed, trailer(good, at: 28, [0x7F])),
        Case("offsets of 0 bytes", .malformed, trailer(good, at: 6, [0])),
        Case("references of 9 bytes", .malformed, trailer(good, at: 7, [9])),
    ]

    private static func trailer(_ archive: Data, at place: Int, _ bytes: [UInt8]) -> Data {
        var copy = archive
        let start = copy.count - 32 + place
        copy.replaceSubrange(start..<start + bytes.count, with: bytes)
        return copy
    }

    static let all = classes + scopes + tables + files

    static let allowed: [AnyClass] = [
        Parent.self, Child.self, Link.self, Plain.self, NSArray.self, NSSet.self, NSDictionary.self,
    ]

    @Test func thereAreManyCases() { #expect(Self.all.count >= 60) }

    @Test(arguments: all) func givesItsError(_ hostile: Case) throws {
        let before = forbiddenObjects.load(ordering: .relaxed)
        var met: SecureDecodingError?
        do throws(SecureDecodingError) { _ = try SecureArchive.decode(hostile.archive, allowedClasses: Self.allowed) } catch { met = error }
        #expect(met.map(Self.kind) == hostile.expected, "\(met?.description ?? "it was decoded")")
        #expect(forbiddenObjects.load(ordering: .relaxed) == before, "an object was made that was not allowed")
    }

    private static func kind(_ error: SecureDecodingError) -> Expected? {
        switch error {
        case .malformed: .malformed
        case .classNotAllowed: .notAllowed
        case .classNotSecure: .notSecure
        case .classUnknown: .unknown
        case .limitExceeded: .limit
        case .cycle: .cycle
        case .typeMismatch: .mismatch
        case .refused: nil
        }
    }

    /// Random changes of sound archives: an error or a value, never a crash, a hang, or a class that was not allowed. `ARCHIVE_FUZZ` and `SEED` set
    /// how many and which.
    @Test func mutationsDoNoHarm() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["ARCHIVE_FUZZ"].flatMap { Int($0) } ?? 20_000
        let seed = environment["SEED"].flatMap { UInt64($0) } ?? 1
        let before = forbiddenObjects.load(ordering: .relaxed)
        var random = SeededGenerator(seed: seed)
        let sound = [
            Self.good, HostileArchive.nested("SecureStoreTests.Forbidden"), HostileArchive.inside("NSDictionary", "SecureStoreTests.Child"),
            try SecureArchive.encode(Parent(child: Child("x"), list: [Child("a"), Child("é")])), HostileArchive.deep(20),
            HostileArchive.doubling(10),
            try NSKeyedArchiver.archivedData(withRootObject: NSArray(array: [NSUUID(), NSSet(array: ["a"])]), requiringSecureCoding: true),
        ]
        var decoded = 0
        for _ in 0..<count {
            var archive = random.pick(sound)
            for _ in 0..<random.number(1..<5) { Self.mutate(&archive, &random) }
            if (try? SecureArchive.decode(archive, allowedClasses: [Parent.self, Child.self, Link.self, NSArray.self, NSSet.self, NSDictionary.self])) != nil {
                decoded += 1
            }
        }
        #expect(forbiddenObjects.load(ordering: .relaxed) == before, "seed \(seed)")
        #expect(decoded < count)
    }

    private static func mutate(_ archive: inout Data, _ random: inout SeededGenerator) {
        guard archive.count > 8 else { return }
        let place = random.number(0..<archive.count)
        switch random.number(0..<8) {
        case 0: archive.removeLast(random.number(1..<min(40, archive.count)))
        case 1: archive.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        case 2: archive.remove(at: place)
        case 3:
            let end = min(archive.count, place + random.number(1..<16))
            archive.replaceSubrange(place..<end, with: archive.suffix(end - place))
        default: archive[place] = random.once(in: 2) ? UInt8(truncatingIfNeeded: random.next()) : archive[place] ^ (1 << UInt8(random.number(0..<8)))
        }
    }
}
