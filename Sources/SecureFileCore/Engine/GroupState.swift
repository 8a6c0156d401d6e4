/// The metadata page of one group in memory, and what is known of its blocks since the last sync.
///
/// Changed only under the file's exclusive lock.
final class GroupState: @unchecked Sendable {
    let index: GroupIndex
    let page: MetadataPage
    /// The group's key. FORMAT section 4.
    let key: SecretKey
    /// The page in memory has changes that the store does not have.
    var isDirty = false
    /// Seals since the page was last sealed, for its sequence field.
    var seals: UInt64 = 0
    /// Blocks of the group whose newest content is in memory only. ``SecureFile/hold(_:in:_:)``.
    var pending = PendingBlocks()

    /// The file's sync count the three sets belong to; with an older one they are empty.
    private var epoch: UInt64
    /// Blocks whose data was written since the last sync.
    private var unsyncedBits: UInt64 = 0
    /// Of these, those that had no owed version: nobody needs what they replace.
    private var freshBits: UInt64 = 0
    /// Blocks cleared since the last sync whose data page an owed entry may still name.
    private var droppedBits: UInt64 = 0

    init(index: GroupIndex, page: MetadataPage, key: SecretKey, epoch: UInt64) {
        self.index = index
        self.page = page
        self.key = key
        self.epoch = epoch
    }

    private func bits(_ bits: UInt64, _ now: UInt64) -> UInt64 { epoch == now ? bits : 0 }

    private func bringTo(_ now: UInt64) {
        if epoch == now { return }
        (unsyncedBits, freshBits, droppedBits, epoch) = (0, 0, 0, now)
    }

    func isFresh(_ index: Int, _ now: UInt64) -> Bool { bits(freshBits, now) >> UInt64(index) & 1 == 1 }
    func isDropped(_ index: Int, _ now: UInt64) -> Bool { bits(droppedBits, now) >> UInt64(index) & 1 == 1 }
    /// Of the blocks `wanted`, those written or cleared since the last sync.
    func changed(_ wanted: UInt64, _ now: UInt64) -> UInt64 { bits(unsyncedBits | droppedBits, now) & wanted }

    /// Whether anything is known that would be lost with this object.
    func remembersWrites(_ now: UInt64) -> Bool { epoch == now && (unsyncedBits | freshBits | droppedBits) != 0 }

    /// Takes note that the data of `blocks` was written; `fresh`: no owed version of them exists.
    func noteWritten(_ blocks: UInt64, fresh: Bool, _ now: UInt64) {
        bringTo(now)
        unsyncedBits |= blocks
        if fresh { freshBits |= blocks } else { freshBits &= ~blocks }
    }

    func noteDropped(_ index: Int, _ now: UInt64) {
        bringTo(now)
        droppedBits |= 1 << UInt64(index)
        freshBits &= ~(1 << UInt64(index))
    }

    /// For a page read again in the epoch in which it was given up: whatever may have been noted counts as noted.
    func assumeWorst(_ now: UInt64) {
        bringTo(now)
        unsyncedBits = .max
        droppedBits = .max
    }
}
