import Testing

@testable import SecureFileCore

@Suite struct StrictJSONTests {
    private func parse(_ text: String) -> StrictJSON? { StrictJSON(parsing: Array(text.utf8)) }

    @Test func valuesAreRead() {
        #expect(
            parse(" { \"b\" : [ 1 , -2 ] , \"a\" : \"x\" } \n") == .object(["a": .string("x"), "b": .array([.integer(1), .integer(-2)])]))
        #expect(parse("{\"b\":[1,-2],\"a\":\"x\"}")?.canonical == Array("{\"a\":\"x\",\"b\":[1,-2]}".utf8))
        #expect(parse("[]") == .array([]) && parse("{}") == .object([:]) && parse("0") == .integer(0))
        #expect(parse("[true,false,null,1.5,1e9,\"\\u0041\"]") == .array(Array(repeating: .foreign, count: 6)))
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1 \"b\":2}",
        "{\"a\":1,\"a\":2}",
        "\"", "\"a", "\"a\\", "01", "-", "-0", "+1", "9223372036854775808", "1 2", "nul", "tru", "\"\u{1}\"", "\"é\"", "é",
        "{\"\\u0061\":1}",
        "[[[[[[[[[[1]]]]]]]]]]",
    ])
    func otherTextsAreRefused(_ text: String) { #expect(parse(text) == nil) }

    @Test func depthAndSizeAreBounded() {
        #expect(parse(String(repeating: "[", count: 65000)) == nil)
        #expect(parse("\"" + String(repeating: "a", count: 65534) + "\"") != nil)
        #expect(parse("\"" + String(repeating: "a", count: 65535) + "\"") == nil)
    }

    @Test func anyTextIsReadWithoutATrap() {
        let seed = VaultTestRandom.seed(19)
        var random = VaultTestRandom(seed: seed)
        let alphabet = Array("{}[]\",:\\ 01-.eatrue".utf8)
        for _ in 0..<20000 {
            let text = (0..<random.below(24)).map { _ in alphabet[random.below(alphabet.count)] }
            if let value = StrictJSON(parsing: text) {
                #expect(StrictJSON(parsing: value.canonical)?.canonical == value.canonical, "seed \(seed): \(text)")
            }
        }
    }
}
