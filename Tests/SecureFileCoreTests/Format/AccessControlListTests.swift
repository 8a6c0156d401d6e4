import Testing

@testable import SecureFileCore

/// The bytes of access control lists, and what lists and modes make of each other. acl(5), FORMAT section 6.1.
struct AccessControlListTests {
    /// `u:7 U1000:6 g:5 G50:4 m:7 o:0`, a word an entry; a number that is missing stands for "nobody".
    static func value(_ text: String, version: UInt8 = 2) -> [UInt8] {
        let tags: [Character: UInt8] = ["u": 0x01, "U": 0x02, "g": 0x04, "G": 0x08, "m": 0x10, "o": 0x20, "z": 0x40]
        return text.split(separator: " ").reduce([version, 0, 0, 0]) { bytes, word in
            let parts = word.split(separator: ":")
            let id = UInt32(parts[0].dropFirst()) ?? .max
            return bytes + [tags[parts[0].first!]!, 0, UInt8(parts[1])!, 0] + (0..<4).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
        }
    }

    static func list(_ text: String) throws -> AccessControlList { try #require(try AccessControlList.read(value(text))) }

    @Test(arguments: [
        "u:6 g:4 o:0", "u:7 U1000:6 g:5 G50:4 m:7 o:0", "u:0 g:0 m:0 o:0", "u:6 U9:1 U1:2 U1:4 g:4 m:4 o:4", "u:6 g:4 G4294967294:7 G0:0 m:4 o:4",
    ]) func aValidListIsReadAndWrittenAsItIs(_ text: String) throws {
        #expect(try Self.list(text).value == Self.value(text))
    }

    @Test(arguments: [
        "g:4 o:0", "u:6 o:0", "u:6 g:4", "u:6 u:6 g:4 o:0", "u:6 g:4 g:4 o:0", "u:6 g:4 o:0 o:0", "u:6 g:4 m:4 m:4 o:0", "u:6 U1:4 g:4 o:0", "u:6 g:4 G1:4 o:0",
        "U1:4 u:6 g:4 m:4 o:0", "u:6 g:4 U1:4 m:4 o:0", "u:6 G1:4 g:4 m:4 o:0", "u:6 g:4 o:0 m:4", "u:6 U:4 g:4 m:4 o:0", "u:6 g:4 G:4 m:4 o:0",
        "u:8 g:4 o:0", "u:6 g:4 z:4 o:0", "U1:4",
    ]) func anotherOneIsMalformed(_ text: String) {
        #expect(throws: AccessControlList.Failure.malformed) { try AccessControlList.read(Self.value(text)) }
    }

    @Test func noEntriesAreNoList() throws {
        #expect(try AccessControlList.read([]) == nil)
        #expect(try AccessControlList.read(Self.value("")) == nil)
    }

    @Test func lengthAndVersionAreChecked() {
        let whole = Self.value("u:6 g:4 o:0")
        for count in 1..<whole.count where count != 4 {
            #expect(throws: AccessControlList.Failure.malformed, "\(count)") { try AccessControlList.read(Array(whole.prefix(count))) }
        }
        for version: UInt8 in [0, 1, 3, 255] {
            #expect(throws: AccessControlList.Failure.unsupportedVersion) { try AccessControlList.read(Self.value("u:6 g:4 o:0", version: version)) }
        }
    }

    /// What stands in the id of an entry that names nobody does not count.
    @Test func unusedNumbersAreCleared() throws {
        #expect(try Self.list("u1:6 g2:4 m3:4 o4:0").value == Self.value("u:6 g:4 m:4 o:0"))
    }

    @Test(arguments: [
        ("u:6 g:4 o:1", true, 0o641), ("u:7 U1:7 g:1 m:5 o:2", false, 0o752), ("u:7 g:1 m:5 o:2", false, 0o752), ("u:0 g:7 G3:7 m:0 o:0", false, 0o000),
    ]) func aListSaysTheBitsOfTheMode(_ text: String, _ isMinimal: Bool, _ bits: UInt32) throws {
        let list = try Self.list(text)
        #expect(list.isMinimal == isMinimal && list.permissionBits == bits)
    }

    @Test(arguments: [
        ("u:6 g:4 o:1", 0o752, "u:7 g:5 o:2"), ("u:7 U1:7 g:1 G2:3 m:5 o:2", 0o6640, "u:6 U1:7 g:1 G2:3 m:4 o:0"), ("u:7 g:7 m:7 o:7", 0o100000, "u:0 g:7 m:0 o:0"),
    ]) func aModeChangesTheClasses(_ text: String, _ mode: UInt32, _ expected: String) throws {
        #expect(try Self.list(text).withMode(mode) == Self.list(expected))
    }

    /// As the table in acl(5), OBJECT CREATION AND DEFAULT ACLs: only what both the maker and the list allow.
    @Test(arguments: [
        ("u:7 g:5 o:0", 0o666, "u:6 g:4 o:0"), ("u:7 U1:7 g:5 m:7 o:5", 0o640, "u:6 U1:7 g:5 m:4 o:0"), ("u:4 g:7 m:1 o:7", 0o777, "u:4 g:7 m:1 o:7"),
        ("u:7 U1:7 g:7 m:7 o:7", 0, "u:0 U1:7 g:7 m:0 o:0"),
    ]) func whatIsMadeInheritsWhatBothAllow(_ text: String, _ mode: UInt32, _ expected: String) throws {
        #expect(try Self.list(text).inherited(mode: mode) == Self.list(expected))
    }
}
