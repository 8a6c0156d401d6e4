import TestSupport
import Testing

@testable import SecureFS
@testable import SecureFileCore

/// What the node table is made of: numbers that never come twice, and the index of inodes.
@Suite struct NodeStorageTests {
    private func key(_ inode: UInt64) -> InodeKey { InodeKey(inode: inode, device: 27) }

    @Test func numbersNeverComeTwice() {
        // After three nodes a chunk takes no more: the count of nodes that came is part of a number.
        for limit in [3, 1000, NodeSlots.lastGeneration] {
            var slots = NodeSlots(root: Node(.root, key(1), .directory), lastGeneration: limit)
            var (seen, kept): (Set<NodeID>, [NodeID]) = ([.root], [])
            for step in 0..<5000 {
                let node = slots.insert { Node($0, key(2), .regular) }
                let isFirst = seen.insert(node.id).inserted
                #expect(isFirst && !node.id.isVolatile)
                let isKept = step % 7 == 0
                if isKept { kept.append(node.id) }
                let wasThere = isKept || slots.remove(node.id)
                #expect(wasThere && (slots[node.id] != nil) == isKept)
                // The next node in its place is another.
                let another = slots.remove(NodeID(rawValue: node.id.rawValue + (1 << 32)))
                #expect(!another)
            }
            #expect(kept.allSatisfy { slots[$0]?.id == $0 } && slots.count == kept.count + 1)
            var count = 0
            slots.forEach { _ in count += 1 }
            #expect(count == slots.count)
        }
    }

    @Test func theIndexIsNeverMuchLargerThanWhatIsInIt() {
        var index = InodeIndex()
        for number in 1...UInt32(120_000) {
            index.insert(key(UInt64(number) * 8), slot: number)
            guard number % 500 == 0 else { continue }
            #expect(index.capacity < Int(number) * 7 / 4 + 1500, "\(number)")
            if number % 10_000 == 0 { #expect(index.detours < 2 * Int(number), "\(number)") }
        }
        for number in 1...UInt32(120_000) {
            index.remove(key(UInt64(number) * 8), slot: number)
            if number % 500 == 0 { #expect(index.capacity <= 5 * Int(120_000 - number) + 1500) }
        }
    }

    @Test func theIndexFindsWhatADictionaryFinds() throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        var index = InodeIndex()
        var slots = NodeSlots(root: Node(.root, key(1), .directory))
        var model: [InodeKey: NodeID] = [:]
        // Grows, shrinks, and grows again.
        for share in [80, 30, 10, 70] {
            for _ in 0..<20_000 {
                let key = InodeKey(inode: .random(in: 2..<20_000, using: &generator), device: .random(in: 0..<2, using: &generator))
                let known = index.find(key, in: slots)
                try #require(known?.id == model[key], "seed \(seed)")
                if let known {
                    index.remove(key, slot: known.id.slot &+ 1)  // another's place: nothing happens
                    if Int.random(in: 0..<100, using: &generator) >= share {
                        index.remove(key, slot: known.id.slot)
                        let wasThere = slots.remove(known.id)
                        #expect(wasThere)
                        model[key] = nil
                    }
                } else if Int.random(in: 0..<100, using: &generator) < share {
                    let node = slots.insert { Node($0, key, .regular) }
                    index.insert(key, slot: node.id.slot)
                    model[key] = node.id
                }
            }
            for (key, id) in model { try #require(index.find(key, in: slots)?.id == id, "seed \(seed)") }
            #expect(slots.count == model.count + 1)
        }
    }
}
