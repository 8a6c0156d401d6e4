import CLinux
import SecureFileCore

/// The words of a command line, as bytes. The only place where C's argument vector is touched.
@safe
struct ArgumentVector {
    private let words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    let count: Int

    /// The arguments of this process.
    init() {
        unsafe words = CommandLine.unsafeArgv
        count = Int(CommandLine.argc)
    }

    /// Others, for tests; the memory is never given back.
    init(_ arguments: [[UInt8]]) {
        unsafe words = UnsafeMutablePointer.allocate(capacity: arguments.count + 1)
        for (i, argument) in arguments.enumerated() {
            let word = UnsafeMutablePointer<CChar>.allocate(capacity: argument.count + 1)
            for (j, byte) in argument.enumerated() { unsafe word[j] = CChar(bitPattern: byte) }
            unsafe word[argument.count] = 0
            unsafe words[i] = unsafe word
        }
        unsafe words[arguments.count] = nil
        count = arguments.count
    }

    private init(words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, count: Int) {
        unsafe self.words = words
        self.count = count
    }

    func dropFirst() -> ArgumentVector { unsafe ArgumentVector(words: words + 1, count: count - 1) }

    subscript(i: Int) -> [UInt8] {
        precondition(i >= 0 && i < count)
        return unsafe words[i].map { unsafe Self.bytes($0) } ?? []
    }

    private static func bytes(_ word: UnsafePointer<CChar>) -> [UInt8] {
        var bytes: [UInt8] = []
        var next = unsafe word
        while unsafe next.pointee != 0 {
            unsafe bytes.append(UInt8(bitPattern: next.pointee))
            unsafe next += 1
        }
        return bytes
    }

    /// Sorts the words behind the first, which is the command, into options and operands. Options may stand before or after operands; `--`
    /// ends them.
    ///
    /// - Throws: ``Failure/usage(_:)`` for an option that `allowed` does not have, is abbreviated, or lacks its argument.
    func parse(_ allowed: [Option]) throws(Failure) -> Arguments {
        // A hyphen: operands come in their order, whatever POSIXLY_CORRECT says. A colon: a missing argument is told apart.
        let shorts = "-:" + allowed.compactMap { option in option.letter.map { "\($0)" + (option.argument == nil ? "" : ":") } }.joined()
        var longs = unsafe allowed.map { unsafe Self.entry($0) }
        unsafe longs.append(option())
        var result = Arguments()
        var next: Int32 = 0
        while true {
            let word = Int(max(next, 1))
            var value: UnsafePointer<CChar>?
            var wrong: Int32 = 0
            let code = unsafe CLinux_next_option(Int32(count), words, shorts, longs, &next, &value, &wrong)
            if code == -1 { break }
            let argument = unsafe value.map { unsafe Self.bytes($0) }
            if code == 1 {
                result.operands.append(RawPath(argument ?? []))
            } else if let option = allowed.first(where: { $0.rawValue == code || $0.letter?.asciiValue.map(Int32.init) == code }) {
                if option.rawValue == code { try Self.refuseAbbreviation(self[word], option) }
                result.add(option, argument)
            } else {
                throw Self.refusal(code, word: self[word], letter: wrong, allowed)
            }
        }
        for i in Int(next)..<max(count, Int(next)) { result.operands.append(RawPath(self[i])) }
        return result
    }

    private static func entry(_ option: Option) -> CLinux.option {
        let name = unsafe UnsafeRawPointer(option.name.utf8Start).assumingMemoryBound(to: CChar.self)
        return unsafe CLinux.option(name: name, has_arg: option.argument == nil ? 0 : 1, flag: nil, val: option.rawValue)
    }

    /// Abbreviations would change their meaning when options are added.
    private static func refuseAbbreviation(_ word: [UInt8], _ option: Option) throws(Failure) {
        let given = word.dropFirst(2).prefix { $0 != UInt8(ascii: "=") }
        if !given.elementsEqual(option.name.description.utf8) {
            throw .usage("unknown option --\(Escaped(given)); the full name is --\(option.name)")
        }
    }

    private static func refusal(_ code: Int32, word: [UInt8], letter: Int32, _ allowed: [Option]) -> Failure {
        let isLong = word.starts(with: [45, 45])
        let given =
            isLong
            ? "--\(Escaped(word.dropFirst(2).prefix { $0 != UInt8(ascii: "=") }))" : "-\(Escaped([UInt8(truncatingIfNeeded: letter)]))"
        if code == Int32(UInt8(ascii: ":")) { return .usage("option \(given) needs an argument") }
        if letter >= 1000 { return .usage("option \(given) takes no argument") }
        return .usage("unknown option \(given)")
    }
}

/// A command line taken apart.
struct Arguments {
    var operands: [RawPath] = []
    private var options: [(option: Option, argument: [UInt8]?)] = []

    mutating func add(_ option: Option, _ argument: [UInt8]?) { options.append((option, argument)) }

    func has(_ option: Option) -> Bool { options.contains { $0.option == option } }

    /// The argument of an option; where it was given more than once, the last.
    func value(_ option: Option) -> [UInt8]? { options.last { $0.option == option }?.argument }

    /// The arguments of all its occurrences.
    func values(_ option: Option) -> [[UInt8]] { options.filter { $0.option == option }.compactMap(\.argument) }

    /// - Throws: ``Failure/usage(_:)`` where more than one of `alternatives` was given.
    func requireAtMostOne(of alternatives: [Option]) throws(Failure) {
        let given = alternatives.filter(has)
        if given.count > 1 { throw .usage("--\(given[0].name) and --\(given[1].name) exclude each other") }
    }

    /// The value of an option as a whole number.
    func number(_ option: Option, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let bytes = value(option) else { return nil }
        guard let number = Int(String(decoding: bytes, as: UTF8.self)), range.contains(number) else {
            throw .usage("--\(option.name) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The operands, which must be as many as `names`; those in brackets may be left out at the end.
    func expect(_ names: [String]) throws(Failure) {
        if operands.count < names.count, let missing = names[operands.count...].first(where: { !$0.hasPrefix("[") }) {
            throw .usage("\(missing) is missing")
        }
        if operands.count > names.count { throw .usage("too many operands: \(Escaped(operands[names.count].bytes))") }
        for (i, operand) in operands.enumerated() where operand.isEmpty { throw .usage("\(names[i]) is empty") }
    }
}
