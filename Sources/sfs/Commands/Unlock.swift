import SecureFS
import SecureFileCore

enum Unlock: Command {
    static let name = "unlock"
    static let operands = ["MOUNTPOINT|VAULT"]
    static let options: [Option] = [.timeout, .noKeyring] + Option.ofKeys
    static let summary = "Give a locked mount its key again, and put it into the kernel's keyring."
    static let details = """
        In the keyring programs of the user find it: `sfs encrypt`, `sfs decrypt`, `sfs cat`, and those that use the library.
        """

    /// As long as an `sfs unlock` lasts in the keyring, where nothing else is said.
    private static let standardMinutes = 60
    private static let minutesMaximum = 1_000_000

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let given = arguments.operands[0]
        let minutes = try arguments.number(.timeout, in: 0...minutesMaximum) ?? standardMinutes
        let target = try LockTarget(given)
        let credential = try Secrets(arguments).credential(for: given)
        let keys = try explaining(.vault, given) { () throws(SecureFileError) in
            try credential.use { (credential) throws(SecureFileError) in try Vault.open(at: target.vault, credential, .readOnly).keys }
        }
        try target.forEachMount { (mount) throws(SecureFileError) in try mount.unlock(with: keys) }
        if arguments.has(.noKeyring) { return .success }
        do throws(SecureFileError) {
            try keys.putInKeyring(seconds: minutes == 0 ? nil : UInt32(minutes * 60))
        } catch {
            guard error.code == .notSupported, !target.mounts.isEmpty else { throw Failure(error, about: .vault, path: given) }
            Console.complain(name, given, "the mount is unlocked; \(error.message)")
        }
        return .success
    }
}
