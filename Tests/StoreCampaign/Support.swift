import Foundation
import SecureFileCore
import SecureStoreCore
import TestSupport

enum Support {
    static func store(_ folder: String, _ name: String) -> SecureDatabaseStore {
        SecureDatabaseStore(fullDatabasePath: folder + "/" + name, keyDerivation: .insecureMinimum)
    }

    static func seconds() -> Double { ProcessInfo.processInfo.systemUptime }

    /// This program again, with other arguments; its lines come through the pipe.
    static func spawn(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        return (process, pipe)
    }

    /// The files of the folder that contain `text`: none may.
    static func filesWith(_ text: String, in folder: String) throws -> [String] {
        let wanted = Data(text.utf8)
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
            (try? Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))?.range(of: wanted) != nil
        }
    }

    /// The same for every file this process has open: temporary files have no name.
    static func openFilesWith(_ text: String) throws -> [String] {
        let wanted = Data(text.utf8)
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
            let path = "/proc/self/fd/" + name
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path), target.hasPrefix("/"), !target.hasPrefix("/dev/"),
                let data = try? Data(contentsOf: URL(fileURLWithPath: path))
            else { return false }
            return data.range(of: wanted) != nil
        }
    }
}

/// A line that is out at once, also where the output is a pipe.
func say(_ line: Any) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
