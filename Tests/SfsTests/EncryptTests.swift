import SecureFileCore
import Testing

@testable import sfs

/// Files outside of a vault.
@Suite struct EncryptTests {
    private struct Place {
        let vault: TestVault
        let plain: String
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

        init() throws {
            vault = try TestVault()
            plain = try vault.folder.file("file", content)
        }

        func run(_ words: String...) throws -> Sfs.Outcome {
            try Sfs.run((words + ["--vault", vault.path, "--passfile", vault.passfile]).map { RawPath($0) })
        }

        func read(_ path: String) throws -> [UInt8] { try FileDescriptor.open(RawPath(path), .readOnly).readAll(limit: 1 << 20) }
        var others: [String] { get throws { try Sfs.shell("ls -A '\(vault.folder.path)'").lines.filter { !["vault", "passfile"].contains($0) } } }
    }

    @Test func filesAreEncryptedAndDecryptedInPlace() throws {
        let place = try Place()
        #expect(try Sfs.shell("chmod 640 '\(place.plain)'; touch -d 2001-02-03 '\(place.plain)'").code == 0)
        let encrypted = try place.run("encrypt", place.plain)
        #expect(encrypted.code == 0 && encrypted.text == "" && encrypted.errors == "", "\(encrypted)")
        #expect(try place.read(place.plain).starts(with: [0x89, 0x53, 0x46, 0x53]))
        let cat = try place.run("cat", place.plain)
        #expect(cat.code == 0 && cat.output == place.content)
        let again = try place.run("encrypt", place.plain)
        #expect(again.code == 16 && again.errors == "sfs encrypt: \(place.plain): is a secure file already\n", "\(again)")
        #expect(try place.run("decrypt", place.plain).code == 0)
        #expect(try place.read(place.plain) == place.content)
        #expect(try Sfs.shell("stat -c '%a %y' '\(place.plain)'").text.hasPrefix("640 2001-02-03"))
        #expect(try place.others == ["file"])
    }

    @Test func outputsAreNewFiles() throws {
        let place = try Place()
        let (secure, copy) = (place.plain + ".sfs", place.plain + ".copy")
        #expect(try place.run("encrypt", place.plain, "--output", secure).code == 0)
        #expect(try place.read(place.plain) == place.content)
        #expect(try place.run("encrypt", place.plain, "--output", secure).code == 17)
        #expect(try place.run("decrypt", secure, "--output", copy).code == 0)
        #expect(try place.read(copy) == place.content)
        #expect(try place.run("decrypt", secure, "--output", copy).code == 17)
        #expect(try place.others == ["file", "file.copy", "file.sfs"])
    }

    @Test func everyFailureHasItsCodeAndChangesNothing() throws {
        let place = try Place()
        let other = try TestVault()
        #expect(try place.run("cat", place.plain).code == 9, "plaintext")
        #expect(try place.run("decrypt", place.plain).code == 9)
        #expect(try place.run("encrypt", place.plain + ".none").code == 16)
        #expect(try place.run("encrypt", place.vault.path).code == 16, "a folder")
        #expect(try Sfs.run("encrypt", place.plain).code == 2, "whose key")
        #expect(try Sfs.run("encrypt", place.plain, "--vault", place.plain + ".none").code == 4)
        let wrong = try place.vault.folder.file("wrong", "wrong\n")
        #expect(try Sfs.run("encrypt", place.plain, "--vault", place.vault.path, "--passfile", wrong).code == 3)
        #expect(try place.read(place.plain) == place.content)
        #expect(try place.run("encrypt", place.plain).code == 0)
        let stored = try place.read(place.plain)
        #expect(try Sfs.run("cat", place.plain).code == 10, "its key is not in the keyring")
        #expect(try Sfs.run("decrypt", place.plain, "--passfile", place.vault.passfile).code == 2)
        #expect(try Sfs.run("decrypt", place.plain, "--vault", other.path, "--passfile", other.passfile).code == 9, "another vault's key")
        #expect(try place.run("cat", place.vault.path, "x").code == 2)
        var damaged = stored
        damaged[8192 + 10] ^= 1
        try FileDescriptor.open(RawPath(place.plain), [.writeOnly, .truncate]).writeStream(damaged)
        let cat = try place.run("cat", place.plain)
        #expect(cat.code == 9 && cat.output == Array(place.content[0..<4096]), "what lies before the damage is printed")
        #expect(try place.run("decrypt", place.plain).code == 9)
        #expect(try place.read(place.plain) == damaged)
        #expect(try place.others == ["file", "wrong"])
    }

    @Test(.enabled(if: LockTests.hasKeyring)) func theKeyringSavesThePassphrase() throws {
        let place = try Place()
        #expect(try Sfs.run("unlock", place.vault.path, "--passfile", place.vault.passfile, "--timeout", "5").code == 0)
        #expect(try Sfs.run("encrypt", place.plain, "--vault", place.vault.path).code == 0)
        #expect(try Sfs.run("cat", place.plain).output == place.content)
        #expect(try Sfs.run("lock", place.vault.path).code == 0)
        let refused = try Sfs.run("decrypt", place.plain)
        #expect(refused.code == 10 && refused.errors.contains("--vault"), "\(refused)")
        #expect(try Sfs.run("unlock", place.vault.path, "--passfile", place.vault.passfile).code == 0)
        #expect(try Sfs.run("decrypt", place.plain).code == 0)
        #expect(try place.read(place.plain) == place.content)
        #expect(try Sfs.run("lock", place.vault.path).code == 0)
    }

    @Test func namesOfAnyBytesWillDo() throws {
        let place = try Place()
        let name = RawPath(Array("\(place.vault.folder.path)/b".utf8) + [0xFF, 0x0A])
        try FileDescriptor.open(name, [.writeOnly, .create]).writeStream([1, 2, 3])
        let key = [RawPath("--vault"), RawPath(place.vault.path), RawPath("--passfile"), RawPath(place.vault.passfile)]
        #expect(try Sfs.run([RawPath("encrypt"), name] + key).code == 0)
        #expect(try Sfs.run([RawPath("cat"), name] + key).output == [1, 2, 3])
        #expect(try Sfs.run([RawPath("decrypt"), name] + key).code == 0)
    }
}
