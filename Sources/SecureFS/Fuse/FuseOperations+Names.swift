import CFuse
import Glibc
import SecureFileCore

/// Lookup, and everything that makes, removes and moves names.
func installNameOperations(_ operations: inout fuse_lowlevel_ops) {
    unsafe operations.lookup = { raw, parent, name in
        let name = unsafe copied(name)
        unsafe answerEntry(raw) { context, _ throws(Errno) in try context.fileSystem.lookup(name, in: NodeID(rawValue: parent)) }
    }
    unsafe operations.forget = { raw, node, count in
        guard let raw = unsafe raw else { return }
        unsafe FuseContext.of(raw).fileSystem.forget(NodeID(rawValue: node), count: count)
        unsafe FuseRequest(raw).finish()
    }
    unsafe operations.forget_multi = { raw, count, list in
        guard let raw = unsafe raw else { return }
        let fileSystem = unsafe FuseContext.of(raw).fileSystem
        for unsafe item in unsafe UnsafeBufferPointer(start: list, count: count) {
            fileSystem.forget(NodeID(rawValue: item.ino), count: item.nlookup)
        }
        unsafe FuseRequest(raw).finish()
    }
    unsafe operations.mknod = { raw, parent, name, mode, device in
        let name = unsafe copied(name)
        unsafe answerEntry(raw) { context, request throws(Errno) in
            let directory = NodeID(rawValue: parent)
            guard let kind = FileKind(mode: mode), kind.isSpecial else {
                if mode & S_IFMT != S_IFREG && mode & S_IFMT != 0 { throw .invalidArgument }
                return try context.fileSystem.makeFile(name, in: directory, mode: mode & 0o7777, request.caller)
            }
            return try context.fileSystem.makeSpecialFile(
                name, in: directory, kind, mode: mode & 0o7777, device: UInt64(device), request.caller)
        }
    }
    unsafe operations.mkdir = { raw, parent, name, mode in
        let name = unsafe copied(name)
        unsafe answerEntry(raw) { context, request throws(Errno) in
            try context.fileSystem.makeDirectory(name, in: NodeID(rawValue: parent), mode: mode & 0o7777, request.caller)
        }
    }
    unsafe operations.symlink = { raw, target, parent, name in
        let (name, target) = unsafe (copied(name), copied(target))
        unsafe answerEntry(raw) { context, request throws(Errno) in
            try context.fileSystem.makeSymlink(name, in: NodeID(rawValue: parent), target: target, request.caller)
        }
    }
    unsafe operations.link = { raw, node, parent, name in
        let name = unsafe copied(name)
        unsafe answerEntry(raw) { context, _ throws(Errno) in
            try context.fileSystem.link(NodeID(rawValue: node), as: name, in: NodeID(rawValue: parent))
        }
    }
    unsafe operations.unlink = { raw, parent, name in
        let name = unsafe copied(name)
        unsafe answerDone(raw) { context, _ throws(Errno) in try context.fileSystem.remove(name, in: NodeID(rawValue: parent)) }
    }
    unsafe operations.rmdir = { raw, parent, name in
        let name = unsafe copied(name)
        unsafe answerDone(raw) { context, _ throws(Errno) in try context.fileSystem.removeDirectory(name, in: NodeID(rawValue: parent)) }
    }
    unsafe operations.rename = { raw, parent, name, newParent, newName, flags in
        let (name, newName) = unsafe (copied(name), copied(newName))
        unsafe answerDone(raw) { context, _ throws(Errno) in
            guard let rule = FileDescriptor.RenameRule(flags: flags) else { throw .invalidArgument }
            try context.fileSystem.rename(
                name, in: NodeID(rawValue: parent), to: newName, in: NodeID(rawValue: newParent), rule)
        }
    }
    unsafe operations.readlink = { raw, node in
        unsafe answer(raw) { context, _ throws(Errno) in
            try context.fileSystem.symlinkTarget(of: NodeID(rawValue: node))
        } _: { _, request, target in
            request.reply(symlinkTarget: target)
        }
    }
}

extension FileDescriptor.RenameRule {
    init?(flags: UInt32) {
        switch flags {
        case 0: self = .replace
        case UInt32(1): self = .noReplace  // RENAME_NOREPLACE
        case UInt32(2): self = .exchange  // RENAME_EXCHANGE
        default: return nil
        }
    }
}
