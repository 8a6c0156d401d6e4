import Testing

@testable import SecureFileCore

private func hex(_ text: String) -> [UInt8] {
    Hexadecimal.decode(text.filter { !$0.isWhitespace }, count: text.filter { !$0.isWhitespace }.count / 2) ?? []
}

@Suite struct SIVCipherTests {
    /// RFC 5297 appendix A.1.
    @Test func deterministicVectorOfTheRFC() throws {
        let cipher = try SIVCipher(key: SecretKey(copying: hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")))
        let ad = hex("101112131415161718191a1b1c1d1e1f2021222324252627")
        let plaintext = hex("112233445566778899aabbccddee")
        let expected = hex("85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c")
        #expect(try cipher.seal(plaintext, associatedData: [ad]) == expected)
        #expect(try cipher.open(expected, associatedData: [ad]) == plaintext)
    }

    /// RFC 5297 appendix A.2: three components.
    @Test func nonceVectorOfTheRFC() throws {
        let cipher = try SIVCipher(key: SecretKey(copying: hex("7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f")))
        let ads = [
            hex("00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100"), hex("102030405060708090a0"),
            hex("09f911029d74e35bd84156c5635688c0"),
        ]
        let plaintext = hex("7468697320697320736f6d6520706c61696e7465787420746f20656e6372797074207573696e67205349562d414553")
        let expected = hex(
            "7bdb6e3b432667eb06f4d14bff2fbd0fcb900f2fddbe404326601965c889bf17dba77ceb094fa663b7a3f748ba8af829ea64ad544a272e9c485b62a3fd5c0d"
        )
        #expect(try cipher.seal(plaintext, associatedData: ads) == expected)
        #expect(try cipher.open(expected, associatedData: ads) == plaintext)
    }

    /// AES-256-SIV of Python's cryptography 48.0.0 (AESSIV), key 00…3f, associated data 00…0f, plaintext 00, 01, ….
    @Test func vectorsOfAnotherImplementation() throws {
        let cipher = try SIVCipher(key: SecretKey(copying: Array(0..<64)))
        let expected = [
            1: "d1bf32bed9518f5e72d32933f4f829af98", 15: "e417006a3cc9f9077b9959bf5bd49b1a16c764055f0cfa5c7c390bfbd0e164",
            16: "837a725a5b6dbcd2b9d6f9d6b905a232c79e158d0e376d12be741402bb797728",
            17: "9c84ae4547360cff8b674df7a3cd11720a9cce1309ab1fea18b40a84dee6af2f2b",
        ]
        for (count, sealed) in expected {
            #expect(try cipher.seal(Array(0..<UInt8(count)), associatedData: [Array(0..<16)]) == hex(sealed))
        }
    }

    /// The hash of 1,000 messages of the same implementation: any length, none to three components, the empty message too.
    @Test func accumulatedVectorOfAnotherImplementation() throws {
        var random = VaultTestRandom(seed: 1)
        var all: [UInt8] = []
        for _ in 0..<1000 {
            let key = random.bytes(64)
            var ads: [[UInt8]] = []
            for _ in 0..<random.below(4) {
                let count = random.below(40)
                ads.append(random.bytes(count))
            }
            let count = random.below(272)
            let plaintext = random.bytes(count)
            let cipher = try SIVCipher(key: SecretKey(copying: key))
            let sealed = try cipher.seal(plaintext, associatedData: ads)
            #expect(try cipher.open(sealed, associatedData: ads) == plaintext)
            all += sealed
        }
        #expect(try Hashing.sha256(all) == hex("9630e066be62b28aa18c4a8ae97ea03d28a683bf03b4ef362c0231ad4eb235d0"))
    }

    @Test func everyFlippedBitAndOtherDataAreRefused() throws {
        let cipher = try SIVCipher(key: SecretKey(copying: Array(0..<64)))
        let prefix = try cipher.prefix([[1]])
        let sealed = try cipher.seal(Array("a name".utf8), prefix)
        for bit in 0..<sealed.count * 8 {
            var flipped = sealed
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: CryptoFailure.authentication) { try cipher.open(flipped, prefix) }
        }
        #expect(throws: CryptoFailure.authentication) { try cipher.open(sealed, associatedData: [[2]]) }
        #expect(throws: CryptoFailure.authentication) { try cipher.open(sealed, associatedData: [[1], []]) }
        #expect(throws: CryptoFailure.authentication) { try cipher.open(Array(sealed.prefix(15)), prefix) }
    }

    @Test func manyThreadsShareOneCipher() async throws {
        let cipher = try SIVCipher(key: SecretKey(copying: Array(0..<64)))
        let prefix = try cipher.prefix([Array(0..<16)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask { () throws in
                    for i in 0..<500 {
                        let name = Array("name \(task) \(i)".utf8)
                        let opened = try cipher.open(cipher.seal(name, prefix), prefix)
                        #expect(opened == name)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
