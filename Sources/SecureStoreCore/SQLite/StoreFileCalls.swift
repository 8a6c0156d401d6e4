import CSQLite
import SecureFileCore

/// What SQLite holds of an open file.
final class StoreFileHolder {
    let file: StoreFile
    let system: StoreFileSystem
    init(_ file: StoreFile, _ system: StoreFileSystem) {
        self.file = file
        self.system = system
    }
}

/// The C functions of an open file. Version 1 of the methods: no memory mapping and no shared memory, so no write-ahead log.
@safe
enum StoreFileCalls {
    /// Made once, never freed.
    nonisolated(unsafe) static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        unsafe methods.initialize(to: sqlite3_io_methods())
        unsafe methods.pointee.iVersion = 1
        unsafe installContent(in: &methods.pointee)
        unsafe installLocks(in: &methods.pointee)
        unsafe installProperties(in: &methods.pointee)
        return unsafe methods
    }()

    @unsafe
    private static func holder(_ file: UnsafeMutablePointer<sqlite3_file>?) -> StoreFileHolder? {
        guard let file = unsafe file else { return nil }
        return unsafe file.withMemoryRebound(to: CSQLite_file.self, capacity: 1) { file in
            guard let object = unsafe file.pointee.object else { return nil }
            return unsafe Unmanaged<StoreFileHolder>.fromOpaque(object).takeUnretainedValue()
        }
    }

    @unsafe
    private static func code(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ body: (StoreFile) throws(SecureFileError) -> ResultCode
    ) -> Int32 {
        guard let holder = unsafe holder(file) else { return SQLITE_MISUSE }
        do throws(SecureFileError) { return try body(holder.file).rawValue } catch { return holder.system.note(error).rawValue }
    }

    @unsafe
    private static func installContent(in methods: inout sqlite3_io_methods) {
        unsafe methods.xRead = { file, bytes, count, offset in
            unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                let destination = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
                return try unsafe file.read(destination, at: offset) == Int(count) ? .ok : .shortRead
            }
        }
        unsafe methods.xWrite = { file, bytes, count, offset in
            unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                try unsafe file.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: offset)
                return .ok
            }
        }
        unsafe methods.xTruncate = { file, size in
            unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                try file.truncate(to: size)
                return .ok
            }
        }
        unsafe methods.xSync = { file, _ in
            unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                try file.synchronize()
                return .ok
            }
        }
        unsafe methods.xFileSize = { file, size in
            unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                unsafe size?.pointee = file.size
                return .ok
            }
        }
        unsafe methods.xClose = { file in
            let result = unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                try file.close()
                return .ok
            }
            unsafe StoreFileCalls.release(file)
            return result
        }
    }

    @unsafe
    private static func release(_ file: UnsafeMutablePointer<sqlite3_file>?) {
        unsafe file?.withMemoryRebound(to: CSQLite_file.self, capacity: 1) { file in
            guard let object = unsafe file.pointee.object else { return }
            unsafe file.pointee.object = nil
            unsafe Unmanaged<StoreFileHolder>.fromOpaque(object).release()
        }
    }

    @unsafe
    private static func installLocks(in methods: inout sqlite3_io_methods) {
        unsafe methods.xLock = { file, level in
            unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                guard let level = StoreLock.Level(rawValue: level) else { return .misuse }
                return try file.raiseLock(to: level) ? .ok : .busy
            }
        }
        unsafe methods.xUnlock = { file, level in
            unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                guard let level = StoreLock.Level(rawValue: level) else { return .misuse }
                try file.lowerLock(to: level)
                return .ok
            }
        }
        unsafe methods.xCheckReservedLock = { file, result in
            unsafe StoreFileCalls.code(file) { file throws(SecureFileError) in
                unsafe result?.pointee = try file.isReserved() ? 1 : 0
                return .ok
            }
        }
    }

    @unsafe
    private static func installProperties(in methods: inout sqlite3_io_methods) {
        unsafe methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        unsafe methods.xSectorSize = { _ in 4096 }
        // What the engine promises of a file after a loss of power. Each aligned block of 4096 bytes is old or new, so bytes beside those written
        // stay (powersafe overwrite). What was appended reads as what was written or as zeros, never as something else, and a journal ends at its
        // first zero record: all that SQLite asks of safe appends.
        unsafe methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_ATOMIC4K | SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_SAFE_APPEND }
    }
}
