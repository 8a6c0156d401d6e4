import FoundationEssentials

// AppConnect's additions to NSData. With another service than the shared one: ``SecureFiles``.
extension Data {
    /// The content of the secure file at `path`.
    ///
    /// - Throws: ``SecureFileError``: as ``SecureFiles/read(_:)``.
    public init(contentsOfSecureFile path: String, services: SecureServices = .shared) throws(SecureFileError) {
        self = try SecureFiles(services).read(path)
    }

    /// The content of the secure file at `url`.
    ///
    /// - Throws: ``SecureFileError``: as ``SecureFiles/read(_:)``; `.invalidArgument` for a URL that is no file's.
    public init(contentsOfSecureURL url: URL, services: SecureServices = .shared) throws(SecureFileError) {
        self = try SecureFiles(services).read(try url.securePath())
    }

    /// Writes the bytes as the content of the secure file at `path`, which is made where it does not exist.
    ///
    /// - Parameter options: `.atomic`: the file has its old or its new content, whole, at any time, and the new one is durable when this
    ///   returns. `.withoutOverwriting`: a file that is there is an error. Others mean nothing here.
    /// - Throws: ``SecureFileError``: as ``SecureFiles/write(_:to:atomically:overwriting:permissions:)``.
    public func write(toSecureFile path: String, options: WritingOptions = [], services: SecureServices = .shared) throws(SecureFileError) {
        try SecureFiles(services).write(
            self, to: path, atomically: options.contains(.atomic), overwriting: !options.contains(.withoutOverwriting))
    }

    /// Writes the bytes as the content of the secure file at `url`; as ``write(toSecureFile:options:services:)``.
    public func write(toSecureURL url: URL, options: WritingOptions = [], services: SecureServices = .shared) throws(SecureFileError) {
        try write(toSecureFile: try url.securePath(), options: options, services: services)
    }
}

extension URL {
    func securePath() throws(SecureFileError) -> String {
        guard isFileURL else { throw SecureFileError(.invalidArgument, "the URL is not that of a file") }
        return path(percentEncoded: false)
    }
}
