import Foundation
import SecureFileCore
import Testing

@testable import sfs

/// `sfs store`.
struct StoreTests {
    @Test func valuesGoInAndOut() throws {
        let vault = try TestVault()
        let value = Data("dark\n".utf8)
        #expect(try vault.run("store", "ls").code == 2, "the action comes first")
        #expect(try run(vault, "put", "Settings", "theme", input: value).code == 0)
        #expect(try run(vault, "put", "Settings", "a/b", input: Data([0, 255])).code == 0)
        #expect(try run(vault, "put", "other:x", "k", input: Data()).code == 0)
        #expect(try run(vault, "get", "Settings", "theme").text == "dark\n")
        #expect(try run(vault, "get", "Settings", "a/b").output == [0, 255])
        #expect(try run(vault, "ls").text == "Settings\nother:x\n")
        #expect(try run(vault, "ls", "Settings").text == "a/b\ntheme\n")
        #expect(try run(vault, "ls", "Settings", "--json").text.hasPrefix("{\"key\":\"a/b\",\"size\":2,\"modified\":"))
        #expect(try run(vault, "rm", "Settings", "theme").code == 0)
        #expect(try run(vault, "rm", "Settings", "theme").code == 16)
        #expect(try run(vault, "rm", "Settings").code == 0)
        #expect(try run(vault, "ls").text == "other:x\n")
        #expect(try run(vault, "get", "Settings", "theme").code == 16)
        #expect(try run(vault, "get", "Settings").code == 2)
        #expect(try run(vault, "fly").code == 2)
    }

    private func run(_ vault: TestVault, _ action: String, _ rest: String..., input: Data = Data()) throws -> Sfs.Outcome {
        try Sfs.run((["store", action, vault.path] + rest + ["--passfile", vault.passfile]).map { RawPath($0) }, input: Array(input))
    }
}
