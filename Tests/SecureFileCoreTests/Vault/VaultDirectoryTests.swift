import Foundation
import Testing

@testable import SecureFileCore

@Suite struct VaultNameTests {
    /// Every length with every byte value: each byte stands in some name of each length class, and comes back.
    @Test func everyNameComesBack() throws {
        let codec = try NameCodec(SIVCipher(key: SecretKey(copying: Array(0..<64))), DirectoryID(bytes: Array(0..<16)))
        let allowed = (1...255).map { UInt8($0) }.filter { $0 != UInt8(ascii: "/") }
        var names: [[UInt8]] = []
        for length in 1...255 { names += [0, 85, 170].map { shift in (0..<length).map { allowed[($0 * 7 + shift + length) % 254] } } }
        names += allowed.filter { $0 != 46 }.map { [$0] }
        for name in names where NameLimits.isWellFormed(name) {
            let stored = try codec.encode(name)
            #expect(stored.entry.count <= 255 && !stored.entry.bytes.contains(UInt8(ascii: "/")))
            if let companion = stored.companion {
                #expect(name.count > 175 && stored.entry.count == 52)
                #expect(try codec.decode(long: Array(stored.entry.bytes), companion: companion) == name)
            } else {
                #expect(try name.count <= 175 && codec.decode(short: Array(stored.entry.bytes)) == name)
            }
        }
    }

    @Test func badNamesAreRefused() throws {
        let fixture = try VaultFixture()
        let root = try fixture.open(.readOnly).root
        for name in ["", ".", "..", "a/b", "/", "a\0b"] { #expect(failureCode { _ = try root.stored(name) } == .invalidArgument) }
        #expect(failureErrno { _ = try root.storedName([UInt8](repeating: 97, count: 256)) } == .nameTooLong)
        for name in ["...", ".a", "sfs.json", "sfs.dir", " ", "\n", String(repeating: "é", count: 127)] { _ = try root.stored(name) }
    }

    @Test func anyStoredNameIsReadWithoutATrap() throws {
        let seed = VaultTestRandom.seed(29)
        var random = VaultTestRandom(seed: seed)
        let codec = try NameCodec(SIVCipher(key: SecretKey(copying: Array(0..<64))), DirectoryID(bytes: Array(0..<16)))
        let good = Array(try codec.encode(Array("a name".utf8)).entry.bytes)
        for _ in 0..<20000 {
            var entry = random.below(2) == 0 ? good : random.bytes(random.below(60)).map { $0 % 80 + 43 }
            if !entry.isEmpty { entry[random.below(entry.count)] = UInt8(truncatingIfNeeded: random.next()) }
            if entry != good { #expect(try codec.decode(short: entry) == nil, "seed \(seed)") }
            #expect(try codec.decode(long: entry, companion: random.bytes(random.below(300))) == nil, "seed \(seed)")
        }
    }

    /// On the disk: files and directories of all lengths are made, listed, found after a reopen, and removed without a trace.
    @Test func allLengthsOnTheDisk() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.open()
        let names = Set((1...255).map { length in (0..<length).map { UInt8(($0 + length) % 200) + 48 } })
        for name in names {
            let stored = try vault.root.storedName(name)
            if name.count % 5 == 0 {
                try vault.root.makeDirectory(stored, permissions: 0o755, owner: nil)
            } else {
                _ = try vault.root.createFile(stored, permissions: 0o644)
            }
        }
        #expect(try vault.root.names() == names)
        try vault.close()
        let again = try fixture.open()
        #expect(try again.root.names() == names)
        let stream = try again.root.entries()
        while let entry = try stream.next() {
            #expect(entry.name == [46] || entry.name == [46, 46] || (entry.name.count % 5 == 0) == (entry.kind == .directory))
        }
        for name in names {
            let stored = try again.root.storedName(name)
            #expect(try again.root.status(stored).kind == (name.count % 5 == 0 ? .directory : .regular))
            if name.count % 5 == 0 { try again.root.removeDirectory(stored) } else { try again.root.remove(stored) }
        }
        try again.close()
        #expect(try fixture.folder.entries() == ["sfs.dir", "sfs.json", "sfs.lock", "sfs.session", "sfs.spare"])
    }
}

@Suite struct VaultDirectoryTests {
    private let fixture: VaultFixture
    private let vault: Vault
    private var root: VaultDirectory { vault.root }
    private let long = String(repeating: "long name ", count: 20)

    init() throws {
        fixture = try VaultFixture()
        vault = try fixture.open()
    }

    private func directory(_ name: String) throws -> VaultDirectory {
        try root.makeDirectory(root.stored(name), permissions: 0o755, owner: nil)
    }

    private func file(_ name: String, in directory: VaultDirectory? = nil) throws -> UInt64 {
        let directory = directory ?? root
        return try directory.createFile(directory.stored(name), permissions: 0o644).status().inode
    }

    private func inode(_ name: String, in directory: VaultDirectory? = nil) throws -> UInt64 {
        let directory = directory ?? root
        return try directory.status(directory.stored(name)).inode
    }

    private func text(_ names: [String]) -> Set<[UInt8]> { Set(names.map { Array($0.utf8) }) }

    /// Backing names that are not the root's own.
    private func backing(_ path: String = ".") throws -> [String] {
        try fixture.folder.entries(path).filter { !["sfs.dir", "sfs.json", "sfs.lock", "sfs.session", "sfs.spare"].contains($0) }
    }

    // MARK: Making

    @Test func namesMeanNothingInAnotherDirectory() throws {
        let a = try directory("a")
        let b = try directory("b")
        #expect(a.id != b.id)
        #expect(try a.stored("x").entry != b.stored("x").entry)
        _ = try file("x", in: a)
        // A file moved in the backing folder is foreign.
        let stored = try a.stored("x").entry
        try a.descriptor.rename(stored, to: b.descriptor, stored)
        #expect(try a.names().isEmpty && b.names().isEmpty)
        #expect(failureErrno { try root.removeDirectory(root.stored("b")) } == .notEmpty, "a foreign file is never removed")
        try root.removeDirectory(root.stored("a"))
    }

    @Test func aKnownDirectoryIsRemovedAsAnyOther() throws {
        let full = try directory("full")
        let stored = try full.stored("x")
        _ = try full.createFile(stored, permissions: 0o644)
        #expect(failureErrno { try root.removeDirectory(root.stored("full"), full) } == .notEmpty)
        #expect(try root.openDirectory(root.stored("full")).names() == text(["x"]), "it has its id still")
        try full.remove(stored, .regular)
        try root.removeDirectory(root.stored("full"), full)
        #expect(failureErrno { _ = try root.openDirectory(root.stored("full")) } == .noEntry)
        #expect(try backing().isEmpty, "no leftovers")
    }

    @Test func filesAreExclusive() throws {
        _ = try file("x")
        #expect(failureErrno { _ = try file("x") } == .exists)
        #expect(failureErrno { _ = try directory("x") } == .exists)
        #expect(failureErrno { try root.removeDirectory(root.stored("x")) } == .notDirectory)
        #expect(failureErrno { try root.remove(root.stored("y")) } == .noEntry)
        #expect(failureErrno { _ = try root.openDirectory(root.stored("x")) } == .notDirectory)
        _ = try directory("d")
        #expect(failureErrno { _ = try root.openFile(root.stored("d"), [.readOnly]) } == .isDirectory)
        #expect(failureErrno { try root.remove(root.stored("d")) } == .isDirectory)
        #expect(failureErrno { _ = try directory("d") } == .exists)
        #expect(try backing().count == 2, "no leftovers")
    }

    @Test func permissionsAreExactAndTheOwnersOwn() throws {
        for permissions in [0o755, 0o700, 0o555, 0o300, 0o000, 0o1777] as [UInt32] {
            let name = try root.stored("d\(permissions)")
            try root.makeDirectory(name, permissions: permissions, owner: nil)
            // The umask of the test process applies, but never to the owner's bits.
            #expect(try root.status(name).permissions & 0o700 == permissions & 0o700)
            try root.removeDirectory(name)
        }
    }

    @Test func setGroupIDIsInherited() throws {
        let parent = try directory("parent")
        try parent.descriptor.setPermissions(0o2777)
        let made = try parent.makeDirectory(parent.stored("child"), permissions: 0o755, owner: nil)
        #expect(try made.descriptor.status().permissions & 0o2000 != 0)
    }

    @Test func lostIDFileIsRestoredFromTheAttribute() throws {
        let made = try directory("d")
        guard (try? made.descriptor.extendedAttribute(ReservedNames.directoryAttribute)) != nil else { return }  // no such filesystem
        _ = try file("x", in: made)
        for damage in [nil, [], [UInt8](repeating: 1, count: 32), [UInt8](repeating: 1, count: 33)] as [[UInt8]?] {
            let path = "\(try root.stored("d").entry)/sfs.dir"
            if let damage { try fixture.folder.write(path, damage) } else { try made.descriptor.remove(ReservedNames.directoryID) }
            let again = try root.openDirectory(root.stored("d"))
            #expect(again.id == made.id)
            #expect(try again.names() == text(["x"]))
            #expect(try fixture.folder.read(path).count == 32)
        }
    }

    @Test func lostIDIsDamageAndCanBeRemoved() throws {
        let made = try directory("d")
        try? made.descriptor.removeExtendedAttribute(ReservedNames.directoryAttribute)
        try made.descriptor.remove(ReservedNames.directoryID)
        #expect(failureCode { _ = try root.openDirectory(root.stored("d")) } == .damaged)
        try root.removeDirectory(root.stored("d"))
        #expect(try backing().isEmpty)
    }

    @Test func swappedIDFilesAreStillBoundToTheVault() throws {
        let made = try directory("d")
        let other = try VaultFixture()
        let foreign = try other.folder.read("sfs.dir")
        try fixture.folder.write("\(root.stored("d").entry)/sfs.dir", foreign)
        try? made.descriptor.setExtendedAttribute(ReservedNames.directoryAttribute, foreign)
        #expect(failureCode { _ = try root.openDirectory(root.stored("d")) } == .damaged)
    }

    // MARK: Removing

    @Test func directoryWithAnEntryIsNotRemoved() throws {
        let made = try directory("d")
        for name in ["x", long] {
            _ = try file(name, in: made)
            #expect(failureErrno { try root.removeDirectory(root.stored("d")) } == .notEmpty)
            try made.remove(made.stored(name))
        }
        try made.makeSymlink(made.stored("s"), target: Array("t".utf8))
        #expect(failureErrno { try root.removeDirectory(root.stored("d")) } == .notEmpty)
        try made.remove(made.stored("s"))
        try made.makeDirectory(made.stored("s"), permissions: 0o755, owner: nil)
        #expect(failureErrno { try root.removeDirectory(root.stored("d")) } == .notEmpty)
        try made.removeDirectory(made.stored("s"))
        try root.removeDirectory(root.stored("d"))
        #expect(failureErrno { try root.removeDirectory(root.stored("d")) } == .noEntry)
        #expect(try backing().isEmpty)
    }

    @Test func leftoversDoNotKeepADirectory() throws {
        let made = try directory("d")
        let path = "\(try root.stored("d").entry)"
        try fixture.folder.write(path + "/sfs.tmp.abc", [1])
        try fixture.folder.write(path + "/sfs.long.abc.name", [1])
        try FileManager.default.createDirectory(
            atPath: fixture.folder.path + "/" + path + "/sfs.tmp.dir/sfs.tmp.deeper", withIntermediateDirectories: true)
        try fixture.folder.write(path + "/sfs.tmp.dir/sfs.dir", [1])
        #expect(try made.names().isEmpty)
        try root.removeDirectory(root.stored("d"))
        #expect(try backing().isEmpty)
    }

    @Test func foreignEntriesAreSkippedAndKept() throws {
        let made = try directory("d")
        _ = try file("x", in: made)
        let path = "\(try root.stored("d").entry)"
        for name in ["README", ".nfs0001", "\(try made.stored("x").entry) (conflict)", "AAAA", "sfs.other", "sfs.long.AAAA"] {
            try fixture.folder.write(path + "/" + name, [1])
        }
        let pipe = fixture.folder.path + "/" + path + "/\(try made.stored("pipe").entry)"
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(try made.names() == text(["x"]))
        #expect(failureErrno { _ = try made.status(made.stored("pipe")) } == .noEntry)
        #expect(failureErrno { _ = try made.openFile(made.stored("pipe"), [.readOnly]) } == .noEntry)
        try made.remove(made.stored("x"))
        #expect(failureErrno { try root.removeDirectory(root.stored("d")) } == .notEmpty)
        #expect(try fixture.folder.entries(path).count == 8)
    }

    // MARK: Long names

    @Test func companionIsMadeAndRemovedWithItsEntry() throws {
        _ = try file(long)
        let stored = try root.stored(long)
        #expect(try backing() == ["\(stored.entry)", "\(stored.entry).name"])
        #expect(try fixture.folder.read("\(stored.entry).name") == stored.companion)
        // A second link, then the first name goes.
        try root.link(stored, in: root, as: root.stored(long + "2"))
        try root.remove(stored)
        #expect(try root.names() == text([long + "2"]) && backing().count == 2)
        try root.rename(root.stored(long + "2"), to: root, root.stored("short"))
        #expect(try backing() == ["\(root.stored("short").entry)"])
        #expect(failureErrno { try root.link(root.stored("missing"), in: root, as: root.stored(long)) } == .noEntry)
        #expect(failureErrno { try root.rename(root.stored("missing"), to: root, root.stored(long)) } == .noEntry)
        #expect(try backing().count == 1, "no companion of an entry that was not made")
    }

    @Test func damagedCompanionHidesTheNameUntilItIsMadeAgain() throws {
        _ = try file(long)
        let stored = try root.stored(long)
        try fixture.folder.write("\(stored.entry).name", [1, 2])
        #expect(try root.names().isEmpty)
        #expect(try root.status(stored).kind == .regular)
        #expect(failureErrno { _ = try file(long) } == .exists)
        #expect(try root.names() == text([long]), "the attempt has repaired it")
    }

    @Test func renameToALinkOfTheSameFileKeepsBoth() throws {
        _ = try file(long)
        try root.link(root.stored(long), in: root, as: root.stored(long + "2"))
        try root.rename(root.stored(long), to: root, root.stored(long + "2"))
        #expect(try root.names() == text([long, long + "2"]))
        try root.rename(root.stored(long), to: root, root.stored(long))
        #expect(try root.names() == text([long, long + "2"]))
    }

    @Test func exchangeOfALongAndAShortName() throws {
        let other = try directory("d")
        let a = try file(long)
        let b = try file("short", in: other)
        try root.rename(root.stored(long), to: other, other.stored("short"), .exchange)
        #expect(try inode(long) == b && inode("short", in: other) == a)
        #expect(try root.names() == text([long, "d"]) && other.names() == text(["short"]))
        #expect(failureErrno { try root.rename(root.stored(long), to: other, other.stored("none"), .exchange) } == .noEntry)
    }

    // MARK: Renaming

    @Test func fileReplacesFile() throws {
        let a = try file("a")
        _ = try file("b")
        #expect(failureErrno { try root.rename(root.stored("a"), to: root, root.stored("b"), .noReplace) } == .exists)
        try root.rename(root.stored("a"), to: root, root.stored("b"))
        #expect(try inode("b") == a && root.names() == text(["b"]))
        _ = try directory("d")
        #expect(failureErrno { try root.rename(root.stored("b"), to: root, root.stored("d")) } == .isDirectory)
        #expect(failureErrno { try root.rename(root.stored("d"), to: root, root.stored("b")) } == .notDirectory)
    }

    @Test func directoryReplacesAnEmptyOne() throws {
        let a = try directory("a")
        _ = try file("x", in: a)
        let b = try directory(long)
        _ = try file("y", in: b)
        #expect(failureErrno { try root.rename(root.stored("a"), to: root, root.stored(long)) } == .notEmpty)
        #expect(failureErrno { try root.rename(root.stored("a"), to: root, root.stored(long), .noReplace) } == .exists)
        try b.remove(b.stored("y"))
        try root.rename(root.stored("a"), to: root, root.stored(long))
        #expect(try root.names() == text([long]))
        let moved = try root.openDirectory(root.stored(long))
        #expect(try moved.id == a.id && moved.names() == text(["x"]))
        #expect(try backing().count == 2)
        // Into another directory, and into itself.
        let c = try directory("c")
        _ = try c.makeDirectory(c.stored("e"), permissions: 0o755, owner: nil)
        try root.rename(root.stored(long), to: c, c.stored("e"))
        #expect(try c.openDirectory(c.stored("e")).names() == text(["x"]))
        #expect(failureErrno { try root.rename(root.stored("c"), to: c, c.stored("f")) } == .invalidArgument)
        #expect(failureErrno { try c.rename(c.stored("e"), to: root, root.stored("c")) } == .notEmpty)
    }

    // MARK: Symlinks

    @Test(arguments: [1, 2, 30, 254, 255, 256, 3038, 3039, 3040, 4000, 4095])
    func targetsComeBack(_ length: Int) throws {
        let target = (0..<length).map { UInt8($0 % 255) + 1 }
        let name = try root.stored("link")
        try root.makeSymlink(name, target: target)
        let status = try root.status(name)
        #expect(status.kind == .symlink)
        #expect(try root.plaintextSize(status, name) == Int64(length))
        #expect(try root.symlinkTarget(name) == target)
        #expect(failureErrno { try root.makeSymlink(name, target: target) } == .exists)
        #expect(try backing().contains("sfs.links") == (length > 3039))
        if length > 3039 { #expect(try fixture.folder.entries("sfs.links").count == 1) }
        try root.link(name, in: root, as: root.stored("second"))
        try root.remove(name)
        #expect(try root.symlinkTarget(root.stored("second")) == target)
        try root.remove(root.stored("second"))
        if length > 3039 { #expect(try fixture.folder.entries("sfs.links").isEmpty) }
    }

    @Test func replacedLongSymlinkLeavesNoFile() throws {
        _ = try file("x")
        try root.makeSymlink(root.stored("link"), target: [UInt8](repeating: 97, count: 4000))
        try root.rename(root.stored("x"), to: root, root.stored("link"))
        #expect(try fixture.folder.entries("sfs.links").isEmpty)
        #expect(failureErrno { _ = try root.symlinkTarget(root.stored("link")) } == .invalidArgument)
    }

    @Test func badTargetsAreRefused() throws {
        #expect(failureErrno { try root.makeSymlink(root.stored("l"), target: []) } == .noEntry)
        #expect(failureErrno { try root.makeSymlink(root.stored("l"), target: [97, 0]) } == .invalidArgument)
        #expect(failureErrno { try root.makeSymlink(root.stored("l"), target: [UInt8](repeating: 97, count: 4096)) } == .nameTooLong)
        #expect(try backing().isEmpty)
    }

    // MARK: Reading and syncing

    @Test func streamGoesOnAtAPosition() throws {
        for i in 0..<300 { _ = try file("file \(i)") }
        let stream = try root.entries()
        var seen: [[UInt8]] = []
        var positions: [Int] = [0]
        while let entry = try stream.next() {
            seen.append(entry.name)
            positions.append(entry.nextPosition)
        }
        #expect(seen.count == 302 && Set(seen).count == 302)
        for i in [0, 1, 150, 301] {
            stream.seek(to: positions[i])
            #expect(try stream.next()?.name == seen[i])
        }
        try root.synchronize()
    }

    @Test func readOnlyVaultChangesNothing() throws {
        _ = try directory("d")
        _ = try file("x")
        let reader = try fixture.open(.readOnly).root
        let x = try reader.stored("x")
        let file = try reader.openFile(x, [.readOnly])
        #expect(failureErrno { try reader.remove(x) } == .readOnly)
        #expect(failureErrno { try reader.removeDirectory(reader.stored("d")) } == .readOnly)
        #expect(failureErrno { try reader.makeDirectory(reader.stored("e"), permissions: 0o700, owner: nil) } == .readOnly)
        #expect(failureErrno { try reader.rename(x, to: reader, reader.stored("y")) } == .readOnly)
        #expect(failureErrno { try reader.link(x, in: reader, as: reader.stored("y")) } == .readOnly)
        #expect(failureErrno { try reader.makeSymlink(reader.stored("y"), target: [97]) } == .readOnly)
        #expect(failureErrno { try VaultAttributes(codec: reader.codec).set(file, name: Array("user.a".utf8), []) } == .readOnly)
        #expect(try reader.names() == text(["d", "x"]))
    }

    @Test func unnamedFileGetsAName() throws {
        guard let file = try? root.createUnnamedFile(permissions: 0o600) else { return }  // no such filesystem
        #expect(try root.names().isEmpty)
        try root.link(file, as: root.stored(long))
        #expect(try inode(long) == file.status().inode)
    }

    @Test func manyThreadsMakeAndRemove() async throws {
        let root = self.root
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask { () throws in
                    for i in 0..<30 {
                        let name = try root.storedName(Array("\(task % 3) \(i % 5) \(String(repeating: "n", count: i % 2 * 200))".utf8))
                        switch (task + i) % 4 {
                        case 0: _ = try? root.createFile(name, permissions: 0o600)
                        case 1: _ = try? root.makeDirectory(name, permissions: 0o700, owner: nil)
                        case 2: try? root.remove(name)
                        default: try? root.removeDirectory(name)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for name in try root.names() {
            let stored = try root.storedName(name)
            if try root.status(stored).kind == .directory { try root.removeDirectory(stored) } else { try root.remove(stored) }
        }
        #expect(try backing().isEmpty, "no leftover, no companion without an entry")
    }
}

@Suite struct VaultAttributesTests {
    private let fixture: VaultFixture
    private let vault: Vault
    private let file: FileDescriptor

    init() throws {
        fixture = try VaultFixture()
        vault = try fixture.open()
        file = try vault.root.createFile(vault.root.stored("f"), permissions: 0o600)
    }

    @Test func everyNameLengthComesBack() throws {
        for length in [1, 6, 166, 167, 168, 200, 254, 255] {
            let name = (0..<length).map { UInt8($0 % 255) + 1 }
            for value in [[], [0, 1, 255], [UInt8](repeating: 7, count: 500)] as [[UInt8]] {
                try vault.attributes.set(file, name: name, value)
                #expect(try vault.attributes.get(file, name: name) == value)
                #expect(try vault.attributes.list(file) == [name])
                // As the mount has it: opened as a path only.
                let path = try vault.root.descriptor.open(vault.root.stored("f").entry, [.pathOnly, .noFollow])
                #expect(try vault.attributes.list(path) == [name] && vault.attributes.get(path, name: name) == value)
            }
            for stored in try file.extendedAttributeNames() { #expect(stored.count <= 255) }
            try vault.attributes.remove(file, name: name)
            #expect(failureErrno { _ = try vault.attributes.get(file, name: name) } == .noData)
            #expect(failureErrno { try vault.attributes.remove(file, name: name) } == .noData)
        }
    }

    @Test func rulesAndLimitsAreTheSystems() throws {
        let name = Array("user.a".utf8)
        #expect(failureErrno { try vault.attributes.set(file, name: name, [1], .mustExist) } == .noData)
        try vault.attributes.set(file, name: name, [1], .mustNotExist)
        #expect(failureErrno { try vault.attributes.set(file, name: name, [2], .mustNotExist) } == .exists)
        try vault.attributes.set(file, name: name, [3], .mustExist)
        #expect(try vault.attributes.get(file, name: name) == [3])
        #expect(failureErrno { try vault.attributes.set(file, name: [UInt8](repeating: 97, count: 256), []) } == .range)
        #expect(failureErrno { try vault.attributes.set(file, name: [], []) } == .range)
    }

    @Test func foreignAttributesAreNotShownAndDamageIsTold() throws {
        let name = Array("security.capability".utf8)
        try vault.attributes.set(file, name: name, [1, 2, 3])
        try file.setExtendedAttribute(RawPath("user.foreign"), [1])
        try file.setExtendedAttribute(RawPath("user.sfs.n.AAAA"), [1])
        try file.setExtendedAttribute(RawPath("user.sfs.h.AAAA"), [1])
        #expect(try vault.attributes.list(file) == [name])
        let stored = try #require(try file.extendedAttributeNames().first { $0.count > 30 })
        var value = try file.extendedAttribute(stored)
        value[20] ^= 1
        try file.setExtendedAttribute(stored, value)
        #expect(failureCode { _ = try vault.attributes.get(file, name: name) } == .damaged)
        try file.setExtendedAttribute(stored, [1, 2])
        #expect(failureCode { _ = try vault.attributes.get(file, name: name) } == .damaged)
    }

    @Test func pathDescriptorsWillDo() throws {
        let path = try vault.root.descriptor.open(vault.root.stored("f").entry, [.pathOnly, .noFollow])
        let name = Array("user.a".utf8)
        try vault.attributes.set(path, name: name, [9])
        #expect(try vault.attributes.get(file, name: name) == [9] && vault.attributes.list(path) == [name])
        try vault.attributes.remove(path, name: name)
        #expect(try vault.attributes.list(file).isEmpty)
    }

    @Test func symlinksHaveTheirOwn() throws {
        try vault.root.makeSymlink(vault.root.stored("l"), target: Array("f".utf8))
        let link = try vault.root.descriptor.open(vault.root.stored("l").entry, [.pathOnly, .noFollow])
        let name = Array("trusted.note".utf8)
        do { try vault.attributes.set(link, name: name, [1], inTrusted: true) } catch {
            #expect(error.errno == .notPermitted || error.errno == .notSupported)  // only root may
            return
        }
        #expect(try vault.attributes.get(link, name: name, inTrusted: true) == [1])
        #expect(try vault.attributes.list(link, inTrusted: true) == [name] && vault.attributes.list(file).isEmpty)
        try vault.attributes.remove(link, name: name, inTrusted: true)
    }
}
