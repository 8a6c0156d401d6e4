import FoundationEssentials

extension SecureFileHandle {
    /// The plaintext from the position on, in pieces of `count` bytes (the last may be shorter), decrypted as they are asked for.
    ///
    /// The sequence has a position of its own, which begins at that of the handle: neither moves the other. It ends at the end of the file as it
    /// is then, and with the first error. Each piece is read outside of the caller's actor.
    /// - Parameter count: 1 or more; a multiple of 4096 is best.
    public func chunks(ofCount count: Int = 1 << 18) -> SecureFileChunks { SecureFileChunks(self, count: max(1, count)) }

    /// The plaintext from the position on, byte by byte; as ``chunks(ofCount:)``.
    public var bytes: SecureFileBytes { SecureFileBytes(chunks: chunks()) }
}

/// Pieces of a file's plaintext, one after the other. Made by ``SecureFileHandle/chunks(ofCount:)``.
public struct SecureFileChunks: AsyncSequence, Sendable {
    public typealias Element = Data
    public typealias Failure = SecureFileError
    private let handle: SecureFileHandle
    private let count: Int
    private let start: Result<UInt64, SecureFileError>

    init(_ handle: SecureFileHandle, count: Int) {
        self.handle = handle
        self.count = count
        do throws(SecureFileError) { start = .success(try handle.offset()) } catch { start = .failure(error) }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(handle: handle, count: count, next: start) }

    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let handle: SecureFileHandle
        fileprivate let count: Int
        /// Nil when it has ended.
        fileprivate var next: Result<UInt64, SecureFileError>?

        /// The next piece; nil at the end.
        ///
        /// - Throws: as ``SecureFileHandle/read(upToCount:at:)``; the sequence has ended then.
        public mutating func next() async throws(SecureFileError) -> Data? {
            guard let place = next else { return nil }
            next = nil
            let offset = try place.get()
            let data = try await Self.read(handle, count, offset)
            if data.isEmpty { return nil }
            next = .success(offset + UInt64(data.count))
            return data
        }

        /// Not on the caller's actor: it may be the one that draws the windows.
        @concurrent
        private static func read(_ handle: SecureFileHandle, _ count: Int, _ offset: UInt64) async throws(SecureFileError) -> Data {
            try handle.read(upToCount: count, at: offset)
        }
    }
}

/// The bytes of a file's plaintext, one after the other. Made by ``SecureFileHandle/bytes``.
public struct SecureFileBytes: AsyncSequence, Sendable {
    public typealias Element = UInt8
    public typealias Failure = SecureFileError
    fileprivate let chunks: SecureFileChunks

    public func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var chunks: SecureFileChunks.Iterator
        private var chunk = Data()
        private var place = 0

        fileprivate init(chunks: SecureFileChunks.Iterator) { self.chunks = chunks }

        /// The next byte; nil at the end.
        public mutating func next() async throws(SecureFileError) -> UInt8? {
            if place == chunk.count {
                guard let more = try await chunks.next() else { return nil }
                (chunk, place) = (more, 0)
            }
            defer { place += 1 }
            return chunk[chunk.startIndex + place]
        }
    }
}
