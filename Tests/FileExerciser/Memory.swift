import Glibc

/// Page-aligned memory that asks nothing of who uses it but to stay inside: every access is checked.
@safe final class Memory {
    private let start: UnsafeMutableRawPointer
    let count: Int

    init(count: Int) {
        unsafe start = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 4096)
        self.count = count
        unsafe memset(start, 0, count)
    }

    deinit { unsafe start.deallocate() }

    /// The memory itself, for a system call.
    func pointer(_ range: Range<Int>) -> UnsafeMutableRawPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe start + range.lowerBound
    }

    func clear(_ range: Range<Int>) { unsafe memset(pointer(range), 0, range.count) }

    func copy(_ range: Range<Int>, from other: Memory, at place: Int) {
        unsafe memmove(pointer(range), other.pointer(place..<place + range.count), range.count)
    }

    /// The first place of the range that is not as in `other`.
    func difference(_ range: Range<Int>, from other: Memory, at place: Int) -> Int? {
        let here = unsafe pointer(range), there = unsafe other.pointer(place..<place + range.count)
        guard unsafe memcmp(here, there, range.count) != 0 else { return nil }
        for i in 0..<range.count where unsafe here.load(fromByteOffset: i, as: UInt8.self) != there.load(fromByteOffset: i, as: UInt8.self) {
            return range.lowerBound + i
        }
        return nil
    }

    func byte(_ place: Int) -> UInt8 { unsafe pointer(place..<place + 1).load(as: UInt8.self) }

    /// Bytes that say nothing but where and when they were written.
    func fill(_ count: Int, _ generator: inout Generator) {
        let stamp = generator.next()
        let words = (count + 7) / 8
        precondition(words * 8 <= self.count)
        for i in 0..<words {
            unsafe start.storeBytes(of: Generator.mixed(stamp &+ UInt64(i) &* 0x9E37_79B9_7F4A_7C15), toByteOffset: i * 8, as: UInt64.self)
        }
    }
}
