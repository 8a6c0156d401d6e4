import Glibc
import SecureFS
import SecureFileCore

// For measuring and trying, not for use: serves until unmounted.
//   passthrough-mount FOLDER MOUNTPOINT [SPIN_MICROSECONDS [THREADS [STREAK]]]    plain files, to measure the loop alone
//   passthrough-mount --vault FOLDER MOUNTPOINT [allow_other]                      a vault, made if missing, its passphrase "test"
let words = CommandLine.arguments

/// Through a pipe too, at once.
func sayReady() {
    print("ready")
    fflush(nil)
}

func servePlain() throws {
    var options = MountOptions()
    options.source = words[1]
    if words.count > 3, let spin = Int(words[3]) { options.tuning.spinNanoseconds = spin * 1000 }
    if words.count > 4, let threads = Int(words[4]) { options.tuning.threadLimit = threads }
    if words.count > 5, let streak = Int(words[5]) { options.tuning.streakLimit = streak }
    MountServer.prepareProcess()
    try MountServer.serve(PassthroughFileSystem(RawPath(words[1])), at: RawPath(words[2]), options) { sayReady() }
}

func serveVault() throws {
    let folder = RawPath(words[2])
    let passphrase = Array("test".utf8)
    var creation = Vault.Creation(passphrase: passphrase)
    creation.argon2 = Argon2Parameters(memoryKiB: 64, passes: 1, lanes: 1)
    do { _ = try Vault.create(at: folder, creation) } catch { if error.code != .alreadyExists { throw error } }
    var options = VaultMount.Options()
    options.allowOther = words.contains("allow_other")
    options.source = words[2]
    let vault = try Vault.open(
        at: folder, .passphrase(passphrase), .readWrite, content: VaultMount.contentOptions, log: { print($0) })
    try VaultMount.serve(vault, at: RawPath(words[3]), options, log: { print($0) }, ready: sayReady)
}

if words.count < 3 {
    print("usage: passthrough-mount [--vault] FOLDER MOUNTPOINT …")
} else if words[1] == "--vault", words.count > 3 {
    try serveVault()
} else {
    try servePlain()
}
