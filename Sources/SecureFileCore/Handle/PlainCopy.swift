/// Something whose plaintext can be read at any place.
protocol PlainSource {
    func currentSize() throws(SecureFileError) -> Int64
    /// Reads into the front of `buffer`; fewer than `count` bytes only at the end.
    func read(at offset: Int64, _ count: Int, into buffer: PageBuffer) throws(SecureFileError) -> Int
}

extension SecureFile: PlainSource {
    func currentSize() throws(SecureFileError) -> Int64 { try knownSize().rawValue }
    func read(at offset: Int64, _ count: Int, into buffer: PageBuffer) throws(SecureFileError) -> Int {
        try read(at: ByteOffset(offset), count: count, into: buffer)
    }
}

/// A plaintext file.
struct PlainFile: PlainSource {
    let descriptor: FileDescriptor
    let path: String

    func currentSize() throws(SecureFileError) -> Int64 {
        try explained("cannot be examined", path: path) { () throws(Errno) in try descriptor.status().size }
    }

    func read(at offset: Int64, _ count: Int, into buffer: PageBuffer) throws(SecureFileError) -> Int {
        try explained("cannot be read", path: path) { () throws(Errno) in try descriptor.read(at: offset, into: buffer, 0..<count) }
    }
}

/// Copying and comparing plaintext, a piece at a time.
enum PlainCopy {
    private static let piece = 1 << 20

    /// Copies all of `source` into the new file `target`. Pieces that are zeros become holes.
    static func all(of source: some PlainSource, to target: SecureFile) throws(SecureFileError) {
        let size = try each(source) { (buffer, count, offset) throws(SecureFileError) in
            if buffer.isZero(0..<count) { return }
            try buffer.withSpan(0..<count) { (span) throws(SecureFileError) in try target.write(span, 0..<count, at: ByteOffset(offset)) }
        }
        try target.truncate(to: ByteCount(size))
    }

    /// Copies all of `source` into the new plaintext file `target`. Pieces that are zeros become holes.
    static func all(of source: some PlainSource, to target: PlainFile) throws(SecureFileError) {
        let size = try each(source) { (buffer, count, offset) throws(SecureFileError) in
            if buffer.isZero(0..<count) { return }
            try explained("cannot be written", path: target.path) { () throws(Errno) in
                try target.descriptor.write(buffer, 0..<count, at: offset)
            }
        }
        try explained("cannot be written", path: target.path) { () throws(Errno) in try target.descriptor.setLength(size) }
    }

    /// - Returns: The bytes there were.
    private static func each(
        _ source: some PlainSource, _ body: (PageBuffer, Int, Int64) throws(SecureFileError) -> Void
    ) throws(SecureFileError) -> Int64 {
        let buffer = PageBuffer(uninitialized: piece)
        var offset: Int64 = 0
        while true {
            let got = try source.read(at: offset, piece, into: buffer)
            if got == 0 { return offset }
            try body(buffer, got, offset)
            offset += Int64(got)
        }
    }

    /// - Throws: `.damaged` where the two differ; then one of them is not what was written, or changed meanwhile.
    static func compare(_ a: some PlainSource, _ b: some PlainSource, path: String) throws(SecureFileError) {
        let difference = SecureFileError(.damaged, "what was written is not what was read, or that changed meanwhile: nothing was replaced", path: path)
        if try a.currentSize() != b.currentSize() { throw difference }
        let other = PageBuffer(uninitialized: piece)
        _ = try each(a) { (buffer, count, offset) throws(SecureFileError) in
            guard try b.read(at: offset, count, into: other) == count, buffer.equals(other, count: count) else { throw difference }
        }
    }
}
