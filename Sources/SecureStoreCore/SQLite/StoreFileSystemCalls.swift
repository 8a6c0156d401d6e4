import CSQLite
import SecureFileCore

/// The C functions of the VFS: each finds its object, calls it, and turns what it throws into a result code.
@safe
enum StoreFileSystemCalls {
    @unsafe
    static func install(in vfs: inout sqlite3_vfs) {
        unsafe vfs.xOpen = { vfs, name, file, flags, outFlags in
            guard let vfs = unsafe vfs, let file = unsafe file else { return SQLITE_MISUSE }
            return unsafe StoreFileSystemCalls.open(vfs, name, file, flags, outFlags)
        }
        unsafe vfs.xDelete = { vfs, name, durably in
            guard let system = unsafe StoreFileSystemCalls.fileSystem(vfs), let name = unsafe name,
                unsafe String(cString: name) == StoreFileSystem.journalName
            else {
                return SQLITE_IOERR
            }
            return StoreFileSystemCalls.code(system) { () throws(SecureFileError) in
                try system.deleteJournal(durably: durably != 0) ? .ok : .notThereToDelete
            }
        }
        unsafe vfs.xAccess = { vfs, name, _, result in
            guard let system = unsafe StoreFileSystemCalls.fileSystem(vfs), let name = unsafe name else { return SQLITE_IOERR }
            unsafe result?.pointee = unsafe system.exists(String(cString: name)) ? 1 : 0
            return SQLITE_OK
        }
        unsafe vfs.xFullPathname = { _, name, capacity, full in
            guard let name = unsafe name, let full = unsafe full else { return SQLITE_CANTOPEN }
            let characters = unsafe String(cString: name).utf8CString
            guard characters.count <= Int(capacity) else { return SQLITE_CANTOPEN }
            for (place, character) in characters.enumerated() { unsafe full[place] = character }
            return SQLITE_OK
        }
    }

    @unsafe
    private static func fileSystem(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> StoreFileSystem? {
        guard let data = unsafe vfs?.pointee.pAppData else { return nil }
        return unsafe Unmanaged<StoreFileSystem>.fromOpaque(data).takeUnretainedValue()
    }

    private static func code(_ system: StoreFileSystem, _ body: () throws(SecureFileError) -> ResultCode) -> Int32 {
        do throws(SecureFileError) { return try body().rawValue } catch { return system.note(error).rawValue }
    }

    @unsafe
    private static func open(
        _ vfs: UnsafeMutablePointer<sqlite3_vfs>, _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        unsafe file.pointee.pMethods = nil
        guard let system = unsafe StoreFileSystemCalls.fileSystem(vfs) else { return SQLITE_MISUSE }
        let path = unsafe name.map { unsafe String(cString: $0) }
        do throws(SecureFileError) {
            let opened: StoreFile
            switch path {
            case nil: opened = try system.openTemporary()
            case StoreFileSystem.databaseName: opened = try system.openDatabase()
            case StoreFileSystem.journalName: opened = try system.openJournal(creating: flags & SQLITE_OPEN_CREATE != 0)
            default: throw SecureFileError(.permissionDenied, "a store can use no other file")
            }
            unsafe outFlags?.pointee = flags
            let holder = StoreFileHolder(opened, system)
            unsafe file.withMemoryRebound(to: CSQLite_file.self, capacity: 1) { file in
                unsafe file.pointee.object = Unmanaged.passRetained(holder).toOpaque()
                unsafe file.pointee.base.pMethods = UnsafePointer(StoreFileCalls.methods)
            }
            return SQLITE_OK
        } catch {
            _ = system.note(error)
            return SQLITE_CANTOPEN
        }
    }
}
