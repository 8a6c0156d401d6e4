import FoundationEssentials

// Foundation's constructors, in its two forms and the seed's third. Each takes the service as a last argument where it is not the shared one.
extension SecureFileHandle {
    /// Opens the file at `url` for reading.
    ///
    /// - Throws: ``SecureFileError``: as ``init(opening:for:services:)``; `.invalidArgument` for a URL that is no file's.
    public convenience init(forReadingFrom url: URL, services: SecureServices = .shared) throws(SecureFileError) {
        try self.init(opening: try url.securePath(), for: .reading, services: services)
    }

    /// Opens the file at `url` for writing, from its start; nothing is cut.
    ///
    /// - Throws: as ``init(forReadingFrom:services:)``.
    public convenience init(forWritingTo url: URL, services: SecureServices = .shared) throws(SecureFileError) {
        try self.init(opening: try url.securePath(), for: .writing, services: services)
    }

    /// Opens the file at `url` for reading and writing.
    ///
    /// - Throws: as ``init(forReadingFrom:services:)``.
    public convenience init(forUpdating url: URL, services: SecureServices = .shared) throws(SecureFileError) {
        try self.init(opening: try url.securePath(), for: .updating, services: services)
    }

    // MARK: By path, without an error

    /// Opens the file at `path` for reading; nil where that fails.
    public convenience init?(forReadingAtPath path: String, services: SecureServices = .shared) {
        try? self.init(opening: path, for: .reading, services: services)
    }

    /// Opens the file at `path` for writing, from its start; nil where that fails.
    public convenience init?(forWritingAtPath path: String, services: SecureServices = .shared) {
        try? self.init(opening: path, for: .writing, services: services)
    }

    /// Opens the file at `path` for reading and writing; nil where that fails.
    public convenience init?(forUpdatingAtPath path: String, services: SecureServices = .shared) {
        try? self.init(opening: path, for: .updating, services: services)
    }

    // MARK: With the seed's error argument

    /// Opens the file at `path` for reading; where that fails, nil, and `error` says why: a ``SecureFileError``.
    public convenience init?(forReadingAtPath path: String, error: inout (any Error)?, services: SecureServices = .shared) {
        do throws(SecureFileError) { try self.init(opening: path, for: .reading, services: services) } catch let failure {
            error = failure
            return nil
        }
    }

    /// Opens the file at `path` for writing; where that fails, nil, and `error` says why.
    public convenience init?(forWritingAtPath path: String, error: inout (any Error)?, services: SecureServices = .shared) {
        do throws(SecureFileError) { try self.init(opening: path, for: .writing, services: services) } catch let failure {
            error = failure
            return nil
        }
    }

    /// Opens the file at `path` for reading and writing; where that fails, nil, and `error` says why.
    public convenience init?(forUpdatingAtPath path: String, error: inout (any Error)?, services: SecureServices = .shared) {
        do throws(SecureFileError) { try self.init(opening: path, for: .updating, services: services) } catch let failure {
            error = failure
            return nil
        }
    }

    /// Opens the file at `url` for reading; where that fails, nil, and `error` says why.
    public convenience init?(forReadingFrom url: URL, error: inout (any Error)?, services: SecureServices = .shared) {
        do throws(SecureFileError) { try self.init(forReadingFrom: url, services: services) } catch let failure {
            error = failure
            return nil
        }
    }

    /// Opens the file at `url` for writing; where that fails, nil, and `error` says why.
    public convenience init?(forWritingTo url: URL, error: inout (any Error)?, services: SecureServices = .shared) {
        do throws(SecureFileError) { try self.init(forWritingTo: url, services: services) } catch let failure {
            error = failure
            return nil
        }
    }

    /// Opens the file at `url` for reading and writing; where that fails, nil, and `error` says why.
    public convenience init?(forUpdating url: URL, error: inout (any Error)?, services: SecureServices = .shared) {
        do throws(SecureFileError) { try self.init(forUpdating: url, services: services) } catch let failure {
            error = failure
            return nil
        }
    }
}
