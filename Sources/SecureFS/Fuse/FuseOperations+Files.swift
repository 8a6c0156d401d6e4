import CFuse
import Glibc
import CLinux
import SecureFileCore

/// Open files.
func installFileOperations(_ operations: inout fuse_lowlevel_ops) {
    installOpenOperations(&operations)
    unsafe operations.read = { raw, node, count, offset, info in
        let opened = unsafe handle(info)
        unsafe answer(raw) { context, _ throws(Errno) in
            let buffer = context.worker.output(atLeast: count)
            let got = try context.fileSystem.read(NodeID(rawValue: node), opened, at: Int64(offset), count: count, into: buffer)
            return (buffer, got)
        } _: { _, request, data in
            _ = request.reply(data.0, count: data.1)
        }
    }
    unsafe operations.write = { raw, node, data, count, offset, info in
        let opened = unsafe handle(info)
        let bytes = unsafe UnsafeRawBufferPointer(start: data, count: count)
        unsafe answer(raw) { context, request throws(Errno) in
            let hidden = context.worker.request
            // With its write-back cache, the kernel keeps the times for what it writes past that cache (O_DIRECT) as well.
            let keepsTime = hidden.isWriteBack || context.fileSystem.isSoleUser
            let origin = WriteOrigin(losesPrivileges: hidden.killsPrivileges ? request.callerWithGroups : nil, isWriteBack: keepsTime)
            let span = unsafe Span<UInt8>(_unsafeBytes: bytes)
            try context.fileSystem.write(NodeID(rawValue: node), opened, span, at: Int64(offset), origin)
            // The set-id bits went with it, which the kernel leaves us to tell.
            if hidden.killsPrivileges { context.kernelCache.forgetAttributes(node) }
        } _: { _, request, _ in
            request.reply(written: count)
        }
    }
    unsafe operations.flush = { raw, node, info in
        let opened = unsafe handle(info)
        unsafe answerDone(raw) { context, _ throws(Errno) in try context.fileSystem.flush(NodeID(rawValue: node), opened) }
    }
    unsafe operations.release = { raw, node, info in
        let opened = unsafe handle(info)
        unsafe answerDone(raw) { context, _ in context.fileSystem.release(NodeID(rawValue: node), opened) }
    }
    unsafe operations.fsync = { raw, node, contentOnly, info in
        let opened = unsafe handle(info)
        unsafe answerDone(raw) { context, _ throws(Errno) in
            try context.fileSystem.synchronize(NodeID(rawValue: node), opened, contentOnly: contentOnly != 0)
        }
    }
    unsafe operations.fallocate = { raw, node, flags, offset, count, info in
        let opened = unsafe handle(info)
        unsafe answerDone(raw) { context, request throws(Errno) in
            guard let mode = AllocationMode(flags: flags) else { throw .notSupported }
            let caller = request.callerWithGroups
            try context.fileSystem.allocate(NodeID(rawValue: node), opened, at: Int64(offset), count: Int64(count), mode, caller)
            if caller.user != 0 { context.kernelCache.forgetAttributes(node) }
        }
    }
    unsafe operations.lseek = { raw, node, offset, whence, info in
        let opened = unsafe handle(info)
        unsafe answer(raw) { context, _ throws(Errno) in
            guard whence == CLinux_SEEK_DATA || whence == CLinux_SEEK_HOLE else { throw .invalidArgument }
            let target: SeekTarget = whence == CLinux_SEEK_DATA ? .data : .hole
            // What only the kernel has is no hole: `cp` of a file that is still open would leave it out.
            if context.fileSystem.isSoleUser { context.kernelCache.flush(node) }
            return try context.fileSystem.seek(NodeID(rawValue: node), opened, from: Int64(offset), to: target)
        } _: { _, request, found in
            request.reply(offset: found)
        }
    }
}

/// Where every change comes through this mount, what the kernel has cached of a file stays good when it is opened again.
private func opened(_ info: fuse_file_info, _ handle: HandleID, _ context: FuseContext) -> fuse_file_info {
    var info = info
    info.fh = handle.rawValue
    info.keep_cache = context.fileSystem.isSoleUser && !handle.isVolatile ? 1 : 0
    // Others change it too: each call is to reach us.
    if handle.isVolatile { info.direct_io = 1 }
    return info
}

private func installOpenOperations(_ operations: inout fuse_lowlevel_ops) {
    unsafe operations.open = { raw, node, info in
        let asked = unsafe info?.pointee ?? fuse_file_info()
        unsafe answer(raw) { context, request throws(Errno) in
            let kills = context.worker.request.killsPrivileges
            let intent = OpenIntent(flags: asked.flags, losesPrivileges: kills ? request.callerWithGroups : nil)
            return try context.fileSystem.open(NodeID(rawValue: node), intent)
        } _: { context, request, handle in
            var info = opened(asked, handle, context)
            if !request.reply(opened: &info) { context.fileSystem.release(NodeID(rawValue: node), handle) }
        }
    }
    unsafe operations.create = { raw, parent, name, mode, info in
        let name = unsafe copied(name)
        let asked = unsafe info?.pointee ?? fuse_file_info()
        unsafe answer(raw) { context, request throws(Errno) in
            let hidden = context.worker.request
            let intent = OpenIntent(flags: asked.flags, losesPrivileges: nil)
            let directory = NodeID(rawValue: parent)
            if hidden.isUnnamed {
                return try context.fileSystem.createUnnamed(in: directory, mode: mode & 0o7777, intent, request.caller)
            }
            return try context.fileSystem.create(name, in: directory, mode: mode & 0o7777, intent, request.caller)
        } _: { context, request, created in
            var info = opened(asked, created.handle, context)
            if !request.reply(created.entry, opened: &info, remember: context.rememberSeconds) {
                context.fileSystem.release(created.entry.node, created.handle)
                context.fileSystem.forget(created.entry.node, count: 1)
            }
        }
    }
}
