import SecureFileCore

/// The key of files outside of a vault: that of a vault, from the kernel's keyring or by its passphrase.
enum StandaloneKey {
    static let options: [Option] = [.vault] + Option.ofKeys

    /// A service with the key that `file` was encrypted with.
    static func services(for file: RawPath, _ arguments: Arguments) throws(Failure) -> SecureServices {
        if arguments.has(.vault) { return try services(arguments) }
        if let option = Option.ofKeys.first(where: arguments.has) { throw .usage("--\(option.name) says how to open a vault: --vault is missing") }
        let services = SecureServices()
        let keyID = try explaining(.entry, file) { () throws(SecureFileError) in try SecureFiles.keyID(ofFileAt: file) }
        do throws(SecureFileError) { try services.unlock(.keyring(keyID: keyID)) } catch {
            guard error.code == .keyNotAvailable || error.code == .notSupported else { throw Failure(error, about: .entry, path: file) }
            throw Failure(.keyNotAvailable, "its key is not in the kernel's keyring: say which vault's it is with --vault VAULT", path: file)
        }
        return services
    }

    /// A service with the key of the vault that `--vault` names.
    static func services(_ arguments: Arguments) throws(Failure) -> SecureServices {
        guard let given = arguments.value(.vault) else { throw .usage("--vault is missing: whose key is to be used") }
        let vault = RawPath(given)
        _ = try explaining(.vault, vault) { () throws(SecureFileError) in try Vault.readConfiguration(at: vault) }
        let services = SecureServices()
        if !Option.ofKeys.contains(where: arguments.has), (try? services.unlock(.keyring(ofVault: vault))) != nil { return services }
        let credential = try Secrets(arguments).credential(for: vault)
        try explaining(.vault, vault) { () throws(SecureFileError) in
            try credential.use { (credential) throws(SecureFileError) in try services.unlock(.vault(vault, credential)) }
        }
        return services
    }
}
