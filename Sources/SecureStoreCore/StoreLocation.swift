import SecureFileCore
import Synchronization

/// Where stores lie that are not given a full path: in the open vault that the program has named, else in the user's data folder.
public enum StoreLocation {
    private static let current = Mutex<Vault?>(nil)

    /// From now on stores without a full path are made and looked for in `vault`, their names encrypted; nil: in the data folder again.
    ///
    /// Stores that are open already stay where they are.
    public static func use(_ vault: Vault?) { current.withLock { $0 = vault } }

    /// `$XDG_DATA_HOME/sfs/stores`, by default `~/.local/share/sfs/stores`.
    public static var dataFolder: String {
        let base = CurrentProcess.environmentValue("XDG_DATA_HOME")
        // The standard says to ignore a relative path.
        if let base, base.hasPrefix("/") { return base + "/sfs/stores" }
        return (CurrentProcess.environmentValue("HOME") ?? "") + "/.local/share/sfs/stores"
    }

    /// The folder as it is to be used now, made if it is missing.
    static func folder() throws(SecureFileError) -> StoreFolder {
        if let vault = current.withLock({ $0 }) { return try StoreFolder(of: vault) }
        let path = dataFolder
        try makeFolders(path)
        return try StoreFolder(RawPath(path))
    }

    private static func makeFolders(_ path: String) throws(SecureFileError) {
        var made = ""
        do throws(Errno) {
            let start = try FileDescriptor.open(RawPath("/"), [.pathOnly, .directory])
            for part in path.split(separator: "/") {
                made += "/" + part
                do throws(Errno) { try start.makeDirectory(RawPath(made), permissions: 0o700) } catch {
                    if error != .exists && error != .readOnly && error != .accessDenied { throw error }
                }
            }
        } catch { throw SecureFileError(error, "the folder of the stores cannot be made", path: path) }
    }
}
