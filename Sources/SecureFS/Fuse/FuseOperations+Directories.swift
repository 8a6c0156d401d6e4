import CFuse
import Glibc
import SecureFileCore

/// Open directories.
func installDirectoryOperations(_ operations: inout fuse_lowlevel_ops) {
    unsafe operations.opendir = { raw, node, info in
        let asked = unsafe info?.pointee ?? fuse_file_info()
        unsafe answer(raw) { context, _ throws(Errno) in
            try context.fileSystem.openDirectory(NodeID(rawValue: node))
        } _: { context, request, handle in
            var info = asked
            info.fh = handle.rawValue
            if !request.reply(opened: &info) { context.fileSystem.releaseDirectory(NodeID(rawValue: node), handle) }
        }
    }
    unsafe operations.readdir = { raw, node, room, position, info in
        unsafe readDirectory(raw, node, room, position, info, withAttributes: false)
    }
    unsafe operations.readdirplus = { raw, node, room, position, info in
        unsafe readDirectory(raw, node, room, position, info, withAttributes: true)
    }
    unsafe operations.releasedir = { raw, node, info in
        let opened = unsafe handle(info)
        unsafe answerDone(raw) { context, _ in context.fileSystem.releaseDirectory(NodeID(rawValue: node), opened) }
    }
    unsafe operations.fsyncdir = { raw, node, _, info in
        let opened = unsafe handle(info)
        unsafe answerDone(raw) { context, _ throws(Errno) in try context.fileSystem.synchronizeDirectory(NodeID(rawValue: node), opened) }
    }
}

private func readDirectory(
    _ raw: fuse_req_t?, _ node: fuse_ino_t, _ room: Int, _ position: off_t, _ info: UnsafeMutablePointer<fuse_file_info>?,
    withAttributes: Bool
) {
    let opened = unsafe handle(info)
    unsafe answer(raw) { context, _ throws(Errno) in
        let buffer = context.worker.output(atLeast: room)
        let reply = FuseDirectoryReply(buffer, limit: room, withAttributes: withAttributes, remember: context.rememberSeconds)
        do throws(Errno) {
            try context.fileSystem.readDirectory(
                NodeID(rawValue: node), opened, from: Int(position), withAttributes: withAttributes, into: reply)
        } catch {
            // What has been read is handed over first; the error comes back with the next call if it stays.
            if reply.used == 0 { throw error }
        }
        return (buffer, reply)
    } _: { context, request, result in
        if !request.reply(result.0, count: result.1.used) {
            for node in result.1.lookups { context.fileSystem.forget(node, count: 1) }
        }
    }
}
