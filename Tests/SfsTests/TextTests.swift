import Testing

@testable import sfs

@Suite struct TextTests {
    @Test(arguments: [
        ("plain äöü 日本 👍", "plain äöü 日本 👍"), ("a\nb\tc\\", "a\\nb\\tc\\\\"), ("\u{1b}[31mred", "\\x1b[31mred"), ("\u{7f}", "\\x7f"),
        ("\u{85}", "\\xc2\\x85"), ("a\u{202e}b", "a\\xe2\\x80\\xaeb"), ("\u{feff}", "\\xef\\xbb\\xbf"),
    ])
    func namesCannotDeceiveATerminal(_ name: String, _ shown: String) { #expect(Escaped(name.utf8).description == shown) }

    @Test func bytesThatAreNoTextAreShownAsSuch() {
        #expect(Escaped([0x61, 0xff, 0x62]).description == "a\\xffb")
        #expect(Escaped([0xc3]).description == "\\xc3")
        #expect(Escaped([0xe2, 0x82, 0x61]).description == "\\xe2\\x82a")
        #expect(Escaped([0xed, 0xa0, 0x80]).description == "\\xed\\xa0\\x80")
        #expect(Escaped([0xc0, 0xaf, 0xf5]).description == "\\xc0\\xaf\\xf5")
        #expect(Escaped([UInt8]()).description == "")
    }

    @Test func noTwoByteStringsLookTheSame() {
        var shown: Set<[UInt8]> = []
        for first in UInt8.min...UInt8.max {
            shown.insert(Array(Escaped([first]).description.utf8))
            for second in UInt8.min...UInt8.max { shown.insert(Array(Escaped([first, second]).description.utf8)) }
        }
        #expect(shown.count == 256 + 65536)
    }

    @Test func sizesAreReadable() {
        let rows: [(Int, String)] = [
            (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"), (1 << 20, "1 MiB"), (262_144 << 10, "256 MiB"),
            (5 << 30, "5 GiB"), (1 << 40, "1 TiB"), (.max, "7.9 EiB"), ((1 << 20) - 1, "1023 KiB"), (150 << 10, "150 KiB"),
        ]
        for (bytes, text) in rows { #expect(Size(bytes).description == text) }
    }

    @Test func timestampsAreThoseOfTheCalendar() {
        let rows: [(Int64, String)] = [
            (0, "1970-01-01 00:00:00"), (951_782_400, "2000-02-29 00:00:00"), (1_709_164_800, "2024-02-29 00:00:00"),
            (1_700_000_000, "2023-11-14 22:13:20"), (-1, "1969-12-31 23:59:59"), (4_102_444_800, "2100-01-01 00:00:00"),
            (1_735_689_599, "2024-12-31 23:59:59"),
        ]
        for (seconds, text) in rows { #expect(System.timestamp(seconds) == text) }
    }

    @Test func jsonIsExact() {
        #expect(JSON.string("a\"b\\c\n\t\r\u{1}\u{7f}é").encoded == "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u007fé\"")
        #expect(JSON.object([("b", .null), ("a", .array([.bool(true), .integer(-3)])), ("c", .object([]))]).encoded == #"{"b":null,"a":[true,-3],"c":{}}"#)
        #expect(JSON.object(JSON.bytes("name", Array("é".utf8))).encoded == #"{"name":"é"}"#)
        #expect(JSON.object(JSON.bytes("name", [0x61, 0xff])).encoded == "{\"name\":\"a\u{fffd}\",\"nameBase64\":\"Yf8=\"}")
        #expect(JSON.object(JSON.bytes("n", [0xff, 0xfe, 0xfd])).encoded.hasSuffix(#""nBase64":"//79"}"#))
        #expect(JSON.object(JSON.bytes("n", [0xff])).encoded.hasSuffix(#""nBase64":"/w=="}"#))
    }

    @Test func mountOptionsAreThoseOfMount() throws {
        func list(_ texts: String...) throws -> MountOptionList { try MountOptionList(texts.map { Array($0.utf8) }) }
        var expected = try list()
        #expect(try list("rw,defaults,relatime,user=me,x-systemd.automount,_netdev,nofail,auto", "") == expected)
        expected.isReadOnly = true
        expected.passedOn = ["nosuid", "noatime"]
        expected.passfile = Array("/a,b\\c".utf8)
        #expect(try list("ro,nosuid,passfile=/a\\,b\\\\c", "noatime") == expected)
        #expect(try list("ro,rw").isReadOnly == false)
        #expect(try list("allow_other,nonempty").allowsOther)
        for unknown in ["blksize=3", "Ro", "passphrase=x", "fsname=a", "x"] { #expect(throws: Failure.self, "\(unknown)") { _ = try list(unknown) } }
    }

    @Test func mountTableIsReadWithItsEscapes() {
        let text = """
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            36 22 0:53 / /mnt/a\\040b rw,nosuid shared:2 master:3 - fuse.sfs /v\\134x\\011 rw,user_id=0
            37 36 0:54 / /mnt/a\\040b/c rw - tmpfs tmpfs rw
            38 22 0:55 / /mnt/a\\040b rw - fuse.sfs /second rw
            broken line
            """
        let table = MountTable(Array(text.utf8))
        #expect(table.entries.map(\.id) == [22, 36, 37, 38])
        #expect(table.entries[1].mountPoint == Array("/mnt/a b".utf8))
        #expect(table.entries[1].source == Array("/v\\x\t".utf8))
        #expect(table.entries[1].isVault && !table.entries[0].isVault)
        #expect(table.below(table.entries[1]).map(\.id) == [37])
    }
}
