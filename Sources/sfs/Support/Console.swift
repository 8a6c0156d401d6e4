import CLinux
import Glibc
import SecureFileCore

/// Standard output, buffered: ``flush()`` at the end, or what was written is not all there and nobody knows.
final class Output {
    private let descriptor: FileDescriptor
    private var buffer: [UInt8] = []
    let isTerminal: Bool

    /// - Parameter number: 1 for standard output.
    init(_ number: Int32 = 1) {
        descriptor = Console.descriptor(number)
        isTerminal = isatty(number) == 1
    }

    func write(_ bytes: some Sequence<UInt8>) throws(Failure) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 65536 { try flush() }
    }

    func line(_ text: String = "") throws(Failure) { try write(Array(text.utf8) + [10]) }

    /// Plaintext names as they are for programs, and escaped for a terminal.
    func name(_ name: [UInt8]) throws(Failure) {
        if isTerminal { try write(Escaped(name).description.utf8) } else { try write(name) }
    }

    /// Large content, past the buffer.
    func write(_ content: PageBuffer, _ range: Range<Int>) throws(Failure) {
        try flush()
        try explain { () throws(Errno) in try descriptor.writeStream(content, range) }
    }

    func flush() throws(Failure) {
        let bytes = buffer
        buffer.removeAll(keepingCapacity: true)
        try explain { () throws(Errno) in try descriptor.writeStream(bytes) }
    }

    private func explain(_ body: () throws(Errno) -> Void) throws(Failure) {
        do throws(Errno) { try body() } catch {
            throw Failure(ExitCode(error, about: .entry), "standard output cannot be written: \(error)")
        }
    }
}

/// Standard error: messages, prompts, progress.
enum Console {
    /// A standard descriptor, never closed by us.
    static func descriptor(_ number: Int32) -> FileDescriptor {
        switch number {
        case 0: input
        case 1: output
        default: error
        }
    }

    private static let input = FileDescriptor(adopting: 0)
    private static let output = FileDescriptor(adopting: 1)
    private static let error = FileDescriptor(adopting: 2)

    static var errorIsTerminal: Bool { isatty(2) == 1 }
    static var inputIsTerminal: Bool { isatty(0) == 1 }

    /// Nothing can be done where this fails: there is nowhere to say so.
    static func print(_ text: String, terminator: String = "\n") { try? error.writeStream(Array((text + terminator).utf8)) }

    /// `sfs COMMAND: PATH: MESSAGE`.
    static func complain(_ command: String, _ path: RawPath?, _ message: String) {
        var text = command.isEmpty ? "sfs: " : "sfs \(command): "
        if let path { text += "\(Escaped(path.bytes)): " }
        print(text + message)
    }
}

/// A line of progress on a terminal that is rewritten; nothing anywhere else.
final class ProgressLine {
    let isShown = Console.errorIsTerminal
    private var lastShown = ContinuousClock.now - .seconds(1)
    private var isOnScreen = false

    /// Shows `text`, at most ten times a second.
    func update(_ text: () -> String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        guard now - lastShown >= .milliseconds(100) else { return }
        lastShown = now
        isOnScreen = true
        Console.print("\r\u{1b}[K" + text(), terminator: "")
    }

    /// Lets the next text be shown at once: it says something new.
    func makeDue() { lastShown = ContinuousClock.now - .milliseconds(100) }

    /// Takes the line away, before anything else is printed.
    func clear() {
        guard isOnScreen else { return }
        isOnScreen = false
        Console.print("\r\u{1b}[K", terminator: "")
    }
}
