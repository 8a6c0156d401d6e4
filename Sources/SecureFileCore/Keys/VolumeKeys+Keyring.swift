/// The volume key in the kernel's keyring: one unlock serves the mount and programs alike, for a time.
extension VolumeKeys {
    /// What the key of the given id is called in the keyring.
    private static func keyringName(_ keyID: UInt64) -> RawPath { RawPath("sfs:" + Hexadecimal.encode(LittleEndian.bytes(keyID))) }

    /// Puts the volume key into the user's keyring: every process of the user can then use it.
    ///
    /// - Parameter seconds: How long it stays; nil: until ``removeFromKeyring(keyID:)``, the user's last process, or the next start.
    /// - Throws: ``SecureFileError``: `.notSupported` where the kernel gives this process no keyring; `.limitExceeded` (quota), `.system`.
    public func putInKeyring(seconds: UInt32? = nil) throws(SecureFileError) {
        do throws(Errno) { try KernelKeyring.put(volumeKey, as: Self.keyringName(keyID), seconds: seconds) } catch {
            throw Self.failure(error, "the key cannot be put into the kernel's keyring")
        }
    }

    /// The keys of the volume key of the given id, as ``putInKeyring(seconds:)`` left it.
    ///
    /// - Throws: ``SecureFileError``: `.keyNotAvailable` where it is not there (any more); `.wrongKey` where something else is there under
    ///   its name; `.notSupported`, `.permissionDenied`, `.system`.
    public static func fromKeyring(keyID: UInt64) throws(SecureFileError) -> VolumeKeys {
        let key: SecretKey
        do throws(Errno) { key = try KernelKeyring.get(keyringName(keyID), count: 32) } catch {
            throw failure(error, "the key cannot be taken from the kernel's keyring")
        }
        let keys: VolumeKeys
        do { keys = try VolumeKeys(volumeKey: key) } catch { throw SecureFileError(error, "the key of the kernel's keyring cannot be used") }
        guard keys.keyID == keyID else { throw SecureFileError(.wrongKey, "the kernel's keyring holds another key under this name") }
        return keys
    }

    /// Removes the key from the keyring, for every process of the user. Where there is none, nothing happens.
    public static func removeFromKeyring(keyID: UInt64) throws(SecureFileError) {
        do throws(Errno) { try KernelKeyring.remove(keyringName(keyID)) } catch {
            if error == .noSystemCall { return }
            throw failure(error, "the key cannot be removed from the kernel's keyring")
        }
    }

    /// Which key is there, by the kernel's number; nil where there is none, or no keyring. For watching: a key that was put anew has another.
    package static func keyringSerial(keyID: UInt64) -> Int32? { try? KernelKeyring.find(keyringName(keyID)) }

    private static func failure(_ error: Errno, _ message: String) -> SecureFileError {
        switch error {
        case .noKey: SecureFileError(.keyNotAvailable, message + ": it is not there; `sfs unlock` puts it there")
        case .keyExpired: SecureFileError(.keyNotAvailable, message + ": its time is over; `sfs unlock` puts it there again")
        case .keyRevoked: SecureFileError(.keyNotAvailable, message + ": it was removed; `sfs unlock` puts it there again")
        case .noSystemCall:
            SecureFileError(.notSupported, message + ": the kernel has none for this process (a container?); use a passphrase or key file")
        case Errno(rawValue: 122): SecureFileError(.limitExceeded, message + ": the user's quota of keys is used up")  // EDQUOT
        case .invalidArgument: SecureFileError(.wrongKey, "the kernel's keyring holds something else under this name")
        default: SecureFileError(error, message)
        }
    }
}
