import SecureFileCore
import Testing

@testable import sfs

/// One after the other: getopt_long keeps its state in global variables.
@Suite(.serialized) struct ArgumentsTests {
    static let options: [Option] = [.passfile, .mountOptions, .foreground, .json, .long, .recursive]

    func parse(_ words: [UInt8]...) throws(Failure) -> Arguments { try ArgumentVector([Array("cmd".utf8)] + words).parse(Self.options) }

    func parse(_ words: String) throws(Failure) -> Arguments {
        try ArgumentVector([Array("cmd".utf8)] + words.split(separator: " ").map { Array($0.utf8) }).parse(Self.options)
    }

    @Test(arguments: ["a b -f --passfile p", "-f a --passfile p b", "--passfile=p -f a b", "a -f --passfile=p -- b", "-f --passfile p -- a b"])
    func optionsStandBeforeBetweenAndBehindOperands(_ words: String) throws {
        let arguments = try parse(words)
        #expect(arguments.operands == [RawPath("a"), RawPath("b")])
        #expect(arguments.has(.foreground))
        #expect(arguments.value(.passfile) == Array("p".utf8))
        #expect(!arguments.has(.json))
    }

    @Test func twoHyphensEndOptions() throws {
        let arguments = try parse("-f -- -v --passfile --")
        #expect(arguments.operands.map(\.description) == ["-v", "--passfile", "--"])
        #expect(arguments.has(.foreground) && !arguments.has(.passfile))
    }

    @Test func aHyphenAloneIsAnOperand() throws { #expect(try parse("a -").operands.map(\.description) == ["a", "-"]) }

    @Test func lettersMayStandTogetherAndTakeArguments() throws {
        let arguments = try parse("-lR a -oro,nodev -o x")
        #expect(arguments.has(.long) && arguments.has(.recursive))
        #expect(arguments.values(.mountOptions) == [Array("ro,nodev".utf8), Array("x".utf8)])
        #expect(arguments.value(.mountOptions) == Array("x".utf8))
    }

    @Test func bytesThatAreNoTextPass() throws {
        let name: [UInt8] = [0x61, 0xff, 0x20, 0xc3]
        let arguments = try parse(name, Array("--passfile=".utf8) + name)
        #expect(arguments.operands == [RawPath(name)])
        #expect(arguments.value(.passfile) == name)
    }

    @Test(arguments: [
        ("--pass p", "unknown option --pass; the full name is --passfile"), ("--nonsense", "unknown option --nonsense"),
        ("--nonsense=3", "unknown option --nonsense"), ("-x", "unknown option -x"), ("-fx", "unknown option -x"),
        ("--passfile", "option --passfile needs an argument"), ("a -o", "option -o needs an argument"),
        ("--json=1", "option --json takes no argument"),
    ])
    func whatIsWrongIsSaid(_ words: String, _ message: String) {
        let error = #expect(throws: Failure.self) { _ = try parse(words) }
        #expect(error?.code == .usage)
        #expect(error?.message == message)
    }

    @Test func emptyOperandsAndWrongNumbersAreRefused() throws {
        let names = ["VAULT", "[PATH]"]
        #expect(throws: Failure.self) { try parse("").expect(names) }
        try parse("a").expect(names)
        try parse("a b").expect(names)
        #expect(throws: Failure.self) { try parse("a b c").expect(names) }
        #expect(throws: Failure.self) { try parse([]).expect(names) }
    }

    @Test func numbersHaveLimits() throws {
        func number(_ words: String) throws -> Int? {
            try ArgumentVector([Array("cmd".utf8)] + words.split(separator: " ").map { Array($0.utf8) }).parse([.kdfPasses])
                .number(.kdfPasses, in: 1...1024)
        }
        #expect(try number("--kdf-passes 1024") == 1024)
        #expect(try number("") == nil)
        for wrong in ["0", "1025", "x", "1x", "-1", "99999999999999999999"] {
            #expect(throws: Failure.self, "\(wrong)") { _ = try number("--kdf-passes \(wrong)") }
        }
    }
}
