import SecureFileCore

enum Info: Command {
    static let name = "info"
    static let operands = ["VAULT"]
    static let options: [Option] = [.json]
    static let summary = "Show what can be known of a vault without its key."

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let vault = arguments.operands[0]
        let configuration = try explaining(.vault, vault) { () throws(SecureFileError) in try Vault.readConfiguration(at: vault) }
        let holder = VaultUse.holder(of: vault)
        let output = Output()
        if arguments.has(.json) {
            try output.line(json(vault, configuration, holder).encoded)
        } else {
            try text(vault, configuration, holder, output)
        }
        try output.flush()
        return .success
    }

    private static func text(_ vault: RawPath, _ configuration: VaultConfiguration, _ holder: Int32?, _ output: Output) throws(Failure) {
        try output.line("vault     \(Escaped(vault.bytes))")
        try output.line("id        \(hexadecimal(configuration.volumeID))")
        try output.line("format    \(VaultConfiguration.format)")
        try output.line("cipher    \(configuration.cipher.name)")
        try output.line("created   \(System.timestamp(configuration.created)) UTC")
        try output.line("in use    \(holder.map { "by process \($0)" } ?? "no")")
        for slot in configuration.slots {
            var cost = ""
            if let argon2 = slot.argon2 {
                cost = ": Argon2id, \(Size(argon2.memoryKiB * 1024)), \(argon2.passes) passes, \(argon2.lanes) lanes"
            }
            try output.line("slot      \(slot.name) \(slot.type.rawValue)\(cost)")
        }
    }

    private static func json(_ vault: RawPath, _ configuration: VaultConfiguration, _ holder: Int32?) -> JSON {
        let slots = configuration.slots.map { slot in
            var members: [(String, JSON)] = [("id", .string(slot.name)), ("type", .string(slot.type.rawValue))]
            if let argon2 = slot.argon2 {
                members.append(
                    (
                        "argon2id",
                        .object([
                            ("memoryKiB", .integer(Int64(argon2.memoryKiB))), ("passes", .integer(Int64(argon2.passes))),
                            ("lanes", .integer(Int64(argon2.lanes))),
                        ])
                    ))
            }
            return JSON.object(members)
        }
        return .object(
            JSON.bytes("path", vault.bytes) + [
                ("volumeId", .string(hexadecimal(configuration.volumeID))), ("format", .integer(VaultConfiguration.format)),
                ("cipher", .string(configuration.cipher.name)), ("created", .integer(configuration.created)),
                ("inUseBy", .number(holder)), ("slots", .array(slots)),
            ])
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// A number of bytes for people: `3 KiB`, `1.5 GiB`.
struct Size: CustomStringConvertible {
    let description: String

    init(_ bytes: some BinaryInteger) {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var rest = UInt64(clamping: bytes)
        if rest < 1024 {
            description = rest == 1 ? "1 byte" : "\(rest) bytes"
            return
        }
        var unit = 1
        while rest >= 1 << 20 {
            rest >>= 10
            unit += 1
        }
        let tenths = rest * 10 / 1024
        let isRound = tenths % 10 == 0 || tenths >= 1000
        description = isRound ? "\(tenths / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
