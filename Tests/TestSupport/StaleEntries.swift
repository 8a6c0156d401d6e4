import SecureFileCore

/// Entries of a confirmed state whose only version does not open: their blocks read as zeros, and that is confirmed.
///
/// Nothing may be written where such a version would lie before the entry is gone from the disk: a version of n bytes opens by chance with
/// other bytes once in 256ⁿ, and what was confirmed as zeros has content then. That is too rare to wait for it, so it is forbidden as such.
/// FORMAT section 9.
struct StaleEntries {
    private struct Place {
        var block: BlockIndex
        /// Bytes of the backing file that the version names.
        var bytes: Range<Int64>
        var entry: [UInt8]
    }
    private let places: [Place]

    /// Those of `image`: what a checker makes holes of.
    init(in image: PageImage, _ judge: CrashJudge) {
        let (store, context) = (MemoryByteStore(image), judge.context())
        defer { context.forgetFiles() }
        // What does not open at all has no entries to be looked at; whoever reads the state judges that.
        guard image.length > 4096, let file = try? SecureFile.open(store, context, path: "crashed") else {
            places = []
            return
        }
        try? file.settleForGood()
        let settled = store.image
        places = Self.groups(of: image).flatMap { Self.cleared(in: $0, image, settled) }
    }

    /// Throws a ``Finding`` if what one of them names may have been changed on the disk while it is still there.
    func check(_ point: CrashPoint) throws(Finding) {
        let places = places.filter { Self.entry(of: $0.block, in: point.durable) == $0.entry }
        if places.isEmpty { return }
        let length = point.durable.length
        for effect in point.effects {
            switch effect {
            case .cut(0): return
            case .cut: continue
            case .page(let number, _):
                if let place = places.first(where: { $0.bytes.lowerBound == number * 4096 }) { throw Self.finding(place, "written") }
            case .extend(let end):
                if let place = places.first(where: { $0.bytes.lowerBound < end && $0.bytes.upperBound > length }) {
                    throw Self.finding(place, "lengthened")
                }
            }
        }
    }

    private static func finding(_ place: Place, _ what: String) -> Finding {
        Finding("the data of block \(place.block) was \(what) while an entry that does not open is still on the disk")
    }

    private static func groups(of image: PageImage) -> [GroupIndex] {
        (0..<(image.length + ContentGeometry.groupBackingSize - 1) / ContentGeometry.groupBackingSize).map { GroupIndex($0) }
    }

    /// The entry of a block; nil where the group has no page. FORMAT section 3.1.
    private static func entry(of block: BlockIndex, in image: PageImage) -> [UInt8]? {
        guard let page = image.pages[ContentGeometry.metadataPage(of: block.group).rawValue >> 12], page[10] == 2 else { return nil }
        let start = ContentGeometry.headSize + 60 * block.indexInGroup
        return page.bytes(start..<start + 60)
    }

    /// The entries of a group that have a version in `image` and none in `settled`.
    private static func cleared(in group: GroupIndex, _ image: PageImage, _ settled: PageImage) -> [Place] {
        (0..<ContentGeometry.blocksPerGroup).compactMap { index in
            let block = group.block(index)
            guard let before = entry(of: block, in: image), let after = entry(of: block, in: settled) else { return nil }
            if before.allSatisfy({ $0 == 0 }) || after.contains(where: { $0 != 0 }) { return nil }
            let start = ContentGeometry.dataPage(of: block).rawValue
            let length = max(Int64(before[28]) | Int64(before[29]) << 8, Int64(before[58]) | Int64(before[59]) << 8)
            return Place(block: block, bytes: start..<start + length, entry: before)
        }
    }
}
