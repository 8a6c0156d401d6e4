// Speed of the file handle, against plain reads and writes of the same file system and against the bare cipher of one core.
//
// usage: handle-bench FOLDER [MIB [ROUNDS [FILTER]]]     prints one line a row: name, megabytes a second (median and best), tab-separated
//
// FOLDER is best on a tmpfs: then what is measured is our own work. The bare cipher is measured by `openssl speed`, which scripts/bench runs.
import Glibc
import SecureFileCore

let arguments = CommandLine.arguments
func complain(_ text: String) { try? FileDescriptor(adopting: 2).writeStream(Array("handle-bench: \(text)\n".utf8)) }

guard arguments.count > 1 else {
    complain("usage: handle-bench FOLDER [MIB [ROUNDS [FILTER]]]")
    exit(2)
}
let folder = arguments[1] + "/handle-bench.\(getpid())"
let size = (arguments.count > 2 ? Int(arguments[2]) ?? 512 : 512) << 20
let rounds = arguments.count > 3 ? Int(arguments[3]) ?? 5 : 5
try FileDescriptor.open(RawPath(arguments[1]), [.pathOnly, .directory]).makeDirectory(RawPath("handle-bench.\(getpid())"), permissions: 0o700)

var bench = Bench(folder: folder, size: size, rounds: rounds, filter: arguments.count > 4 ? arguments[4] : "")
do {
    try bench.run()
} catch {
    complain("\(error)")
    bench.remove()
    exit(1)
}
bench.remove()
