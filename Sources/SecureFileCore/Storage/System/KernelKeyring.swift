import CLinux
import Glibc

/// The keyring that the kernel keeps for the user: keys in kernel memory, never swapped, that go by themselves after a time. Every process of
/// the same user can read them.
///
/// The keys are of the type `user`: one of the type `logon` could not be read back by any process.
enum KernelKeyring {
    /// Puts `key` under `name`, in the place of one that is there, and has it go after `seconds`; nil: only with the last process of the user,
    /// or at the next start of the machine.
    ///
    /// - Throws: `.noSystemCall` where the kernel has no keyring, or it is closed to this process (a container); `.quotaExceeded`; `.noMemory`.
    static func put(_ key: SecretKey, as name: RawPath, seconds: UInt32?) throws(Errno) {
        let serial: Int32 = try explaining {
            unsafe name.withCString { name in unsafe key.withBytes { unsafe CLinux_key_add(name, $0.baseAddress, $0.count) } }
        }
        do throws(Errno) {
            // View, read, search and set attributes: for this process, and for the user's others, which may have a session keyring of their own.
            _ = try explaining { CLinux_key_set_permissions(serial, 0x3f2b_0000) }
            _ = try explaining { CLinux_key_set_timeout(serial, seconds ?? 0) }
        } catch {
            _ = CLinux_key_invalidate(serial)
            throw error
        }
    }

    /// The key under `name`, which has `count` bytes.
    ///
    /// - Throws: `.noKey` where there is none, `.keyExpired`, `.keyRevoked` where there was one; `.accessDenied`; `.noSystemCall`;
    ///   `.invalidArgument` for one of another length.
    static func get(_ name: RawPath, count: Int) throws(Errno) -> SecretKey {
        let serial = try find(name)
        return try unsafe SecretKey(count: count) { (bytes: UnsafeMutableRawBufferPointer) throws(Errno) in
            // A length of its own: what is longer must not be cut to a key.
            let got: Int = try explaining { unsafe CLinux_key_read(serial, bytes.baseAddress, bytes.count) }
            if got != count { throw .invalidArgument }
        }
    }

    /// Removes the key under `name`, at once for every process. Without one there nothing happens.
    static func remove(_ name: RawPath) throws(Errno) {
        let serial: Int32
        do throws(Errno) { serial = try find(name) } catch {
            if [.noKey, .keyExpired, .keyRevoked].contains(error) { return }
            throw error
        }
        _ = try explaining { CLinux_key_invalidate(serial) }
    }

    /// The kernel's number of the key under `name`: another one when it has been put anew.
    static func find(_ name: RawPath) throws(Errno) -> Int32 {
        try explaining { unsafe name.withCString { unsafe CLinux_key_find($0) } }
    }

    private static func explaining<N: SignedInteger & FixedWidthInteger>(_ call: () -> N) throws(Errno) -> N {
        let result = call()
        if result >= 0 { return result }
        let error = Errno.last
        // Seccomp filters of containers refuse the calls with EPERM.
        throw error == .notPermitted ? .noSystemCall : error
    }
}
