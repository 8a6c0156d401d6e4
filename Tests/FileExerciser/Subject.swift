import CLinux
import ExerciserCalls
import Glibc

/// Something that may not be.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The answer of a system call that may be interrupted; a failure names it.
@discardableResult func call<T: SignedInteger>(_ what: @autoclosure () -> String, allowed: [Int32] = [], _ body: () -> T) throws -> T? {
    while true {
        let answer = body()
        if answer >= 0 { return answer }
        let number = CLinux_errno()
        if number == EINTR { continue }
        if allowed.contains(number) { return nil }
        throw Failure("\(what()): \(errorName(number))")
    }
}

func errorName(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }

/// One way a file is open.
struct Handle {
    enum Way: CaseIterable { case plain, second, synchronous, append, direct, reading }

    let way: Way
    let descriptor: Int32

    static func flags(_ way: Way) -> Int32 {
        switch way {
        case .plain, .second: O_RDWR
        case .synchronous: O_RDWR | O_DSYNC
        case .append: O_RDWR | O_APPEND
        case .direct: O_RDWR | Exerciser_O_DIRECT
        case .reading: O_RDONLY
        }
    }
}

/// A window of the file in memory.
@safe struct Mapping {
    let start: UnsafeMutableRawPointer
    let offset: Int64
    let count: Int

    var range: Range<Int64> { offset..<offset + Int64(count) }
}

/// One file under test: its names, the ways it is open, its model.
final class Subject {
    let profile: Profile
    let number: Int
    var names: [String] = []
    var handles: [Handle] = []
    var mapping: Mapping?
    var model = Model()
    /// Set by hand, and nothing has changed the content since.
    var stamp: Int?
    var named = 0
    /// The time of the last change when it was let go, in nanoseconds: an unmount may not change it.
    var shown: Int?

    init(_ profile: Profile, number: Int) {
        self.profile = profile
        self.number = number
    }

    /// A path that opens it, also when it has no name any more.
    var path: String { names.first ?? "/proc/self/fd/\(handles.first?.descriptor ?? -1)" }

    func open(_ way: Handle.Way, extra: Int32 = 0) throws {
        let path = path
        guard let descriptor = try call("open \(path) \(way)", { unsafe CLinux_openat(AT_FDCWD, path, Handle.flags(way) | extra | O_CLOEXEC, 0o644) }) else { return }
        handles.append(Handle(way: way, descriptor: descriptor))
    }

    func create(_ path: String) throws {
        names = [path]
        try open(.plain, extra: O_CREAT | O_EXCL)
    }

    func close(at index: Int) throws {
        let handle = handles.remove(at: index)
        try call("close") { Glibc.close(handle.descriptor) }
    }

    func unmap() throws {
        guard let old = mapping else { return }
        mapping = nil
        try call("munmap") { unsafe munmap(old.start, old.count) }
    }

    /// Whatever is open of it; the file goes with it where it has no name.
    func closeAll() throws {
        try unmap()
        while !handles.isEmpty { try close(at: handles.count - 1) }
    }

    func handle(_ ways: [Handle.Way], _ generator: inout Generator) throws -> Int32 {
        let fitting = handles.filter { ways.contains($0.way) }
        if !fitting.isEmpty { return generator.pick(fitting).descriptor }
        try open(ways[0])
        return handles[handles.count - 1].descriptor
    }

    func status() throws -> stat {
        var status = stat()
        if let first = handles.first {
            try call("fstat") { unsafe fstat(first.descriptor, &status) }
        } else {
            let path = path
            try call("stat \(path)") { unsafe lstat(path, &status) }
        }
        return status
    }

    func checkStatus() throws {
        let status = try status()
        if status.st_size != model.size { throw Failure("st_size \(status.st_size), expected \(model.size)") }
        if Int(status.st_nlink) != names.count { throw Failure("st_nlink \(status.st_nlink), expected \(names.count)") }
        if let stamp, status.st_mtim.tv_sec != stamp || status.st_mtim.tv_nsec != stamp % 1_000_000_000 {
            throw Failure("mtime \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec), expected \(stamp).\(stamp % 1_000_000_000) as set by hand")
        }
    }

    /// How it looks when nothing of it is open any more.
    func noteTime() throws {
        let status = try status()
        shown = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    }

    func checkTime() throws {
        guard let shown else { return }
        let status = try status()
        let now = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
        if now != shown { throw Failure("mtime \(now), but \(shown) before (\(now - shown) ns)") }
        self.shown = nil
    }

    /// Reads and compares; short only at the end of the file.
    func compare(_ descriptor: Int32, _ memory: Memory, _ count: Int, at offset: Int64, _ how: String) throws {
        let expected = Int(max(0, min(Int64(count), model.size - offset)))
        var done = 0
        while done < count {
            let got = try call("\(how) of \(count) at \(offset)") {
                unsafe pread(descriptor, memory.pointer(done..<count), count - done, off_t(offset) + off_t(done))
            }
            guard let got, got > 0 else { break }
            done += got
            if done >= expected { break }
        }
        if done != expected { throw Failure("\(how) of \(count) at \(offset): \(done) bytes, expected \(expected), size \(model.size)") }
        if let place = model.difference(memory, done, at: offset) { throw wrong(place, memory, Int(place - offset), done, "\(how) of \(count) at \(offset)") }
    }

    /// The message about a difference: where, and what was there.
    func wrong(_ place: Int64, _ memory: Memory, _ index: Int, _ count: Int, _ how: String) -> Failure {
        var bad = 0, last = index
        for i in index..<count where memory.byte(i) != model.byte(place + Int64(i - index)) {
            bad += 1
            last = i
        }
        let got = (index..<min(index + 16, count)).map { hex(memory.byte($0)) }.joined(separator: " ")
        let expected = (0..<Int64(min(16, count - index))).map { hex(model.byte(place + $0)) }.joined(separator: " ")
        let spot = "\(place) (block \(place / 4096), byte \(place % 4096))"
        return Failure("\(how): another content at \(spot), \(bad) bytes to \(place + Int64(last - index)), size \(model.size)\n"
            + "    got      \(got)\n    expected \(expected)")
    }

    private func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
