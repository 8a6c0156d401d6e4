import Glibc
import SecureFileCore

/// The content of a file as pages of 4096 bytes. Pages are never changed in place, so that images share them; one that is missing is zero.
public struct PageImage: Sendable {
    public static let pageSize = 4096
    public private(set) var length: Int64 = 0
    public private(set) var pages: [Int64: PageBuffer] = [:]

    public init() {}

    /// Bytes of a page that lie inside the file.
    private func valid(_ page: Int64) -> Int { Int(max(0, min(4096, length - page * 4096))) }

    public func read(at offset: Int64, into buffer: PageBuffer, _ range: Range<Int>) -> Int {
        let count = Int(max(0, min(Int64(range.count), length - offset)))
        var done = 0
        while done < count {
            let at = offset + Int64(done)
            let inPage = Int(at & 4095)
            let here = min(4096 - inPage, count - done)
            let target = range.lowerBound + done
            if let page = pages[at >> 12] {
                buffer.copy(inPage..<inPage + here, of: page, to: target)
            } else {
                buffer.zero(target..<target + here)
            }
            done += here
        }
        return count
    }

    /// The page `number` after the bytes `range` of `buffer` came into it at `inPage`; the length is not looked at.
    public func page(_ number: Int64, patchedWith buffer: PageBuffer, _ range: Range<Int>, at inPage: Int) -> PageBuffer {
        let page = PageBuffer(uninitialized: 4096)
        if range.count < 4096 {
            if let old = pages[number] { page.copy(0..<4096, of: old, to: 0) } else { page.zero(0..<4096) }
        }
        page.copy(range, of: buffer, to: inPage)
        return page
    }

    public mutating func setPage(_ number: Int64, _ page: PageBuffer?) { pages[number] = page }

    /// Lengthens or cuts; what is cut off is zero when the file grows again.
    public mutating func setLength(_ new: Int64) {
        if new < length { zeroPast(new) }
        length = new
    }

    /// Only the length: bytes past it stay where they are until ``zeroPast(_:)``.
    public mutating func setBareLength(_ new: Int64) { length = new }

    /// Drops what lies past `end`.
    public mutating func zeroPast(_ end: Int64) {
        let edge = end >> 12
        let inPage = Int(end & 4095)
        if end == 0 { return pages.removeAll() }
        for number in pages.keys where number > edge || (number == edge && inPage == 0) { pages[number] = nil }
        if inPage > 0, let old = pages[edge] {
            let page = PageBuffer(count: 4096)
            page.copy(0..<inPage, of: old, to: 0)
            pages[edge] = page
        }
    }

    public mutating func write(_ buffer: PageBuffer, _ range: Range<Int>, at offset: Int64) {
        var done = 0
        while done < range.count {
            let at = offset + Int64(done)
            let inPage = Int(at & 4095)
            let here = min(4096 - inPage, range.count - done)
            let from = range.lowerBound + done
            pages[at >> 12] = page(at >> 12, patchedWith: buffer, from..<from + here, at: inPage)
            done += here
        }
        length = max(length, offset + Int64(range.count))
    }

    public mutating func punch(at offset: Int64, count: Int64) {
        let end = min(offset + count, length)
        var at = offset
        while at < end {
            let inPage = Int(at & 4095)
            let here = Int(min(Int64(4096 - inPage), end - at))
            if here == 4096 {
                pages[at >> 12] = nil
            } else if let old = pages[at >> 12] {
                let page = PageBuffer(uninitialized: 4096)
                page.copy(0..<4096, of: old, to: 0)
                page.zero(inPage..<inPage + here)
                pages[at >> 12] = page
            }
            at += Int64(here)
        }
    }

    public func nextData(at offset: Int64) -> Int64? {
        let first = pages.keys.filter { ($0 + 1) * 4096 > offset && $0 * 4096 < length }.min()
        return first.map { max(offset, $0 * 4096) }
    }

    /// The whole content, for small files.
    public func bytes() -> [UInt8] {
        if length == 0 { return [] }
        let buffer = PageBuffer(count: Int(length))
        _ = read(at: 0, into: buffer, 0..<Int(length))
        return buffer.bytes(0..<Int(length))
    }

    public init(bytes: [UInt8]) {
        if bytes.isEmpty { return }
        let buffer = PageBuffer(uninitialized: bytes.count)
        buffer.copy(bytes, to: 0)
        write(buffer, 0..<bytes.count, at: 0)
    }
}

extension PageBuffer {
    /// Whether the bytes `range` are the same in both.
    public func equals(_ other: PageBuffer, _ range: Range<Int>) -> Bool {
        if range.isEmpty { return true }
        return unsafe withPointer(range) { a in
            unsafe other.withPointer(range) { b in
                guard let a = a.baseAddress, let b = b.baseAddress else { return false }
                return unsafe memcmp(a, b, range.count) == 0
            }
        }
    }

    /// A hash of the bytes 0..<4096: for telling test contents apart, not against an adversary.
    public func contentHash() -> UInt64 {
        unsafe withPointer(0..<4096) { bytes in
            var (a, b): (UInt64, UInt64) = (0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344)
            for i in stride(from: 0, to: 4096, by: 16) {
                a = unsafe (a ^ bytes.loadUnaligned(fromByteOffset: i, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
                b = unsafe (b ^ bytes.loadUnaligned(fromByteOffset: i + 8, as: UInt64.self)) &* 0xC2B2_AE3D_27D4_EB4F
                a ^= b >> 29
                b ^= a >> 31
            }
            return a &+ b
        }
    }

    /// Fills the bytes `range` with what `seed` gives; no two seeds give the same, and none gives zeros.
    public func fill(_ range: Range<Int>, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        unsafe withPointer(range) { bytes in
            var i = 0
            while i + 8 <= bytes.count {
                unsafe bytes.storeBytes(of: generator.next() | 1, toByteOffset: i, as: UInt64.self)
                i += 8
            }
            while i < bytes.count {
                unsafe bytes[i] = UInt8(truncatingIfNeeded: generator.next()) | 1
                i += 1
            }
        }
    }
}
