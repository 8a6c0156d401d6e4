import FoundationEssentials

/// Memory of a fixed length at a cache line boundary: what the stores read into and write from, and what blocks are sealed in and opened into.
///
/// The owner of the buffer is its only user at a time: it has no lock. It is wiped when it goes.
@safe
public final class PageBuffer: @unchecked Sendable {
    /// Length in bytes.
    public let count: Int
    private let base: UnsafeMutableRawPointer
    /// Where the memory is part of, if it is not the buffer's own.
    private let slab: PageSlab?

    /// A buffer of `count` bytes, 1 or more, all zero.
    public convenience init(count: Int) {
        self.init(uninitialized: count)
        zero(0..<count)
    }

    /// A buffer of `count` bytes whose content is of no meaning until it is written.
    public init(uninitialized count: Int) {
        precondition(count > 0)
        self.count = count
        unsafe base = count == PageStock.pageSize
            ? PageStock.shared.take() : UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
        slab = nil
    }

    /// The page at `index` of a slab. Its content is of no meaning until it is written.
    init(_ slab: PageSlab, page index: Int) {
        count = 4096
        unsafe base = slab.page(index)
        self.slab = slab
    }

    deinit {
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        guard slab == nil else { return }
        if count == PageStock.pageSize { unsafe PageStock.shared.giveBack(base) } else { unsafe base.deallocate() }
    }

    /// The bytes `range`, for a call into C; the pointer is good until the closure returns.
    @inline(__always)
    @unsafe
    public func withPointer<R, E: Error>(_ range: Range<Int>, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R) throws(E) -> R {
        check(range)
        return try unsafe body(UnsafeMutableRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    @inline(__always)
    private func check(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range outside the buffer")
    }

    public subscript(index: Int) -> UInt8 {
        get { check(index..<index + 1); return unsafe base.load(fromByteOffset: index, as: UInt8.self) }
        set { check(index..<index + 1); unsafe base.storeBytes(of: newValue, toByteOffset: index, as: UInt8.self) }
    }

    /// The little-endian integer at `offset`.
    @inline(__always)
    public func load<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type = T.self) -> T {
        check(offset..<offset + MemoryLayout<T>.size)
        return T(littleEndian: unsafe base.loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    /// Stores `value` at `offset`, little-endian.
    @inline(__always)
    public func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
        check(offset..<offset + MemoryLayout<T>.size)
        unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
    }

    public func zero(_ range: Range<Int>) {
        check(range)
        if range.isEmpty { return }
        unsafe (base + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: range.count)
    }

    public func copy(_ range: Range<Int>, of source: PageBuffer, to offset: Int) {
        source.check(range)
        check(offset..<offset + range.count)
        if range.isEmpty { return }
        unsafe (base + offset).copyMemory(from: source.base + range.lowerBound, byteCount: range.count)
    }

    public func copy(_ source: Span<UInt8>, _ range: Range<Int>, to offset: Int) {
        check(offset..<offset + range.count)
        precondition(range.lowerBound >= 0 && range.upperBound <= source.count)
        if range.isEmpty { return }
        unsafe source.withUnsafeBytes { bytes in
            unsafe (base + offset).copyMemory(from: bytes.baseAddress! + range.lowerBound, byteCount: range.count)
        }
    }

    public func copy(_ source: [UInt8], to offset: Int) { copy(source.span, 0..<source.count, to: offset) }

    public func bytes(_ range: Range<Int>) -> [UInt8] {
        check(range)
        return unsafe Array(UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    public func isZero(_ range: Range<Int>) -> Bool {
        check(range)
        return unsafe UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count).allSatisfy { $0 == 0 }
    }

    /// Whether the first `count` bytes are those of `other`.
    func equals(_ other: PageBuffer, count: Int) -> Bool {
        check(0..<count)
        other.check(0..<count)
        return unsafe UnsafeRawBufferPointer(start: base, count: count).elementsEqual(UnsafeRawBufferPointer(start: other.base, count: count))
    }

    /// The bytes `range` as a span, for the time of the closure.
    @inline(__always)
    public func withSpan<R, E: Error>(_ range: Range<Int>, _ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        check(range)
        let span = unsafe Span<UInt8>(_unsafeStart: (base + range.lowerBound).assumingMemoryBound(to: UInt8.self), count: range.count)
        return try body(span)
    }

    /// The first `count` bytes as `Data`. More than a page is not copied: the buffer becomes its memory, and goes back to `pool` after that. The
    /// caller gives the buffer up.
    func data(count: Int, from pool: BufferPool) -> Data {
        check(0..<count)
        if count <= 4096 {
            defer { pool.giveBack(self) }
            return unsafe Data(bytes: base, count: count)
        }
        return unsafe Data(bytesNoCopy: base, count: count, deallocator: .custom { _, _ in pool.giveBack(self) })
    }

    /// Copies the bytes `range` to the front of `target`, which has room for them.
    func copy(_ range: Range<Int>, to target: inout MutableSpan<UInt8>) {
        check(range)
        precondition(target.count >= range.count)
        if range.isEmpty { return }
        unsafe target.withUnsafeMutableBytes { target in
            unsafe target.baseAddress!.copyMemory(from: base + range.lowerBound, byteCount: range.count)
        }
    }
}
