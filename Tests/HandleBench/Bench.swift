import SecureFileCore

/// The rows, each over one plain file and one secure file.
struct Bench {
    private let plainPath, securePath: String
    private let folder: String
    private let size: Int
    private let rounds: Int
    /// Only rows with this in their name are measured (those before are run once, for the files).
    private let filter: String
    private let services = SecureServices()
    private let piece = 1 << 20
    private let page = 4096
    private let randomCount = 20_000

    init(folder: String, size: Int, rounds: Int, filter: String) {
        self.filter = filter
        self.folder = folder
        self.size = size
        self.rounds = rounds
        plainPath = folder + "/plain"
        securePath = folder + "/secure"
    }

    mutating func run() throws {
        try services.unlock(.provider { (0..<32).map { UInt8($0) } })
        let buffer = PageBuffer(count: piece)
        for i in 0..<piece { buffer[i] = UInt8(truncatingIfNeeded: i &* 7 + i >> 8) }
        try writing(buffer)
        try reading(buffer)
        try random(buffer)
    }

    func remove() {
        guard let here = try? FileDescriptor.open(RawPath("."), [.pathOnly, .directory]) else { return }
        for path in [plainPath, securePath] { try? here.remove(RawPath(path)) }
        try? here.removeDirectory(RawPath(folder))
    }

    // MARK: Rows

    private func writing(_ buffer: PageBuffer) throws {
        try measure("write new 1 MiB plain", bytes: size, before: { remove(plainPath) }) {
            let file = try FileDescriptor.open(RawPath(plainPath), [.readWrite, .create])
            for offset in stride(from: 0, to: size, by: piece) { try file.write(buffer, 0..<piece, at: Int64(offset)) }
        }
        try measure("write new 1 MiB handle", bytes: size, before: { try makeEmpty() }) {
            let handle = try SecureFileHandle(opening: securePath, for: .writing, services: services)
            for offset in stride(from: 0, to: size, by: piece) { try buffer.withSpan(0..<piece) { span in try handle.write(span, at: UInt64(offset)) } }
            try handle.close()
        }
        try measure("overwrite 1 MiB plain", bytes: size) {
            let file = try FileDescriptor.open(RawPath(plainPath), [.readWrite])
            for offset in stride(from: 0, to: size, by: piece) { try file.write(buffer, 0..<piece, at: Int64(offset)) }
        }
        try measure("overwrite 1 MiB handle", bytes: size) {
            let handle = try SecureFileHandle(opening: securePath, for: .writing, services: services)
            for offset in stride(from: 0, to: size, by: piece) { try buffer.withSpan(0..<piece) { span in try handle.write(span, at: UInt64(offset)) } }
            try handle.close()
        }
    }

    private func reading(_ buffer: PageBuffer) throws {
        try measure("read 1 MiB plain", bytes: size) {
            let file = try FileDescriptor.open(RawPath(plainPath), [.readOnly])
            for offset in stride(from: 0, to: size, by: piece) { _ = try file.read(at: Int64(offset), into: buffer, 0..<piece) }
        }
        try measure("read 1 MiB handle", bytes: size) {
            let handle = try SecureFileHandle(opening: securePath, for: .reading, services: services)
            for offset in stride(from: 0, to: size, by: piece) { _ = try handle.read(into: buffer, at: UInt64(offset)) }
        }
        try measure("read 1 MiB handle as Data", bytes: size) {
            let handle = try SecureFileHandle(opening: securePath, for: .reading, services: services)
            while let data = try handle.read(upToCount: piece) { consume(data.count) }
        }
    }

    private func random(_ buffer: PageBuffer) throws {
        let bytes = randomCount * page
        let pages = UInt64(size / page)
        var state: UInt64 = 1
        func offset() -> Int64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64((state >> 33) % pages) * Int64(page)
        }
        let small = PageBuffer(count: page)
        try measure("random read 4 KiB plain", bytes: bytes) {
            let file = try FileDescriptor.open(RawPath(plainPath), [.readOnly])
            for _ in 0..<randomCount { _ = try file.read(at: offset(), into: small, 0..<page) }
        }
        try measure("random read 4 KiB handle", bytes: bytes) {
            let handle = try SecureFileHandle(opening: securePath, for: .reading, services: services)
            for _ in 0..<randomCount { _ = try handle.read(into: small, at: UInt64(offset())) }
        }
        try measure("random write 4 KiB and a sync plain", bytes: bytes) {
            let file = try FileDescriptor.open(RawPath(plainPath), [.readWrite])
            for _ in 0..<randomCount { try file.write(buffer, 0..<page, at: offset()) }
            try file.synchronize()
        }
        try measure("random write 4 KiB and a sync handle", bytes: bytes) {
            let handle = try SecureFileHandle(opening: securePath, for: .writing, services: services)
            for _ in 0..<randomCount {
                let at = UInt64(offset())
                try buffer.withSpan(0..<page) { span in try handle.write(span, at: at) }
            }
            try handle.synchronize()
            try handle.close()
        }
    }

    // MARK: Measuring

    private func remove(_ path: String) { try? FileDescriptor.open(RawPath("."), [.pathOnly, .directory]).remove(RawPath(path)) }

    private func makeEmpty() throws {
        remove(securePath)
        _ = try FileDescriptor.open(RawPath(securePath), [.readWrite, .create, .exclusive])
    }

    private func consume(_ count: Int) { precondition(count >= 0) }

    private func measure(_ name: String, bytes: Int, before: () throws -> Void = {}, _ body: () throws -> Void) throws {
        var seconds: [Double] = []
        let isWanted = filter.isEmpty || name.contains(filter)
        for _ in 0..<(isWanted ? rounds : 1) {
            try before()
            let begin = ContinuousClock.now
            try body()
            let took = (ContinuousClock.now - begin).components
            seconds.append(Double(took.seconds) + Double(took.attoseconds) / 1e18)
        }
        if !isWanted { return }
        let sorted = seconds.sorted()
        print(name + "\t" + String(Int(Double(bytes) / sorted[rounds / 2] / 1e6)) + "\t" + String(Int(Double(bytes) / sorted[0] / 1e6)))
    }
}
