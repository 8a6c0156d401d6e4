import SecureFileCore
import Testing

@testable import SecureFS

@Suite struct ControlMessageTests {
    static let failures: [SecureFileError] =
        ControlMessage.codes.map { SecureFileError($0, "no") }
        + [Errno.inputOutput, .accessDenied, .noEntry].map { SecureFileError(.system, "the disk", cause: $0) }

    @Test(arguments: failures)
    func anErrorArrivesAsItWasSent(failure: SecureFileError) throws {
        let reply = ControlMessage.encode(failure)
        let text = Array(reply.dropFirst(3))
        #expect(Int(reply[1]) | Int(reply[2]) << 8 == text.count)
        let told = try #require(ControlMessage.decode(reply[0], text))
        #expect(told.code == failure.code)
        #expect(told.message == failure.message)
        #expect(told.cause == failure.cause)
    }

    @Test func nothingFailed() {
        #expect(ControlMessage.encode(nil) == [0, 0, 0])
        #expect(ControlMessage.decode(0, []) == nil)
    }

    /// The cause of an error that is no failing system call travels in words, and so does an errno that has no place in the number.
    @Test func aCauseIsNotLost() throws {
        for failure in [SecureFileError(.noSpace, "record", cause: .noSpace), SecureFileError(.system, "key", cause: .keyRevoked)] {
            let reply = ControlMessage.encode(failure)
            let told = try #require(ControlMessage.decode(reply[0], Array(reply.dropFirst(3))))
            #expect(told.code == failure.code)
            #expect(told.message == "\(failure.message): \(try #require(failure.cause))")
        }
    }

    @Test(arguments: [UInt8(100), 128, 129, 255])
    func anUnknownNumberIsAFailureAllTheSame(number: UInt8) {
        #expect(ControlMessage.decode(number, [])?.code == .system)
    }
}
