import SecureFileCore
import Testing

/// FORMAT section 3: sizes, lengths and places.
struct ContentGeometryTests {
    /// The table of the format, in words: the form a file of that size has when it is written in one go.
    private func backingLength(_ size: Int64) -> Int64 {
        if size == 0 { return 0 }
        return ContentGeometry.backingLength(ByteCount(size), size <= 3839 ? .inline : .grouped)
    }

    @Test func theWorkedSizesOfTheFormat() {
        let table: [(Int64, Int64)] = [
            (0, 0), (1, 257), (3839, 4095), (3840, 7936), (4096, 8192), (4097, 8193), (262_144, 266_240), (262_145, 270_337),
        ]
        for (size, length) in table { #expect(backingLength(size) == length) }
        #expect(ContentGeometry.backingLength(ByteCount(1), .grouped) == 4097)
    }

    @Test func theConstantsOfTheFormat() {
        #expect(ContentGeometry.groupSize == Int64(ContentGeometry.blockSize * ContentGeometry.blocksPerGroup))
        #expect(ContentGeometry.groupBackingSize == Int64(ContentGeometry.blockSize * (1 + ContentGeometry.blocksPerGroup)))
        #expect(ContentGeometry.inlineMaximum == ContentGeometry.blockSize - ContentGeometry.headSize - 1)
        #expect(ContentGeometry.sizeLimit == 1 << 62)
    }

    @Test func theSizeFollowsFromTheLength() {
        let far = [1, 2, 3, 1000, 1 << 22, (1 << 44) - 2].map { $0 * ContentGeometry.groupSize }
        let sizes = Array(0...10_000) + far.flatMap { edge in (edge - 70)...(edge + 70) } + far.flatMap { edge in [edge - 4097, edge + 4097] }
        for size in sizes {
            if size > 0 {
                let grouped = ContentGeometry.backingLength(ByteCount(size), .grouped)
                #expect(ContentGeometry.size(backingLength: grouped) == ByteCount(size))
            }
            #expect(ContentGeometry.size(backingLength: backingLength(size)) == ByteCount(size))
        }
    }

    @Test func lengthsGrowWithSizes() {
        var last: Int64 = -1
        for size in Int64(0)...10_000 {
            #expect(backingLength(size) > last)
            last = backingLength(size)
        }
    }

    @Test func lengthsThatNoFileHasGiveTheSizeBelow() {
        for length in Int64(1)...256 { #expect(ContentGeometry.size(backingLength: length) == .zero) }
        #expect(ContentGeometry.size(backingLength: 4096) == .zero)
        // A metadata page of the second group without a block behind it.
        for length in Int64(266_241)...270_336 { #expect(ContentGeometry.size(backingLength: length) == ByteCount(262_144)) }
        #expect(ContentGeometry.size(backingLength: 270_337) == ByteCount(262_145))
    }

    @Test func placesInTheBackingFile() {
        #expect(ContentGeometry.dataPage(of: BlockIndex(0)) == BackingOffset(4096))
        #expect(ContentGeometry.dataPage(of: BlockIndex(63)) == BackingOffset(262_144))
        #expect(ContentGeometry.metadataPage(of: GroupIndex(1)) == BackingOffset(266_240))
        #expect(ContentGeometry.dataPage(of: BlockIndex(64)) == BackingOffset(270_336))
        for block in [0, 1, 62, 63, 64, 65, 127, 128, 1 << 40].map({ BlockIndex($0) }) {
            #expect(ContentGeometry.group(at: ContentGeometry.dataPage(of: block)) == block.group)
            #expect(block.group.block(block.indexInGroup) == block)
            #expect(block.start.block == block)
        }
    }

    @Test func theGreatestSizeDoesNotOverflow() {
        let size = ByteCount(ContentGeometry.sizeLimit - 1)
        #expect(ContentGeometry.size(backingLength: ContentGeometry.backingLength(size, .grouped)) == size)
        #expect(ContentGeometry.endBlock(size).rawValue == 1 << 50)
        #expect(ContentGeometry.length(of: BlockIndex((1 << 50) - 1), in: size) == 4095)
    }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 262_144] as [Int64])
    func blocksOfASize(size: Int64) {
        let end = ContentGeometry.endBlock(ByteCount(size))
        #expect(end.rawValue == (size + 4095) / 4096)
        let total = (0..<max(1, end.rawValue + 2)).reduce(0) { $0 + ContentGeometry.length(of: BlockIndex($1), in: ByteCount(size)) }
        #expect(Int64(total) == size)
    }
}
