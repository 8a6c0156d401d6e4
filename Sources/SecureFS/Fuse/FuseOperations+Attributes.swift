import CFuse
import Glibc
import SecureFileCore

/// Attributes, extended attributes and the numbers of the file system.
func installAttributeOperations(_ operations: inout fuse_lowlevel_ops) {
    unsafe operations.getattr = { raw, node, _ in
        unsafe answer(raw) { context, _ throws(Errno) in
            try context.fileSystem.attributes(of: NodeID(rawValue: node))
        } _: { context, request, attributes in
            request.reply(attributes, remember: NodeID(rawValue: node).isVolatile ? 0 : context.rememberSeconds)
        }
    }
    unsafe operations.setattr = { raw, node, attributes, bits, info in
        let values = unsafe attributes?.pointee ?? stat()
        let opened: HandleID? = unsafe info == nil ? nil : handle(info)
        unsafe answer(raw) { context, request throws(Errno) in
            var change = AttributeChange(values, bits: bits, losesPrivileges: context.worker.request.killsPrivileges)
            if change.losesPrivileges || change.owner != nil || change.group != nil || change.isOwnerConfirmed || change.isEmpty {
                change.caller = request.callerWithGroups
            }
            return try context.fileSystem.setAttributes(of: NodeID(rawValue: node), opened, change)
        } _: { context, request, attributes in
            request.reply(attributes, remember: NodeID(rawValue: node).isVolatile ? 0 : context.rememberSeconds)
        }
    }
    unsafe operations.statfs = { raw, _ in
        unsafe answer(raw) { context, _ throws(Errno) in
            try context.fileSystem.filesystemStatus()
        } _: { _, request, status in
            request.reply(status)
        }
    }
    // Asked where the kernel does not check by itself, that is of root alone (MountOptions): it may do all but run what is no program.
    unsafe operations.access = { raw, node, mask in
        unsafe answerDone(raw) { context, _ throws(Errno) in
            guard mask & X_OK != 0 else { return }
            let status = try context.fileSystem.attributes(of: NodeID(rawValue: node))
            if status.kind == .regular, status.mode & 0o111 == 0 { throw .accessDenied }
        }
    }
    installExtendedAttributeOperations(&operations)
}

private func installExtendedAttributeOperations(_ operations: inout fuse_lowlevel_ops) {
    unsafe operations.getxattr = { raw, node, name, room in
        let name = unsafe copied(name)
        unsafe answer(raw) { context, _ throws(Errno) in
            try context.fileSystem.extendedAttribute(name, of: NodeID(rawValue: node))
        } _: { _, request, value in
            request.reply(value, room: room)
        }
    }
    unsafe operations.listxattr = { raw, node, room in
        unsafe answer(raw) { context, request throws(Errno) in
            let names = try context.fileSystem.extendedAttributeNames(of: NodeID(rawValue: node))
            let isRoot = request.caller.user == 0
            // As every file system: who may not read what is in `trusted.` does not see it.
            return names.flatMap { isRoot || !$0.starts(with: "trusted.".utf8) ? $0 + [0] : [] }
        } _: { _, request, names in
            request.reply(names, room: room)
        }
    }
    unsafe operations.setxattr = { raw, node, name, value, count, flags in
        let name = unsafe copied(name)
        let value = unsafe [UInt8](UnsafeRawBufferPointer(start: value, count: count))
        unsafe answerDone(raw) { context, request throws(Errno) in
            guard let rule = FileDescriptor.AttributeRule(rawValue: flags) else { throw .invalidArgument }
            let isAccessList = name.elementsEqual("system.posix_acl_access".utf8)
            let caller = isAccessList ? request.callerWithGroups : request.caller
            try context.fileSystem.setExtendedAttribute(name, of: NodeID(rawValue: node), value, rule, caller)
            // The mode has changed with it, which the kernel knows only where it checks permissions.
            if isAccessList { context.kernelCache.forgetAttributes(node) }
        }
    }
    unsafe operations.removexattr = { raw, node, name in
        let name = unsafe copied(name)
        unsafe answerDone(raw) { context, _ throws(Errno) in
            try context.fileSystem.removeExtendedAttribute(name, of: NodeID(rawValue: node))
        }
    }
}
