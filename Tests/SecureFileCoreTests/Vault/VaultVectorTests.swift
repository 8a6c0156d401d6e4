import Foundation
import Testing

@testable import SecureFileCore

/// The vectors made by another program from FORMAT.md alone, each through the code a mount uses.
@Suite struct VaultVectorTests {
    @Test func thereAreVectors() {
        for kind in ["name", "symlink", "xattr", "directory", "session", "config", "recovery", "keys"] {
            #expect(!Vector.all(kind).isEmpty, "no vector of kind \(kind): run scripts/make_vectors.py")
        }
    }

    /// A folder as a vault's root, with the keys of `vector`.
    private func root(_ vector: Vector, _ folder: VaultFolder, _ id: DirectoryID) throws -> VaultDirectory {
        let descriptor = try folder.descriptor()
        return try VaultDirectory(descriptor, id, VaultCodec(vector.keys(), root: descriptor, isWritable: true))
    }

    @Test(arguments: Vector.all("keys"))
    private func keys(_ vector: Vector) throws {
        let keys = try vector.keys()
        #expect(LittleEndian.bytes(keys.keyID) == vector.hex("key-id"))
        for (field, key) in [
            "content-key": keys.contentKey, "name-key": keys.nameKey, "symlink-key": keys.symlinkKey, "xattr-key": keys.xattrKey,
            "directory-key": keys.directoryKey, "config-key": keys.configKey, "session-key": keys.sessionKey,
        ] { #expect(key.exposedBytes() == vector.hex(field), "\(field)") }
    }

    @Test(arguments: Vector.all("name"))
    private func name(_ vector: Vector) throws {
        let folder = try VaultFolder()
        let directory = try root(vector, folder, DirectoryID(bytes: vector.hex("directory-id")))
        let stored = try #require(vector.fields["stored-name"])
        if stored.contains("/") {  // not even a file name
            #expect(try !vector.isOK && directory.plaintextName(of: Array(stored.utf8)) == nil)
            return
        }
        try folder.write(stored, [])
        let companion = vector.bytes.flatMap { $0.isEmpty ? nil : $0 }
        if let companion { try folder.write(stored + ".name", companion) }
        #expect(try directory.names() == (vector.isOK ? [vector.hex("name")] : []))
        if vector.isOK {
            #expect(try directory.storedName(vector.hex("name")) == StoredName(entry: RawPath(stored), companion: companion))
        }
    }

    @Test(arguments: Vector.all("symlink"))
    private func symlink(_ vector: Vector) throws {
        let folder = try VaultFolder()
        let directory = try root(vector, folder, DirectoryID(bytes: Array(0..<16)))
        let target = try #require(vector.fields["stored-target"])
        let parts = target.split(separator: ".")
        if let payload = vector.bytes, parts.count == 4 {
            try FileManager.default.createDirectory(atPath: folder.path + "/sfs.links", withIntermediateDirectories: true)
            try folder.write("sfs.links/" + parts[2], payload)
        }
        let name = try directory.stored("link")
        try directory.descriptor.makeSymlink(name.entry, target: RawPath(target))
        if vector.isOK {
            let plain = try directory.symlinkTarget(name)
            #expect(plain.count == Int(vector.fields["size"] ?? ""))
            #expect(try Hashing.sha256(plain) == vector.hex("payload-sha256"))
            #expect(try directory.plaintextSize(directory.status(name), name) == Int64(plain.count))
        } else {
            #expect(failureCode { _ = try directory.symlinkTarget(name) } == .damaged)
        }
    }

    @Test(arguments: Vector.all("xattr"))
    private func attribute(_ vector: Vector) throws {
        let folder = try VaultFolder()
        let directory = try root(vector, folder, DirectoryID(bytes: Array(0..<16)))
        let attributes = VaultAttributes(codec: directory.codec)
        let stored = RawPath(try #require(vector.fields["stored-name"]))
        let inTrusted = stored.bytes.starts(with: "trusted.".utf8)
        let file: FileDescriptor
        if inTrusted {
            try FileManager.default.createSymbolicLink(atPath: folder.path + "/f", withDestinationPath: "nowhere")
            file = try directory.descriptor.open(RawPath("f"), [.pathOnly, .noFollow])
            do { try file.setPathExtendedAttribute(stored, vector.bytes ?? [], .any) } catch { return }  // only root may
        } else {
            try folder.write("f", [])
            file = try directory.descriptor.open(RawPath("f"), [.readWrite])
            try file.setExtendedAttribute(stored, vector.bytes ?? [])
        }
        let names = try attributes.list(file, inTrusted: inTrusted)
        if vector.isOK {
            #expect(names == [vector.hex("name")])
            let value = try attributes.get(file, name: vector.hex("name"), inTrusted: inTrusted)
            #expect(value.count == Int(vector.fields["size"] ?? ""))
            #expect(try Hashing.sha256(value) == vector.hex("payload-sha256"))
        } else {
            for name in names { #expect(failureCode { _ = try attributes.get(file, name: name, inTrusted: inTrusted) } == .damaged) }
        }
    }

    @Test(arguments: Vector.all("directory"))
    private func directory(_ vector: Vector) throws {
        let folder = try VaultFolder()
        let codec = try VaultCodec(vector.keys(), root: folder.descriptor(), isWritable: true)
        if let bytes = vector.bytes { try folder.write("sfs.dir", bytes) }
        if vector.fields["attribute"] != nil {
            try codec.root.setExtendedAttribute(ReservedNames.directoryAttribute, vector.hex("attribute"))
        }
        if vector.isOK {
            #expect(try DirectoryIdentity.read(codec.root, codec, path: "d").bytes == vector.hex("directory-id"))
            #expect(try folder.read("sfs.dir").prefix(16) == vector.hex("directory-id")[...], "the file is restored")
        } else {
            #expect(failureCode { _ = try DirectoryIdentity.read(codec.root, codec, path: "d") } == .damaged)
        }
    }

    @Test(arguments: Vector.all("session"))
    private func session(_ vector: Vector) throws {
        let folder = try VaultFolder()
        try folder.write("sfs.session", vector.bytes ?? [])
        let descriptor = try folder.descriptor()
        let keys = try vector.keys()
        guard vector.isOK else {
            #expect(failureCode { _ = try VaultSession.read(descriptor, keys, path: "s") } == .damaged)
            return
        }
        func id(_ text: String) -> SessionID {
            let bytes = Hexadecimal.decode(text, count: 16) ?? []
            return SessionID(low: LittleEndian.load(bytes, at: 0, count: 8), high: LittleEndian.load(bytes, at: 8, count: 8))
        }
        let record = try VaultSession.read(descriptor, keys, path: "s")
        #expect(record.open == id(vector.fields["open-session"] ?? ""))
        #expect(record.dead == (vector.fields["dead-sessions"] ?? "").split(separator: " ").map { id(String($0)) })
        try VaultSession.write(record, descriptor, keys, path: "s")
        #expect(try folder.read("sfs.session") == vector.bytes)
    }

    @Test(arguments: Vector.all("config"))
    private func configuration(_ vector: Vector) throws {
        let folder = try VaultFolder()
        try folder.write("sfs.json", vector.bytes ?? [])
        let secret = vector.hex("secret")
        let credential: Credential =
            switch vector.fields["credential"] {
            case "recovery": .recoveryKey(RecoveryKey(secret: SecretKey(copying: secret)))
            case "keyfile": .keyFile(secret)
            default: .passphrase(secret)
            }
        func unlock() throws -> [UInt8] {
            try Vault.readConfiguration(at: folder.raw).unlock(credential, path: "c").keys.volumeKey.exposedBytes()
        }
        if vector.isOK {
            #expect(try unlock() == vector.hex("key"))
        } else {
            let codes: [String: SecureFileError.Code] = [
                "badMagic": .notAVault, "unsupportedVersion": .unsupportedVersion, "wrongPassphrase": .wrongKey, "damaged": .damaged,
                "malformed": .damaged, "tampered": .tampered,
            ]
            let expected = try #require(codes[vector.fields["expect"] ?? ""])
            #expect(failureCode { _ = try unlock() } == expected)
        }
    }

    @Test(arguments: Vector.all("recovery"))
    private func recovery(_ vector: Vector) throws {
        let text = String(decoding: vector.hex("typed"), as: UTF8.self)
        if vector.isOK {
            #expect(try RecoveryKey(text).secret.exposedBytes() == vector.hex("recovery-bytes"))
        } else {
            #expect(failureCode { _ = try RecoveryKey(text) } == .invalidArgument)
        }
    }
}
