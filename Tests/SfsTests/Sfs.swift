import Glibc
import SecureFileCore
import Testing

/// The built command, run as a process of its own.
enum Sfs {
    /// What came of a run.
    struct Outcome: CustomStringConvertible {
        /// Exit code; 128 and the signal's number where one ended it; -1 where it did not end in time and was killed.
        var code: Int32
        var output: [UInt8]
        var errors: String
        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }
        var description: String { "exit code \(code)\n--- output\n\(text)--- errors\n\(errors)" }
    }

    /// `SFS_BINARY`, or the one beside the test bundle.
    static let binary: RawPath = {
        if let given = unsafe getenv("SFS_BINARY") { return RawPath(unsafe String(cString: given)) }
        let folder = RawPath("/proc/self/maps")
        let maps = (try? FileDescriptor.open(folder, .readOnly).readStream(limit: 16 << 20)) ?? []
        for line in maps.split(separator: 10) where line.suffix(5).elementsEqual("xctest".utf8.suffix(5)) {
            let path = line.drop { $0 != UInt8(ascii: "/") }
            return RawPath(path.reversed().drop { $0 != UInt8(ascii: "/") }.reversed() + Array("sfs".utf8))
        }
        return RawPath("sfs")
    }()

    /// Runs `sfs` with `arguments`.
    ///
    /// - Parameters:
    ///   - input: What it reads on standard input; nothing there, at once at its end, where nil.
    ///   - environment: Variables to set besides those of the test.
    static func run(
        _ arguments: [RawPath], input: [UInt8]? = nil, environment: [String] = [], seconds: Int = 120
    ) throws -> Outcome {
        try run(program: binary, arguments, input: input, environment: environment, seconds: seconds)
    }

    static func run(_ arguments: String..., input: String? = nil, environment: [String] = []) throws -> Outcome {
        try run(arguments.map { RawPath($0) }, input: input.map { Array($0.utf8) }, environment: environment)
    }

    /// Any program; `$SFS` is the command in a shell's script.
    static func run(
        program: RawPath, _ arguments: [RawPath], input: [UInt8]? = nil, environment: [String] = [], seconds: Int = 120
    ) throws -> Outcome {
        let place = try TemporaryFolder()
        let inputPath = input == nil ? RawPath("/dev/null") : place.path.appending("in")
        if let input { try FileDescriptor.open(inputPath, [.writeOnly, .create], permissions: 0o600).writeStream(input) }
        let streams = [
            try FileDescriptor.open(inputPath, .readOnly),
            try FileDescriptor.open(place.path.appending("out"), [.readWrite, .create]),
            try FileDescriptor.open(place.path.appending("err"), [.readWrite, .create]),
        ]
        let pid = try spawn(program, [program] + arguments, environment + ["SFS=\(binary)"], streams)
        let code = wait(for: pid, seconds)
        return Outcome(
            code: code, output: try streams[1].readAll(limit: Int(streams[1].status().size)),
            errors: String(decoding: try streams[2].readAll(limit: Int(streams[2].status().size)), as: UTF8.self))
    }

    static func shell(_ script: String, environment: [String] = []) throws -> Outcome {
        try run(program: RawPath("/bin/sh"), [RawPath("-c"), RawPath(script)], environment: environment)
    }

    /// Starts a program and does not wait for it.
    static func spawn(_ program: RawPath, _ words: [RawPath], _ environment: [String], _ streams: [FileDescriptor]) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream.rawValue, Int32(number))
        }
        // Threads of the test block signals; a program starts with none blocked.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let inherited = inheritedEnvironment()
        var pid = pid_t()
        let result = unsafe withCStrings(words) { argv in
            unsafe withCStrings(inherited + environment.map { RawPath($0) }) { envp in
                unsafe program.withCString { unsafe posix_spawn(&pid, $0, &actions, &attributes, argv, envp) }
            }
        }
        if result != 0 { throw Errno(rawValue: result) }
        return pid
    }

    private static func inheritedEnvironment() -> [RawPath] {
        var words: [RawPath] = []
        var next = unsafe environ
        while let word = unsafe next.pointee {
            unsafe words.append(RawPath(String(cString: word)))
            unsafe next += 1
        }
        return words.filter { !$0.description.hasPrefix("SFS=") }
    }

    private static func withCStrings<R>(_ words: [RawPath], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe words.map { word in unsafe word.withCString { unsafe strdup($0) } } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe copies.withUnsafeMutableBufferPointer { unsafe body(UnsafePointer($0.baseAddress!)) }
    }

    static func wait(for pid: pid_t, _ seconds: Int) -> Int32 {
        var status: Int32 = 0
        for _ in 0..<seconds * 200 {
            let ended = unsafe waitpid(pid, &status, WNOHANG)
            if ended == pid { return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f }
            usleep(5000)
        }
        kill(pid, SIGKILL)
        _ = unsafe waitpid(pid, &status, 0)
        return -1
    }
}

/// A private folder, removed when the last reference goes.
final class TemporaryFolder: Sendable {
    let path: RawPath

    init() throws {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var random = SystemRandomNumberGenerator()
        path = RawPath("\(base)/sfs-cli.\(String(random.next() as UInt64, radix: 36))")
        try FileDescriptor.open(RawPath("/"), [.pathOnly]).makeDirectory(path, permissions: 0o700)
    }

    deinit {
        // Never into a mount that a test has left: that is for scripts/test to find.
        let path = path
        _ = try? Sfs.run(program: RawPath("/bin/rm"), [RawPath("-rf"), RawPath("--one-file-system"), RawPath("--"), path], quietly: true)
    }

    func file(_ name: String, _ content: String, permissions: UInt32 = 0o600) throws -> String {
        try file(name, Array(content.utf8), permissions: permissions)
    }

    func file(_ name: String, _ content: [UInt8], permissions: UInt32 = 0o600) throws -> String {
        let file = path.appending(name)
        try FileDescriptor.open(file, [.writeOnly, .create, .truncate], permissions: permissions).writeStream(content)
        return file.description
    }

    func folder(_ name: String) throws -> String {
        let folder = path.appending(name)
        try FileDescriptor.open(RawPath("/"), [.pathOnly]).makeDirectory(folder, permissions: 0o755)
        return folder.description
    }
}

extension Sfs {
    /// Without a folder of its own: for a folder's end.
    fileprivate static func run(program: RawPath, _ arguments: [RawPath], quietly: Bool) throws -> Int32 {
        let null = try FileDescriptor.open(RawPath("/dev/null"), .readWrite)
        return wait(for: try spawn(program, [program] + arguments, [], [null, null, null]), 60)
    }
}
