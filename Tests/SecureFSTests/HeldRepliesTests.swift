import Glibc
import Testing

@testable import SecureFS
@testable import SecureFileCore

/// Replies that wait for each other.
@Suite struct HeldRepliesTests {
    /// A reply as libfuse sends it: a header of 16 bytes and what follows it.
    private func keep(_ number: UInt8, body: Int, in replies: HeldReplies) -> Int? {
        var header = [UInt8](repeating: number, count: 16)
        var rest = [UInt8](repeating: number, count: body)
        return unsafe header.withUnsafeMutableBytes { header in
            unsafe rest.withUnsafeMutableBytes { rest in
                var parts = unsafe [iovec(iov_base: header.baseAddress, iov_len: 16), iovec(iov_base: rest.baseAddress, iov_len: body)]
                return unsafe parts.withUnsafeMutableBufferPointer { unsafe replies.keep($0.baseAddress, 2) }
            }
        }
    }

    /// What comes out of the other end of a pipe, reply by reply.
    private func sent(_ replies: HeldReplies) throws -> [[UInt8]] {
        var ends: [Int32] = [0, 0]
        try #require(unsafe ends.withUnsafeMutableBufferPointer { unsafe pipe($0.baseAddress) } == 0)
        let (input, output) = (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
        replies.send(to: try FuseDevice(fd: output.rawValue))
        try output.close()
        var got: [[UInt8]] = []
        while true {
            var reply = [UInt8](repeating: 0, count: 24)
            let count = unsafe reply.withUnsafeMutableBytes { unsafe read(input.rawValue, $0.baseAddress, $0.count) }
            if count <= 0 { return got }
            got.append(Array(reply.prefix(count)))
        }
    }

    @Test func theLastOneGoesFirst() throws {
        let replies = HeldReplies()
        replies.isOpen = true
        for number in 1...3 { #expect(keep(UInt8(number), body: 8, in: replies) == 24) }
        #expect(!replies.isEmpty && !replies.isFull)
        #expect(try sent(replies) == [3, 2, 1].map { [UInt8](repeating: $0, count: 24) })
        #expect(replies.isEmpty)
        #expect(try sent(replies).isEmpty)
    }

    @Test func whatMayNotWaitIsNotHeld() throws {
        let replies = HeldReplies()
        #expect(keep(1, body: 8, in: replies) == nil)
        replies.isOpen = true
        // An error, and answers to other requests: other lengths.
        for body in [0, 4, 16, 88] { #expect(keep(1, body: body, in: replies) == nil) }
        #expect(replies.isEmpty)
    }

    @Test func noMoreAreHeldThanThereIsRoomFor() throws {
        let replies = HeldReplies()
        replies.isOpen = true
        var held = 0
        while !replies.isFull, held < 1000 {
            #expect(keep(UInt8(held), body: 8, in: replies) == 24)
            held += 1
        }
        #expect(held < 100)
        #expect(keep(0, body: 8, in: replies) == nil)
        #expect(try sent(replies).count == held)
    }

    /// Only data the kernel had cached is waited for page by page; what may have to be answered before anything else goes on is not held.
    @Test func whichRequestsArePatient() {
        func request(_ opcode: UInt32, writeFlags: UInt32) -> RawRequest {
            let buffer = PageBuffer(count: 1 << 12)
            buffer.store(opcode, at: 4)
            buffer.store(writeFlags, at: 60)
            return RawRequest(reading: buffer, count: 200)
        }
        #expect(request(16, writeFlags: 1).isPatient)
        #expect(!request(16, writeFlags: 0).isPatient)
        #expect(!request(16, writeFlags: 1 | 4).isPatient)
        #expect(!request(20, writeFlags: 1).isPatient)
    }
}
