/// The argument of -o, as mount(8) has it: options separated by commas. `\,` is a comma in a value, `\\` a backslash.
struct MountOptionList: Equatable {
    var isReadOnly = false
    var allowsOther = false
    /// The store directory is listed in the root.
    var showsStores = false
    /// Sockets, pipes and devices are shown, and may be made.
    var showsSpecialFiles = false
    /// The mount point need not be empty.
    var allowsNonEmpty = false
    var passfile: [UInt8]?
    /// Minutes without use after which the mount is locked; 0: never.
    var autoLockMinutes = 0
    static let autoLockRange = 0...1_000_000
    /// What the kernel takes care of.
    var passedOn: [String] = []

    /// Those of mount(8) that the kernel obeys for any filesystem.
    private static let kernels: Set<String> = [
        "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async", "dirsync", "noatime", "nodiratime",
    ]
    /// Those that say nothing to a filesystem, or what holds anyway.
    private static let ignored: Set<String> = [
        "defaults", "auto", "noauto", "user", "nouser", "users", "owner", "group", "_netdev", "nofail", "relatime", "norelatime",
        "strictatime",
        "nostrictatime", "lazytime", "nolazytime", "atime", "diratime", "silent", "loud", "mand", "nomand", "iversion", "noiversion",
        "default_permissions",
    ]
    private static let ignoredPrefixes = ["x-", "X-", "user=", "uhelper=", "helper=", "comment="]

    /// - Throws: ``Failure`` for what is not known.
    init(_ lists: [[UInt8]]) throws(Failure) {
        for list in lists { for option in Self.split(list) { try add(option) } }
    }

    private mutating func add(_ option: [UInt8]) throws(Failure) {
        if option.starts(with: "passfile=".utf8) {
            passfile = Array(option.dropFirst("passfile=".utf8.count))
            return
        }
        let text = String(decoding: option, as: UTF8.self)
        if text.hasPrefix("auto_lock=") {
            guard let minutes = Int(text.dropFirst("auto_lock=".count)), Self.autoLockRange.contains(minutes) else {
                throw .usage("auto_lock takes a number of minutes")
            }
            autoLockMinutes = minutes
            return
        }
        switch text {
        case "": break
        case "ro": isReadOnly = true
        case "rw": isReadOnly = false
        case "allow_other": allowsOther = true
        case "nonempty": allowsNonEmpty = true
        case "show_stores": showsStores = true
        case "special_files": showsSpecialFiles = true
        default:
            if Self.kernels.contains(text) {
                passedOn.append(text)
            } else if !Self.ignored.contains(text), !Self.ignoredPrefixes.contains(where: { text.hasPrefix($0) }) {
                throw .usage("unknown mount option \(Escaped(option))")
            }
        }
    }

    private static func split(_ list: [UInt8]) -> [[UInt8]] {
        var options: [[UInt8]] = [[]]
        var isEscaped = false
        for byte in list {
            if isEscaped || (byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\\")) {
                options[options.count - 1].append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                options.append([])
            }
        }
        return options
    }
}
