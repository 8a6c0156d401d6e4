import SecureFileCore
import Testing

@Suite struct CheckTests {
    static let marker = [UInt8](repeating: 0x5a, count: 1000)

    /// `inline` in one page, `grouped` of 70 blocks in two groups, both in the root.
    static func fill(_ writer: TestVault.Writer) throws {
        try writer.file(Array("inline".utf8), marker)
        try writer.file(Array("grouped".utf8), Array(repeating: 0x61, count: 70 * 4096))
        let folder = try writer.directory("folder")
        try writer.file("file", "x", in: folder)
        try writer.symlink("link", to: "inline")
        try writer.symlink("long link", to: String(repeating: "y", count: 4000))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var kind: VaultFinding.Kind
        var path: String?
        var block: Int?
        var name: String
        var damage: @Sendable (TestVault) throws -> Void
        var testDescription: String { name }
        init(
            _ kind: VaultFinding.Kind, _ path: String?, block: Int? = nil, _ name: String, _ damage: @escaping @Sendable (TestVault) throws -> Void
        ) {
            self.kind = kind
            self.path = path
            self.block = block
            self.name = name
            self.damage = damage
        }
    }

    static func root(_ vault: TestVault) throws -> FileDescriptor { try FileDescriptor.open(RawPath(vault.path), [.readOnly, .directory]) }
    static func file(_ path: String) throws -> FileDescriptor { try FileDescriptor.open(RawPath(path), .readWrite) }

    static func withLongTarget(_ vault: TestVault, _ body: (FileDescriptor, RawPath) throws -> Void) throws {
        let links = try root(vault).open(RawPath("sfs.links"), [.readOnly, .directory])
        let stream = try DirectoryStream(links)
        while let entry = try stream.next() { if entry.name.count > 2 { try body(links, RawPath(entry.name)) } }
    }

    static let cases: [Case] = [
        Case(.damagedContent, "inline", block: 0, "a byte of an inline file") { try $0.overwrite($0.stored("inline"), at: 700, with: [0]) },
        Case(.damagedContent, "grouped", block: 3, "a byte of a block") { try $0.overwrite($0.stored("grouped"), at: 4 * 4096 + 5, with: [0]) },
        Case(.damagedContent, "grouped", block: 64, "the second metadata page") { try $0.overwrite($0.stored("grouped"), at: 65 * 4096 + 300, with: [9]) },
        Case(.damagedContent, "grouped", block: 0, "the first metadata page") { try $0.overwrite($0.stored("grouped"), at: 300, with: [9]) },
        Case(.damagedContent, "grouped", block: 0, "the first page zeroed") {
            try $0.overwrite($0.stored("grouped"), at: 0, with: Array(repeating: 0, count: 4096))
        },
        Case(.truncatedContent, "grouped", block: 49, "a file cut") { try file($0.stored("grouped")).setLength(50 * 4096) },
        Case(.truncatedContent, "inline", block: 0, "an inline file cut") { try file($0.stored("inline")).setLength(900) },
        Case(.foreignContent, "inline", "plaintext in its place") { try $0.overwrite($0.stored("inline"), at: 0, with: Array("plain".utf8)) },
        Case(.foreignContent, "inline", "a file of another vault in its place") { vault in
            let other = try TestVault(fill: fill)
            let content = try file(other.stored("inline")).readAll(limit: 1 << 20)
            try vault.overwrite(vault.stored("inline"), at: 0, with: content)
        },
        Case(.unsupportedContent, "inline", "a newer version") { try $0.overwrite($0.stored("inline"), at: 8, with: [2]) },
        Case(.damagedName, nil, "a name changed") { vault in
            let name = RawPath(try vault.storedName("inline"))
            var changed = Array(name.bytes)
            changed[3] = changed[3] == 65 ? 66 : 65
            try root(vault).rename(name, to: root(vault), RawPath(changed))
        },
        Case(.damagedName, nil, "moved to another directory") { vault in
            let name = RawPath(try vault.storedName("inline"))
            let folder = try FileDescriptor.open(RawPath(vault.stored("folder")), [.readOnly, .directory])
            try root(vault).rename(name, to: folder, name)
        },
        Case(.damagedDirectory, "folder", "a directory's id lost") { vault in
            let folder = try FileDescriptor.open(RawPath(vault.stored("folder")), [.readOnly, .directory])
            try folder.remove(RawPath("sfs.dir"))
            try folder.removeExtendedAttribute(RawPath("user.sfs.dir"))
        },
        Case(.directoryIDInAttributeOnly, "folder", "a directory's id file lost") {
            try FileDescriptor.open(RawPath($0.stored("folder")), [.readOnly, .directory]).remove(RawPath("sfs.dir"))
        },
        Case(.damagedSymlink, "link", "a symlink's target changed") { vault in
            let name = RawPath(try vault.storedName("link"))
            var target = try root(vault).symlinkTarget(name)
            target[5] = target[5] == 65 ? 66 : 65
            try root(vault).remove(name)
            try root(vault).makeSymlink(name, target: RawPath(target))
        },
        Case(.damagedSymlink, "long link", "the file of a long target lost") { try withLongTarget($0) { try $0.remove($1) } },
        Case(.damagedSymlink, "long link", "the file of a long target lengthened") {
            try withLongTarget($0) { try $0.open($1, [.writeOnly]).setLength(1 << 20) }
        },
        Case(.damagedSymlink, "long link", "a symlink instead of the file of a long target") {
            try withLongTarget($0) {
                try $0.remove($1)
                try $0.makeSymlink($1, target: RawPath("../sfs.json"))
            }
        },
        Case(.damagedAttribute, "inline", "an attribute's value changed") {
            try $0.withAttribute { try $0.setExtendedAttribute($1, Array(repeating: 1, count: 40)) }
        },
        Case(.damagedAttribute, "inline", "an attribute's name changed") {
            try $0.withAttribute {
                try $0.removeExtendedAttribute($1)
                try $0.setExtendedAttribute(RawPath("user.sfs.n.AAAAAAAAAAAAAAAAAAAAAAAAAAAA"), Array(repeating: 1, count: 40))
            }
        },
        Case(.foreignEntry, nil, "somebody's file") { try $0.write("Thumbs.db", "x") },
        Case(.foreignEntry, nil, "an unknown reserved name") { try $0.write("sfs.future", "x") },
        Case(.leftover, nil, "a temporary file") { try $0.write("sfs.tmp.abc", "x") },
        Case(.orphanedName, nil, "a long name's file without its entry") { try $0.write("sfs.long.AAAA.name", "x") },
        Case(.orphanedTarget, nil, "a long target without its symlink") { try $0.write("sfs.links/AAAAAAAAAAAAAAAAAAAAAA", "x") },
        Case(.excessBytes, "inline", "bytes behind the end") { try file($0.stored("inline")).setLength(2000) },
        Case(.lenientlyRead, "late", "a file cut by a crash") { vault in
            try vault.die { try $0.file(Array("late".utf8), Array(repeating: 7, count: 10000)) }
            try file(vault.stored("late")).setLength(8192)
        },
        Case(.specialFile, "inline", "a pipe") { vault in
            let path = try vault.stored("inline")
            #expect(try Sfs.shell("rm '\(path)' && mkfifo '\(path)'").code == 0)
        },
    ]

    @Test func everyKindHasACase() {
        // What root cannot be refused is tested elsewhere.
        #expect(Set(Self.cases.map(\.kind)).union([.unreadable]) == Set(VaultFinding.Kind.allCases))
    }

    @Test(arguments: cases) func isFoundAndNamed(_ damage: Case) throws {
        let vault = try TestVault(fill: Self.fill)
        try damage.damage(vault)
        let isDamage = damage.kind.severity == .damage
        let json = try vault.run("check", "--json")
        #expect(json.code == (isDamage ? 9 : 0), "\(json)")
        #expect(json.lines.count == 2, "\(json)")
        if json.lines.count != 2 { return }
        let line = json.lines[0]
        #expect(line.hasPrefix(#"{"severity":"\#(damage.kind.severity.rawValue)","kind":"\#(damage.kind.rawValue)","path":"#), "\(line)")
        #expect(line.contains(damage.path.map { #","path":"\#($0)","storedPath":""# } ?? #","path":null,"storedPath":""#), "\(line)")
        #expect(line.contains(damage.block.map { #","block":\#($0),"# } ?? #","block":null,"#), "\(line)")
        #expect(json.lines[1].hasSuffix(isDamage ? #""damage":1,"unreadable":0,"note":0}}"# : #""damage":0,"unreadable":0,"note":1}}"#))

        let text = try vault.run("check")
        #expect(text.code == json.code)
        #expect(text.lines.count >= 3 && text.lines[0].hasPrefix("\(damage.kind.severity.rawValue): \(damage.path.map { $0 + " " } ?? "")["), "\(text)")
        #expect(text.lines.last == "found: 1 \(damage.kind.severity.rawValue)")
    }

    @Test(arguments: cases.filter { [.leftover, .orphanedName, .orphanedTarget, .directoryIDInAttributeOnly].contains($0.kind) })
    func isRepairedBySettling(_ damage: Case) throws {
        let vault = try TestVault(fill: Self.fill)
        try damage.damage(vault)
        let settled = try vault.run("check", "--settle", "--json")
        #expect(settled.code == 0 && settled.lines.count == 2 && settled.lines[0].hasSuffix(#""repaired":true}"#), "\(settled)")
        #expect(try vault.run("check").lines.last == "clean")
    }

    @Test func aCleanVaultIsClean() throws {
        let vault = try TestVault(fill: Self.fill)
        let outcome = try vault.run("check")
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome)")
        #expect(outcome.lines == ["checked 2 directories, 3 files, 2 symlinks, 0 attributes, \(1000 + 70 * 4096 + 1) bytes", "clean"])
        let json = try vault.run("check", "--json")
        let counts = #""directories":2,"files":3,"symlinks":2,"attributes":0,"bytes":\#(1000 + 70 * 4096 + 1),"settled":0"#
        #expect(json.lines == [#"{"summary":{\#(counts),"sessionsForgotten":0,"sessionsRemembered":0,"damage":0,"unreadable":0,"note":0}}"#])
        #expect(try vault.run("check", "--settle").lines == outcome.lines)
    }

    @Test func namesInReportsAreEscaped() throws {
        let vault = try TestVault { try $0.file("evil\u{1b}[2J\n", "x") }
        try vault.overwrite(vault.stored("evil\u{1b}[2J\n"), at: 256, with: [0xff, 0xfe])
        let outcome = try vault.run("check")
        #expect(outcome.code == 9 && outcome.lines[0].hasPrefix("damage: evil\\x1b[2J\\n ["), "\(outcome)")
    }

    @Test func aSparseFileOfATebibyteIsCheckedAtOnce() throws {
        let vault = try TestVault {
            try $0.file(Array("sparse".utf8), Array("begin".utf8), sizedTo: 1 << 40)
        }
        let start = ContinuousClock.now
        let outcome = try vault.run("check")
        #expect(outcome.code == 0 && outcome.lines.last == "clean", "\(outcome)")
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(try vault.run("ls", "-l").text.contains(" 1099511627776 "))
    }

    @Test func hardLinksAreCheckedOnce() throws {
        let vault = try TestVault {
            try $0.file("a", "12345")
            let root = $0.vault.root
            try root.link(root.storedName(Array("a".utf8)), in: root, as: root.storedName(Array("b".utf8)))
        }
        #expect(try vault.run("check").lines.first == "checked 1 directories, 1 files, 0 symlinks, 0 attributes, 5 bytes")
    }

    /// A session that ended without a close is remembered until a check has settled its files.
    @Test func settlingForgetsDeadSessions() throws {
        let vault = try TestVault(fill: Self.fill)
        try vault.die { try $0.file(Array("late".utf8), Array(repeating: 7, count: 10000)) }
        let before = try vault.run("check")
        #expect(before.code == 0, "\(before)")
        #expect(before.text.contains("1 sessions ended without a close: `sfs check --settle`"), "\(before)")
        let settled = try vault.run("check", "--settle")
        #expect(settled.code == 0, "\(settled)")
        #expect(settled.text.contains("settled 1 files\nforgot 1 sessions"), "\(settled)")
        #expect(try vault.run("check").lines.last == "clean")
        #expect(try !vault.run("check").text.contains("sessions"))
        #expect(try vault.run("cat", "late").output == Array(repeating: 7, count: 10000))
    }

    /// What could not be looked at may need them still.
    @Test func nothingIsForgottenWhileADirectoryIsLost() throws {
        let vault = try TestVault(fill: Self.fill)
        try vault.die { try $0.file("late", "x") }
        let folder = try FileDescriptor.open(RawPath(vault.stored("folder")), [.readOnly, .directory])
        let attribute = RawPath("user.sfs.dir")
        let id = try folder.extendedAttribute(attribute)
        try folder.remove(RawPath("sfs.dir"))
        try folder.removeExtendedAttribute(attribute)
        let first = try vault.run("check", "--settle")
        #expect(first.code == 9 && !first.text.contains("forgot"), "\(first)")
        try folder.setExtendedAttribute(attribute, id)
        let second = try vault.run("check", "--settle")
        #expect(second.code == 0 && second.text.contains("forgot 1 sessions"), "\(second)")
    }

    /// Beside a writer nothing is called damaged that is only being written.
    @Test func isQuietBesideAWriter() throws {
        let vault = try TestVault(fill: Self.fill)
        let place = vault.folder.path
        let script = """
            for i in 1 2 3 4 5 6 7 8; do "$SFS" check '\(vault.path)' --passfile '\(vault.passfile)' || exit; done; touch '\(place)/done'
            """
        let out = try FileDescriptor.open(place.appending("out"), [.readWrite, .create])
        let null = try FileDescriptor.open(RawPath("/dev/null"), .readWrite)
        let writing = try vault.open(.readWrite)
        let checker = try Sfs.spawn(
            RawPath("/bin/sh"), [RawPath("sh"), RawPath("-c"), RawPath(script)], ["SFS=\(Sfs.binary)"], [null, out, out])
        let name = try writing.root.storedName(Array("busy".utf8))
        let file = try writing.root.createFile(name, permissions: 0o644)
        let content = SecureFile.create(PosixByteStore(file), writing.content, path: "busy")
        var round: UInt8 = 0
        while (try? FileDescriptor.open(place.appending("done"), .readOnly)) == nil, round < 250 {
            round += 1
            let data = [UInt8](repeating: round, count: 300_000)
            try content.write(data.span, 0..<data.count, at: ByteOffset(Int64(round % 7) * 50_001))
            try content.synchronize()
            if round % 5 == 0 { try content.truncate(to: ByteCount(Int64(round) * 1000)) }
        }
        let code = Sfs.wait(for: checker, 60)
        let said = String(decoding: try out.readAll(limit: 1 << 20), as: UTF8.self)
        #expect(code == 0, "\(said)")
        try content.settle()
        try writing.close()
    }
}

extension TestVault {
    func storedName(_ name: String) throws -> String { try stored(name).split(separator: "/").last.map(String.init) ?? "" }

    func write(_ name: String, _ content: String) throws {
        try FileDescriptor.open(RawPath(path + "/" + name), [.writeOnly, .create], permissions: 0o644).writeStream(Array(content.utf8))
    }

    /// Gives the file `inline` an attribute and runs `body` with the file and the attribute's stored name.
    func withAttribute(_ body: (FileDescriptor, RawPath) throws -> Void) throws {
        let vault = try open(.readWrite)
        let file = try vault.root.openFile(vault.root.storedName(Array("inline".utf8)), .readWrite)
        try vault.attributes.set(file, name: Array("user.note".utf8), Array("remember".utf8))
        try vault.close()
        let stored = try #require(try file.extendedAttributeNames().first { $0.description.hasPrefix("user.sfs.n.") })
        try body(file, stored)
    }

    /// Writes in a session that ends without a close.
    func die(_ fill: (Writer) throws -> Void) throws {
        let vault = try open(.readWrite)
        try fill(Writer(vault: vault))
        // Dropped, as a process that is killed drops it: the lock goes with the descriptor.
    }
}
