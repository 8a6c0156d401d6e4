import CFuse
import Glibc
import SecureFileCore

/// Runs one operation and replies once: the file system's answer through `reply`, or the error it threw.
@inline(__always)
func answer<R>(
    _ raw: fuse_req_t?, _ operation: (FuseContext, borrowing FuseRequest) throws(Errno) -> R,
    _ reply: (FuseContext, consuming FuseRequest, R) -> Void
) {
    guard let raw = unsafe raw else { return }
    let context = unsafe FuseContext.of(raw)
    let request = unsafe FuseRequest(raw)
    let result: Result<R, Errno>
    do throws(Errno) {
        result = .success(try operation(context, request))
    } catch {
        result = .failure(error)
    }
    switch result {
    case .success(let value): reply(context, request, value)
    case .failure(let error): request.reply(error)
    }
}

/// The same for operations that answer "done".
@inline(__always)
func answerDone(_ raw: fuse_req_t?, _ operation: (FuseContext, borrowing FuseRequest) throws(Errno) -> Void) {
    unsafe answer(raw, operation) { _, request, _ in request.replyDone() }
}

/// The same for operations that answer with an entry; if the kernel does not take it, its lookup is taken back.
@inline(__always)
func answerEntry(_ raw: fuse_req_t?, _ operation: (FuseContext, borrowing FuseRequest) throws(Errno) -> Entry?) {
    unsafe answer(raw, operation) { context, request, entry in
        if !request.reply(entry, remember: context.rememberSeconds), let entry { context.fileSystem.forget(entry.node, count: 1) }
    }
}

/// A copy of the name libfuse passes; the kernel never passes none.
func copied(_ name: UnsafePointer<CChar>?) -> [UInt8] {
    guard let name = unsafe name else { return [] }
    return unsafe Array(copying: name)
}

/// The handle we gave out at open, as the kernel hands it back.
func handle(_ info: UnsafeMutablePointer<fuse_file_info>?) -> HandleID {
    HandleID(rawValue: unsafe info?.pointee.fh ?? 0)
}
