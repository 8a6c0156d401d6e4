import SecureFileCore
import Synchronization

/// A vault as a file system: its operations in the extensions, one concern each.
///
/// Locks, in the order they are taken: ``changing`` (renames), a node's ``Node/content``, the ``NodeTable``'s; the engine's file lock
/// stands alone.
package final class VaultFileSystem: FileSystemOperations {
    let vault: Vault
    let context: ContentContext
    let table: NodeTable
    let directories = DirectoryCache()
    let streams = DirectoryHandles()
    let log: MountLog
    /// Files whose backing length does not tell their size, found out when one was opened: the next lookup reads the header.
    let disagreeing = Mutex<Set<InodeKey>>([])
    /// Held while a name changes and the table does not know it yet. Whoever finds another inode than expected waits for it and looks
    /// again.
    let changing = Mutex<Void>(())
    let flusher: Flusher
    let lastRemoved = LastRemoved()
    /// When the session record was read last, in seconds since 1970. ``followWriter()``
    let followed = Atomic<Int64>(0)
    /// Where it pays: on ext4 an fsync of a file that has grown takes twice as long as of one that has not.
    let growth: GrowthAhead?
    /// The vault lies in memory.
    let isInMemory: Bool
    /// Made inodes are given to the caller: only root can do that, and only root has to.
    let givesOwnership: Bool

    package var keepsAccessControlLists: Bool { true }
    package var isSoleUser: Bool { vault.access == .readWrite }

    /// - Parameters:
    ///   - log: Takes a line about a failing file, never with a plaintext name.
    ///   - growth: Which files are lengthened ahead; as the backing file system has it, where nothing is said.
    package init(_ vault: Vault, log: MountLog, isRoot: Bool, growth: GrowthAhead? = nil) throws(Errno) {
        self.vault = vault
        self.log = log
        givesOwnership = isRoot
        context = vault.content
        // Else a late write would undo what utimensat(2) was told.
        precondition(vault.access == .readOnly || context.options.keepsModificationTimes, "open the vault with VaultMount.contentOptions")
        isInMemory = try vault.root.descriptor.isInMemory()
        let isOnExt = try vault.root.descriptor.isOnExt()
        self.growth = growth ?? (vault.access == .readWrite && isOnExt ? GrowthAhead(hasRoom: vault.root.descriptor.hasPlentyOfRoom) : nil)
        table = NodeTable(root: try vault.root.descriptor.status(), hearsOfNothing: vault.access == .readOnly)
        flusher = Flusher(context, vault.root.descriptor, log, descriptorLimit: MountServer.descriptorLimit)
    }

    /// Starts what works in the background. After a fork, if there is one: threads do not survive it.
    package func start() throws(Errno) {
        guard vault.access == .readWrite else { return }
        flusher.onSettled = { [weak self] in
            self?.closeLingering()
            self?.table.noteTrim()
        }
        try flusher.start()
    }

    /// Writes everything that is still held back and ends the session. Nobody may use the file system any more.
    package func finish() throws(SecureFileError) {
        flusher.stop()
        guard vault.access == .readWrite else { return }
        do throws(Errno) { try growth?.end() } catch { log.write("a file keeps zeros behind its end: \(error)") }
        try vault.close()
    }
}
