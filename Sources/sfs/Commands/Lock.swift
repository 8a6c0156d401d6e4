import SecureFS
import SecureFileCore

enum Lock: Command {
    static let name = "lock"
    static let operands = ["MOUNTPOINT|VAULT"]
    static let options: [Option] = [.force]
    static let summary = "Take the key away from a mounted vault, and from the kernel's keyring."
    static let details = """
        The mount stays, and so do the files that programs have open: everything is written first, then calls on names and content fail
        with "Required key not available" until `sfs unlock`. It can be unmounted. Of a vault all mounts of this user are locked.
        """

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let target = try LockTarget(arguments.operands[0])
        let isForced = arguments.has(.force)
        try target.forEachMount { (mount) throws(SecureFileError) in try mount.lock(discardingUnwritten: isForced) }
        try explaining(.vault, target.vault) { () throws(SecureFileError) in try VolumeKeys.removeFromKeyring(keyID: target.keyID) }
        return .success
    }
}
