import SecureFileCore
import Testing

/// `sfs ls` and `sfs cat`.
@Suite struct ListingTests {
    static let large = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 4096 &+ $0) }

    static func fill(_ writer: TestVault.Writer) throws {
        try writer.file("hello", "hello\n")
        try writer.file(Array("large".utf8), large)
        try writer.file(".hidden", "")
        let docs = try writer.directory("docs")
        try writer.file("letter", "dear\n", in: docs)
        let deep = try writer.directory("deep", in: docs)
        try writer.file("x", "deep", in: deep)
        try writer.symlink("up", to: "../../hello", in: deep)
        try writer.symlink("link", to: "docs/letter")
        try writer.symlink("dir", to: "docs/")
        try writer.symlink("out", to: "/etc/passwd")
        try writer.symlink("loop", to: "loop")
        try writer.symlink("dangling", to: "nothing")
    }

    @Test func listsAllEntriesSorted() throws {
        let vault = try TestVault(fill: Self.fill)
        let outcome = try vault.run("ls")
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome)")
        #expect(outcome.lines == [".hidden", "dangling", "dir", "docs", "hello", "large", "link", "loop", "out"])
        for path in ["/", ".", "docs/..", "//./docs/../", "../.."] { #expect(try vault.run("ls", path).text == outcome.text, "\(path)") }
        #expect(try vault.run("ls", "docs").lines == ["deep", "letter"])
        #expect(try vault.run("ls", "dir/").lines == ["deep", "letter"])
        #expect(try vault.run("ls", "dir").lines == ["dir"])
        #expect(try vault.run("ls", "/docs/letter").lines == ["/docs/letter"])
        #expect(
            try vault.run("ls", "-R").lines == [
                ".hidden", "dangling", "dir", "docs", "hello", "large", "link", "loop", "out", "docs/deep", "docs/letter", "docs/deep/up",
                "docs/deep/x",
            ])
        #expect(try vault.run("ls", "--recursive", "docs").lines == ["deep", "letter", "deep/up", "deep/x"])
    }

    @Test func theLongFormHasPlaintextSizes() throws {
        let vault = try TestVault(fill: Self.fill)
        let lines = try vault.run("ls", "-l").lines
        let columns = lines.map { $0.split(separator: " ").map(String.init) }
        #expect(columns.map { $0[4] } == ["0", "7", "5", columns[3][4], "6", "2000000", "11", "4", "11"])
        #expect(columns[4][0] == "-rw-r--r--" && columns[3][0] == "drwxr-xr-x" && columns[6][0] == "lrwxrwxrwx", "\(lines)")
        #expect(lines[6].hasSuffix(" link -> docs/letter"))
        #expect(columns[4][5].split(separator: "-").count == 3 && columns[4][6].split(separator: ":").count == 3)
    }

    @Test func jsonHasAnObjectALine() throws {
        let vault = try TestVault {
            try $0.file("a\n\"b", "12345")
            try $0.file([0x62, 0xff], [])
            try $0.symlink("c", to: "a\tb")
        }
        let lines = try vault.run("ls", "--json").lines
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix(#"{"name":"a\n\"b","type":"file","size":5,"mode":"644","links":1,"owner":"#), "\(lines)")
        #expect(lines[0].contains(#","modified":"#) && lines[0].contains(#","modifiedNanoseconds":"#))
        #expect(lines[1].hasPrefix("{\"name\":\"b\u{fffd}\",\"nameBase64\":\"Yv8=\",\"type\":\"file\",\"size\":0,"))
        #expect(lines[2].hasPrefix(#"{"name":"c","type":"symlink","size":3,"#) && lines[2].hasSuffix(#","target":"a\tb"}"#))
        // Names are as they are where no terminal reads them.
        #expect(try vault.run("ls").output == Array("a\n\"b\nb".utf8) + [0xff, 10] + Array("c\n".utf8))
    }

    @Test func catPrintsContent() throws {
        let vault = try TestVault(fill: Self.fill)
        for path in ["hello", "/hello", "docs/../hello", "./hello", "docs/deep/up"] {
            #expect(try vault.run("cat", path).text == "hello\n", "\(path)")
        }
        #expect(try vault.run("cat", "link").text == "dear\n")
        #expect(try vault.run("cat", "dir/letter").text == "dear\n")
        #expect(try vault.run("cat", "large").output == Self.large)
        #expect(try vault.run("cat", ".hidden").output == [])
    }

    @Test(arguments: [
        ("nothing", "no such file or directory in the vault"), ("docs/nothing", "no such file or directory in the vault"),
        ("dangling", "no such file or directory in the vault"), ("docs", "is a directory"), ("/", "is a directory"),
        ("hello/", "a part of it is not a directory"), ("hello/x", "a part of it is not a directory"), ("loop", "too many symlinks follow one another"),
        ("out", "leads through a symlink to /etc/passwd, outside of the vault"), (String(repeating: "x", count: 256), "the name is longer than 255 bytes"),
    ])
    func catSaysWhatIsWrong(_ path: String, _ message: String) throws {
        let vault = try TestVault(fill: Self.fill)
        let outcome = try vault.run("cat", path)
        #expect(outcome.code == 16, "\(outcome)")
        #expect(outcome.errors.hasPrefix("sfs cat: \(path): \(message)"), "\(outcome)")
        #expect(outcome.output == [])
    }

    @Test func lsOfWhatIsNotThere() throws {
        let vault = try TestVault(fill: Self.fill)
        let outcome = try vault.run("ls", "no\u{1b}thing")
        #expect(outcome.code == 16 && outcome.errors == "sfs ls: no\\x1bthing: no such file or directory in the vault\n", "\(outcome)")
    }

    @Test func ofADamagedFileTheGoodPartIsPrinted() throws {
        let vault = try TestVault(fill: Self.fill)
        // Block 300 is in group 4: its data page lies behind five metadata pages.
        try vault.overwrite(vault.stored("large"), at: (300 + 5) * 4096 + 17, with: [0xff, 0xfe, 0xfd])
        let outcome = try vault.run("cat", "large")
        #expect(outcome.code == 9, "\(outcome.code) \(outcome.errors)")
        #expect(outcome.output == Array(Self.large.prefix(300 * 4096)))
        #expect(outcome.errors.contains("sfs cat: large: ") && outcome.errors.contains("(block 300)"), "\(outcome.errors)")
    }

    @Test func aFullOutputIsAnError() throws {
        let vault = try TestVault(fill: Self.fill)
        for command in ["ls", "cat"] {
            let path = command == "cat" ? "large" : ""
            let outcome = try Sfs.shell("\"$SFS\" \(command) '\(vault.path)' --passfile '\(vault.passfile)' \(path) >/dev/full")
            #expect(outcome.code == 12 && outcome.errors.contains("standard output cannot be written: No space left"), "\(outcome)")
        }
    }

    @Test func aReaderThatGoesAwayEndsItQuietly() throws {
        let vault = try TestVault(fill: Self.fill)
        let outcome = try Sfs.shell("\"$SFS\" cat '\(vault.path)' --passfile '\(vault.passfile)' large | head -c 10")
        #expect(outcome.code == 0 && outcome.output.count == 10 && outcome.errors == "", "\(outcome)")
    }

    /// Deeper than a process has descriptors by default, and than a path may be long.
    @Test func aDeepTreeIsListedAndChecked() throws {
        let vault = try TestVault {
            var directory = $0.vault.root
            for _ in 0..<300 { directory = try $0.directory("d", in: directory) }
            try $0.file("end", "x", in: directory)
        }
        let script = "ulimit -n 256; \"$SFS\""
        let rest = "'\(vault.path)' --passfile '\(vault.passfile)'"
        let listed = try Sfs.shell("\(script) ls -R \(rest)")
        #expect(listed.lines.count == 301, "\(listed.code) \(listed.errors)")
        #expect(listed.lines.last == Array(repeating: "d/", count: 300).joined() + "end")
        #expect(try Sfs.shell("\(script) check \(rest)").code == 0)
        #expect(try Sfs.shell("\(script) cat \(rest) \(listed.lines.last!)").text == "x")
    }
}
