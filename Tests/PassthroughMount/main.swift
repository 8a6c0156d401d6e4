import SecureFS
import SecureFileCore

// passthrough-mount FOLDER MOUNTPOINT [SPIN_MICROSECONDS [THREADS [STREAK]]]: serves until unmounted.
let words = CommandLine.arguments
if words.count < 3 {
    print("usage: passthrough-mount FOLDER MOUNTPOINT [SPIN_MICROSECONDS [THREADS [STREAK]]]")
} else {
    var options = MountOptions()
    options.source = words[1]
    if words.count > 3, let spin = Int(words[3]) { options.tuning.spinNanoseconds = spin * 1000 }
    if words.count > 4, let threads = Int(words[4]) { options.tuning.threadLimit = threads }
    if words.count > 5, let streak = Int(words[5]) { options.tuning.streakLimit = streak }
    MountServer.prepareProcess()
    try MountServer.serve(PassthroughFileSystem(RawPath(words[1])), at: RawPath(words[2]), options) { print("ready") }
}
