/// Where the nodes of backing inodes are in ``NodeSlots``: 8 bytes an entry, a third more at most left free.
///
/// Sixty-four tables, so that no more than one of them has to be made anew while everybody waits; and they begin with different lengths, so that there is
/// no number of nodes at which all have just grown.
struct InodeIndex: Sendable {
    private var tables: [Table]
    /// Inodes are numbered by whoever holds the backing folder, who is not to know where they fall.
    private let seed = UInt64.random(in: .min ... .max)

    init() { tables = (0..<64).map { Table(smallest: 16 + $0 / 8) } }

    /// Entries there is room for.
    var capacity: Int { tables.reduce(0) { $0 + $1.entries.count } }

    /// How many steps all entries together are away from where the hash says.
    var detours: Int { tables.reduce(0) { $0 + $1.detours } }

    func find(_ key: InodeKey, in slots: NodeSlots) -> Node? {
        let hash = hash(key)
        return tables[Self.table(hash)].find(Self.mark(hash), key, slots)
    }

    /// - Precondition: The key is not there.
    mutating func insert(_ key: InodeKey, slot: UInt32) {
        let hash = hash(key)
        tables[Self.table(hash)].insert(Self.mark(hash) | UInt64(slot))
    }

    /// Does nothing where the key is not there, or stands for another place.
    mutating func remove(_ key: InodeKey, slot: UInt32) {
        let hash = hash(key)
        tables[Self.table(hash)].remove(Self.mark(hash) | UInt64(slot))
    }

    /// The mixer of SplitMix64.
    private func hash(_ key: InodeKey) -> UInt64 {
        var hash = (key.inode ^ seed) &+ UInt64(key.device) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        return hash ^ hash >> 31
    }

    private static func table(_ hash: UInt64) -> Int { Int(hash & 63) }
    /// What an entry holds of the hash, before the place.
    private static func mark(_ hash: UInt64) -> UInt64 { hash & ~0xFFFF_FFFF }
}

/// Entries one behind the other from the place that the hash says; 0 is none. One that goes is replaced from behind, so that no gap is left.
private struct Table: Sendable {
    var entries: [UInt64] = []
    var count = 0
    let smallest: Int

    init(smallest: Int) { self.smallest = smallest }

    /// Needs no division; and what has grown together stays together.
    private func home(_ entry: UInt64) -> Int { Int(((entry >> 32) * UInt64(entries.count)) >> 32) }
    private func next(_ place: Int) -> Int { place + 1 == entries.count ? 0 : place + 1 }
    private func distance(_ from: Int, _ to: Int) -> Int { to >= from ? to - from : to - from + entries.count }

    var detours: Int { entries.indices.reduce(0) { $0 + (entries[$1] == 0 ? 0 : distance(home(entries[$1]), $1)) } }

    func find(_ mark: UInt64, _ key: InodeKey, _ slots: NodeSlots) -> Node? {
        if count == 0 { return nil }
        var place = home(mark)
        while entries[place] != 0 {
            let entry = entries[place]
            if entry >> 32 == mark >> 32, let node = slots[slot: UInt32(truncatingIfNeeded: entry)], node.key == key { return node }
            place = next(place)
        }
        return nil
    }

    mutating func insert(_ entry: UInt64) {
        if (count + 1) * 5 > entries.count * 4 { resize(to: max(smallest, entries.count * 3 / 2)) }
        put(entry)
        count += 1
    }

    private mutating func put(_ entry: UInt64) {
        var place = home(entry)
        while entries[place] != 0 { place = next(place) }
        entries[place] = entry
    }

    mutating func remove(_ entry: UInt64) {
        if count == 0 { return }
        var gap = home(entry)
        while entries[gap] != entry {
            if entries[gap] == 0 { return }
            gap = next(gap)
        }
        var place = next(gap)
        while entries[place] != 0 {
            if distance(home(entries[place]), place) >= distance(gap, place) {
                entries[gap] = entries[place]
                gap = place
            }
            place = next(place)
        }
        entries[gap] = 0
        count -= 1
        if entries.count > smallest, count * 5 < entries.count { resize(to: max(smallest, entries.count * 4 / 9)) }
    }

    private mutating func resize(to capacity: Int) {
        let old = entries
        entries = Array(repeating: 0, count: capacity)
        for entry in old where entry != 0 { put(entry) }
    }
}
