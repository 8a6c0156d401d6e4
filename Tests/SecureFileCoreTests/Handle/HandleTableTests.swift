import Foundation
import SecureFileCore
import Testing

/// Every row of the table in docs/API.md, called.
@Suite struct HandleTableTests {
    // MARK: Constructors

    @Test func constructorsByPathWithoutAnError() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", text("0123456789"))
        let reading = try #require(SecureFileHandle(forReadingAtPath: path, services: fixture.services))
        #expect(reading.readDataToEndOfFile() == text("0123456789"))
        let writing = try #require(SecureFileHandle(forWritingAtPath: path, services: fixture.services))
        #expect(writing.offsetInFile == 0)
        writing.write(text("ab"))
        let updating = try #require(SecureFileHandle(forUpdatingAtPath: path, services: fixture.services))
        #expect(updating.readData(ofLength: 4) == text("ab23"))
        updating.write(text("XY"))
        updating.seek(toFileOffset: 0)
        #expect(updating.availableData == text("ab23XY6789"))
        #expect(SecureFileHandle(forReadingAtPath: fixture.path("none"), services: fixture.services) == nil)
        #expect(SecureFileHandle(forWritingAtPath: fixture.path("none"), services: fixture.services) == nil)
        #expect(SecureFileHandle(forUpdatingAtPath: fixture.path("none"), services: fixture.services) == nil)
        #expect(!FileManager.default.fileExists(atPath: fixture.path("none")))
    }

    @Test func constructorsByPathWithAnError() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", text("0123"))
        var error: (any Error)?
        let reading = SecureFileHandle(forReadingAtPath: path, error: &error, services: fixture.services)
        #expect(reading?.readDataToEndOfFile() == text("0123"))
        #expect(SecureFileHandle(forWritingAtPath: path, error: &error, services: fixture.services) != nil)
        #expect(SecureFileHandle(forUpdatingAtPath: path, error: &error, services: fixture.services) != nil)
        #expect(error == nil)
        for open in [
            { (e: inout (any Error)?) in SecureFileHandle(forReadingAtPath: fixture.path("none"), error: &e, services: fixture.services) },
            { e in SecureFileHandle(forWritingAtPath: fixture.path("none"), error: &e, services: fixture.services) },
            { e in SecureFileHandle(forUpdatingAtPath: fixture.path("none"), error: &e, services: fixture.services) },
        ] {
            error = nil
            #expect(open(&error) == nil)
            #expect((error as? SecureFileError)?.code == .notFound)
        }
    }

    @Test func constructorsByURL() throws {
        let fixture = try HandleFixture()
        let url = URL(fileURLWithPath: try fixture.file("a file with spaces", text("0123")))
        #expect(try SecureFileHandle(forReadingFrom: url, services: fixture.services).readToEnd() == text("0123"))
        #expect(try SecureFileHandle(forWritingTo: url, services: fixture.services).offset() == 0)
        #expect(try SecureFileHandle(forUpdating: url, services: fixture.services).readToEnd() == text("0123"))
        var error: (any Error)?
        #expect(SecureFileHandle(forReadingFrom: url, error: &error, services: fixture.services) != nil)
        #expect(SecureFileHandle(forWritingTo: url, error: &error, services: fixture.services) != nil)
        #expect(SecureFileHandle(forUpdating: url, error: &error, services: fixture.services) != nil)
        #expect(error == nil)
        let web = try #require(URL(string: "https://example.org/f"))
        #expect(failureCode { _ = try SecureFileHandle(forReadingFrom: web, services: fixture.services) } == .invalidArgument)
        #expect(SecureFileHandle(forWritingTo: web, error: &error, services: fixture.services) == nil)
        #expect((error as? SecureFileError)?.acErrorCode == .invalidArgument)
        #expect(SecureFileHandle(forUpdating: URL(fileURLWithPath: fixture.path("none")), error: &error, services: fixture.services) == nil)
        #expect((error as? SecureFileError)?.code == .notFound)
    }

    @Test func constructorsOfAnEncryptionGroup() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", text("0123"))
        let url = URL(fileURLWithPath: path)
        var error: (any Error)?
        #expect(SecureFileHandle(forReadingAtPath: path, withEncryptionGroupId: "group", error: &error) == nil)
        #expect((error as? SecureFileError)?.code == .keyAbsent)
        #expect(failureCode { _ = try SecureFileHandle(forReadingFrom: url, withEncryptionGroupId: "group") } == .keyAbsent)
        SecureServices.setServices(fixture.services, forEncryptionGroupId: "group")
        defer { SecureServices.setServices(nil, forEncryptionGroupId: "group") }
        error = nil
        #expect(SecureFileHandle(forReadingAtPath: path, withEncryptionGroupId: "group")?.readDataToEndOfFile() == text("0123"))
        #expect(SecureFileHandle(forWritingAtPath: path, withEncryptionGroupId: "group") != nil)
        #expect(SecureFileHandle(forUpdatingAtPath: path, withEncryptionGroupId: "group") != nil)
        #expect(SecureFileHandle(forReadingAtPath: path, withEncryptionGroupId: "group", error: &error) != nil)
        #expect(SecureFileHandle(forWritingAtPath: path, withEncryptionGroupId: "group", error: &error) != nil)
        #expect(SecureFileHandle(forUpdatingAtPath: path, withEncryptionGroupId: "group", error: &error) != nil)
        #expect(error == nil)
        #expect(try SecureFileHandle(forReadingFrom: url, withEncryptionGroupId: "group").readToEnd() == text("0123"))
        #expect(try SecureFileHandle(forWritingTo: url, withEncryptionGroupId: "group").offset() == 0)
        #expect(try SecureFileHandle(forUpdating: url, withEncryptionGroupId: "group").offset() == 0)
    }

    // MARK: Reading

    @Test func readingInThreeForms() throws {
        let fixture = try HandleFixture()
        let data = pattern(300_000)
        let handle = try fixture.open(try fixture.file("f", data), .reading)
        var error: (any Error)?
        #expect(handle.readData(ofLength: 10) == data[0..<10])
        #expect(try handle.read(upToCount: 5000) == data[10..<5010])
        #expect(handle.readData(ofLength: 4096, error: &error) == data[5010..<9106])
        #expect(try handle.read(upToCount: 0) == nil)
        #expect(try handle.offset() == 9106)
        #expect(handle.availableData == data[9106...])
        #expect(handle.availableData.isEmpty)
        #expect(handle.availableData(error: &error) == Data())
        #expect(try handle.readToEnd() == nil)
        #expect(try handle.read(upToCount: 1) == nil)
        #expect(handle.readDataToEndOfFile() == Data())
        #expect(handle.readDataToEndOfFile(error: &error) == Data())
        try handle.seek(toOffset: 299_999)
        #expect(handle.availableData(error: &error) == data[299_999...])
        try handle.seek(toOffset: 299_990)
        #expect(handle.readDataToEndOfFile(error: &error) == data[299_990...])
        try handle.seek(toOffset: 299_990)
        #expect(try handle.readToEnd() == data[299_990...])
        #expect(handle.lastError == nil && error == nil)
        #expect(failureCode { _ = try handle.read(upToCount: -1) } == .invalidArgument)
        #expect(handle.readData(ofLength: -1).isEmpty)
        #expect(handle.lastError?.code == .invalidArgument)
        #expect(handle.readData(ofLength: -1, error: &error) == nil)
        #expect((error as? SecureFileError)?.acErrorCode == .invalidArgument)
    }

    @Test func readingByPosition() throws {
        let fixture = try HandleFixture()
        let data = pattern(20_000)
        let handle = try fixture.open(try fixture.file("f", data), .reading)
        try handle.seek(toOffset: 7)
        #expect(try handle.read(upToCount: 100, at: 4090) == data[4090..<4190])
        #expect(try handle.read(upToCount: 100, at: 20_000).isEmpty)
        #expect(try handle.read(upToCount: 100, at: .max).isEmpty)
        let buffer = PageBuffer(count: 64)
        #expect(try handle.read(into: buffer, at: 19_990) == 10)
        #expect(buffer.bytes(0..<10) == [UInt8](data[19_990...]))
        var bytes = [UInt8](repeating: 0, count: 50)
        var span = bytes.mutableSpan
        #expect(try handle.read(into: &span, at: 100) == 50)
        #expect(bytes == [UInt8](data[100..<150]))
        #expect(try handle.offset() == 7)
    }

    @Test func readingAsASequence() async throws {
        let fixture = try HandleFixture()
        let data = pattern(10_000)
        let path = try fixture.file("f", data)
        let handle = try fixture.open(path, .reading)
        try handle.seek(toOffset: 1000)
        var all = Data()
        var sizes: [Int] = []
        for try await chunk in handle.chunks(ofCount: 4096) {
            all.append(chunk)
            sizes.append(chunk.count)
        }
        #expect(all == data[1000...] && sizes == [4096, 4096, 808])
        #expect(try handle.offset() == 1000)
        var bytes: [UInt8] = []
        for try await byte in handle.bytes { bytes.append(byte) }
        #expect(bytes == [UInt8](data[1000...]))
        var iterator = handle.chunks(ofCount: 4096).makeAsyncIterator()
        #expect(try await iterator.next() == data[1000..<5096])
        try fixture.services.lock()
        await #expect { try await iterator.next() } throws: { ($0 as? SecureFileError)?.code == .keyNotAvailable }
        #expect(try await iterator.next() == nil)
        try fixture.unlock()
        try handle.close()
        await #expect { for try await _ in handle.chunks() {} } throws: { ($0 as? SecureFileError)?.code == .closed }
    }

    // MARK: Writing

    @Test func writingInThreeForms() throws {
        let fixture = try HandleFixture()
        let path = try fixture.emptyFile()
        let handle = try fixture.open(path, .writing)
        var error: (any Error)?
        handle.write(text("one "))
        try handle.write(contentsOf: text("two "))
        #expect(handle.write(text("three "), error: &error))
        try handle.write(contentsOf: Array("four ".utf8))
        try handle.write(contentsOf: DispatchLike(parts: [text("fi"), text("ve ")]))
        try handle.write([UInt8](text("six")).span)
        #expect(try handle.offset() == 27)
        try handle.write(text("TWO"), at: 4)
        try handle.write(Array("ONE".utf8), at: 0)
        try handle.write([UInt8](text("!")).span, at: 27)
        #expect(try handle.offset() == 27)
        try handle.close()
        #expect(try fixture.content(path) == text("ONE TWO three four five six!"))
        #expect(error == nil && handle.lastError == nil)
        #expect(!handle.write(text("x"), error: &error))
        #expect((error as? SecureFileError)?.code == .closed)
    }

    @Test func positionInThreeForms() throws {
        let fixture = try HandleFixture()
        let handle = try fixture.open(try fixture.file("f", pattern(5000)))
        var error: (any Error)?
        #expect(handle.seekToEndOfFile() == 5000)
        handle.seek(toFileOffset: 17)
        #expect(handle.offsetInFile == 17)
        #expect(handle.offsetInFile(error: &error) == 17)
        #expect(try handle.seekToEnd() == 5000)
        #expect(handle.seekToEndOfFile(error: &error) == 5000)
        #expect(handle.seek(toFileOffset: 3, error: &error))
        try handle.seek(toOffset: 4)
        #expect(try handle.offset() == 4)
        #expect(!handle.seek(toFileOffset: 1 << 63, error: &error))
        #expect((error as? SecureFileError)?.acErrorCode == .invalidArgument)
        #expect(try handle.offset() == 4)
    }

    @Test func cuttingMovesThePositionAndFillsWithZeros() throws {
        let fixture = try HandleFixture()
        let path = try fixture.file("f", pattern(5000))
        let handle = try fixture.open(path)
        var error: (any Error)?
        handle.truncateFile(atOffset: 100)
        #expect(handle.offsetInFile == 100)
        #expect(handle.truncateFile(atOffset: 90, error: &error))
        try handle.truncate(atOffset: 200)
        #expect(try handle.offset() == 200)
        try handle.seek(toOffset: 10_000)
        #expect(try handle.seekToEnd() == 200)
        try handle.seek(toOffset: 10_000)
        try handle.write(contentsOf: text("end"))
        try handle.seek(toOffset: 0)
        #expect(try handle.readToEnd() == pattern(5000)[0..<90] + Data(count: 9910) + text("end"))
        #expect(!handle.truncateFile(atOffset: .max, error: &error))
        #expect((error as? SecureFileError)?.acErrorCode == .fileTooBig)
    }

    @Test func endingInThreeForms() throws {
        let fixture = try HandleFixture()
        let path = try fixture.emptyFile()
        let handle = try fixture.open(path)
        var error: (any Error)?
        handle.write(pattern(100_000))
        handle.synchronizeFile()
        try handle.synchronize()
        #expect(handle.synchronizeFile(error: &error))
        let reader = try fixture.open(path, .reading)
        try reader.synchronize()
        #expect(handle.closeFile(error: &error))
        handle.closeFile()
        try handle.close()
        #expect(error == nil && handle.lastError == nil)
        #expect(failureCode { try handle.synchronize() } == .closed)
        #expect(try reader.readToEnd() == pattern(100_000))
    }

    // MARK: What is refused

    @Test func whatASecureFileCannotDoIsRefused() throws {
        let fixture = try HandleFixture()
        let handle = try fixture.open(try fixture.emptyFile())
        #expect(handle.fileDescriptor == -1)
        #expect(failureCode { _ = try SecureFileHandle(fileDescriptor: 0) } == .notSupported)
        #expect(failureCode { _ = try SecureFileHandle(fileDescriptor: 0, closeOnDealloc: true) } == .notSupported)
        handle.readabilityHandler = { _ in }
        #expect(handle.readabilityHandler == nil && handle.lastError?.code == .notSupported)
        handle.writeabilityHandler = { _ in }
        #expect(handle.writeabilityHandler == nil && handle.lastError?.errno == .notSupported)
        for call in [
            { try handle.readInBackgroundAndNotify() }, { try handle.readInBackgroundAndNotify(forModes: nil) },
            { try handle.readToEndOfFileInBackgroundAndNotify() }, { try handle.readToEndOfFileInBackgroundAndNotify(forModes: []) },
            { try handle.waitForDataInBackgroundAndNotify() }, { try handle.waitForDataInBackgroundAndNotify(forModes: nil) },
            { try handle.acceptConnectionInBackgroundAndNotify() }, { try handle.acceptConnectionInBackgroundAndNotify(forModes: nil) },
        ] as [() throws -> Void] {
            #expect(failureCode(call) == .notSupported)
        }
    }

    /// A subclass is not to be had, and nothing typed `FileHandle` can hold one: plaintext cannot leak by an inherited method.
    @Test func aSecureHandleIsNoFileHandle() throws {
        let fixture = try HandleFixture()
        let handle: Any = try fixture.open(try fixture.emptyFile())
        #expect(!(handle is FileHandle))
        #expect(ACFileHandle.self == SecureFileHandle.self)
    }
}

/// Data in two pieces.
private struct DispatchLike: DataProtocol {
    var parts: [Data]
    var regions: [Data] { parts }
    private var all: Data { parts.reduce(Data(), +) }
    var startIndex: Int { 0 }
    var endIndex: Int { all.count }
    subscript(position: Int) -> UInt8 { all[position] }
    subscript(bounds: Range<Int>) -> Data { all[bounds] }
    func index(after i: Int) -> Int { i + 1 }
    func index(before i: Int) -> Int { i - 1 }
}
