/// What the kernel keeps of a mount, as far as its server can have it forgotten.
package protocol KernelCaches: Sendable {
    /// Has the kernel hand over everything it holds back; returns when it was taken.
    func synchronize()
    /// Returns when every request that was begun before is answered.
    func waitForRequests()
    func forgetAttributes(of nodes: [NodeID])
    func forgetContent(of nodes: [NodeID])
    /// All entries; `ofRoot` names those of the root, for kernels that cannot forget all at once.
    func forgetEntries(ofRoot names: [[UInt8]])
    /// Wipes the memory requests and answers pass through.
    func wipeBuffers()
}

/// The kernel's caches of a mount that is served.
struct MountCaches: KernelCaches {
    let session: FuseSession
    let loop: FuseLoop

    func synchronize() { MountPoint.synchronize(session.mountPoint) }
    func waitForRequests() { loop.waitForRequests() }
    func forgetAttributes(of nodes: [NodeID]) { for node in nodes { session.forgetAttributes(of: node) } }
    func forgetContent(of nodes: [NodeID]) { for node in nodes { session.forgetContent(of: node) } }

    func forgetEntries(ofRoot names: [[UInt8]]) {
        if session.forgetAllEntries() { return }
        for name in names { session.forgetEntry(name, in: .root) }
    }

    func wipeBuffers() { loop.wipeBuffers() }
}
