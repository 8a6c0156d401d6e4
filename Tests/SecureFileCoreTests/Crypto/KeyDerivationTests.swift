import Testing

@testable import SecureFileCore

@Suite struct KeyDerivationTests {
    private func hex(_ text: String) -> [UInt8] { Hexadecimal.decode(text, count: text.utf8.count / 2) ?? [] }

    /// RFC 9106 section 5.3.
    @Test func argon2idVectorOfTheRFC() throws {
        let key = try Argon2.hash(
            [UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 2, count: 16), Argon2Parameters(memoryKiB: 32, passes: 3, lanes: 4),
            secret: [UInt8](repeating: 3, count: 8), associatedData: [UInt8](repeating: 4, count: 12))
        #expect(key.exposedBytes() == hex("0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"))
    }

    @Test(arguments: [
        Argon2Parameters(memoryKiB: 7, passes: 1, lanes: 1), Argon2Parameters(memoryKiB: 15, passes: 1, lanes: 2),
        Argon2Parameters(memoryKiB: 4_194_305, passes: 1, lanes: 1), Argon2Parameters(memoryKiB: 8, passes: 0, lanes: 1),
        Argon2Parameters(memoryKiB: 8, passes: 1025, lanes: 1), Argon2Parameters(memoryKiB: 1024, passes: 1, lanes: 17),
        Argon2Parameters(memoryKiB: 8, passes: 1, lanes: 0), Argon2Parameters(memoryKiB: .max, passes: 1, lanes: 1),
    ])
    func parametersOutsideTheLimitsAreRefused(_ parameters: Argon2Parameters) {
        #expect(!parameters.isAllowed)
        #expect(throws: Argon2.Failure.limits) { try Argon2.hash([1], salt: [UInt8](repeating: 2, count: 16), parameters) }
    }

    /// RFC 5869 appendices A.1 and A.3.
    @Test func hkdfVectorsOfTheRFC() throws {
        let first = try Hashing.hkdf(
            [UInt8](repeating: 0x0b, count: 22), salt: hex("000102030405060708090a0b0c"), info: hex("f0f1f2f3f4f5f6f7f8f9"), count: 42)
        #expect(first.exposedBytes() == hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
        let third = try Hashing.hkdf([UInt8](repeating: 0x0b, count: 22), salt: [], info: [], count: 42)
        #expect(third.exposedBytes() == hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
    }

    @Test func wrappedKeyOpensOnlyUnchanged() throws {
        let kek = SecretKey(copying: Array(0..<32))
        let key = SecretKey(copying: Array(100..<132))
        let nonce = [UInt8](0..<12)
        let wrapped = try KeyWrap.wrap(key, under: kek, nonce: nonce, associatedData: [1, 2, 3])
        #expect(wrapped.count == 48)
        #expect(try KeyWrap.unwrap(wrapped, under: kek, nonce: nonce, associatedData: [1, 2, 3]).exposedBytes() == key.exposedBytes())
        for i in wrapped.indices {
            var changed = wrapped
            changed[i] ^= 1
            #expect(throws: CryptoFailure.authentication) {
                try KeyWrap.unwrap(changed, under: kek, nonce: nonce, associatedData: [1, 2, 3])
            }
        }
        #expect(throws: CryptoFailure.authentication) { try KeyWrap.unwrap(wrapped, under: kek, nonce: nonce, associatedData: [1, 2]) }
        #expect(throws: CryptoFailure.authentication) { try KeyWrap.unwrap(wrapped, under: key, nonce: nonce, associatedData: [1, 2, 3]) }
    }
}
