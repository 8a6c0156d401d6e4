import Testing

@testable import SecureFS
@testable import SecureFileCore

@Suite struct NodeTableTests {
    private let fixture: Fixture
    private let rootStatus: FileStatus
    init() throws {
        fixture = try Fixture()
        rootStatus = try fixture.fileSystem.vault.root.descriptor.status()
    }

    private func status(_ inode: UInt64, _ kind: UInt32 = 0o100644) -> FileStatus {
        var status = rootStatus
        status.inode = inode
        status.mode = kind
        return status
    }

    private func alias(_ parent: Node, _ name: String) throws -> Alias {
        Alias(parent: parent, name: try fixture.fileSystem.vault.root.storedName(Array(name.utf8)))
    }

    @Test func oneInodeIsOneNodeUnderAllItsNames() throws {
        let table = NodeTable(root: rootStatus)
        let first = table.enter(status(10), as: try alias(table.root, "a"))
        let second = table.enter(status(10), as: try alias(table.root, "b"))
        #expect(first === second)
        #expect(first.lookups == 2)
        table.remove(try alias(table.root, "a"), from: first, anchor: nil, isLast: false)
        #expect(table.whereabouts(of: first).alias?.name.entry == (try alias(table.root, "b").name.entry))
    }

    @Test func thatManyNodesHaveGoneIsSaid() throws {
        let table = NodeTable(root: rootStatus)
        let name = try alias(table.root, "a")
        let nodes = (100..<20_100).map { table.enter(status($0), as: name) }
        let last = try #require(nodes.last)
        // The one that stays is found as before; that many have gone is said from the ten thousandth on.
        let said = nodes.dropLast().map { table.forget($0.id, count: 1) }
        #expect(said.firstIndex(of: true) == 9_999)
        table.noteTrim()
        #expect(table.count == 2)
        #expect(try table.node(last.id) === last)
        #expect(table.find(last.key) === last)
        #expect(!table.forget(last.id, count: 1))
        #expect(table.count == 1)
    }

    @Test func aNodeGoesWithItsLastLookup() throws {
        let table = NodeTable(root: rootStatus)
        let node = table.enter(status(10), as: try alias(table.root, "a"))
        _ = table.enter(status(10), as: try alias(table.root, "a"))
        table.forget(node.id, count: 1)
        #expect(table.count == 2)
        table.forget(node.id, count: 1)
        #expect(table.count == 1)
        #expect(table.find(InodeKey(status(10))) == nil)
    }

    @Test func numbersAreNeverUsedTwice() throws {
        let table = NodeTable(root: rootStatus)
        let first = table.enter(status(10), as: try alias(table.root, "a")).id
        table.forget(first, count: 1)
        let second = table.enter(status(10), as: try alias(table.root, "a")).id
        #expect(first != second)
        #expect(throws: Errno.stale) { try table.node(first) }
    }

    @Test func aDirectoryStaysAsLongAsSomethingIsFoundThroughIt() throws {
        let table = NodeTable(root: rootStatus)
        let directory = table.enter(status(10, 0o040755), as: try alias(table.root, "d"))
        let file = table.enter(status(11), as: try alias(directory, "f"))
        table.forget(directory.id, count: 1)
        #expect(table.count == 3)
        table.forget(file.id, count: 1)
        #expect(table.count == 1)
    }

    @Test func aNewInodeWithAnOldNumberDoesNotMeetTheOldState() throws {
        let table = NodeTable(root: rootStatus)
        let old = table.enter(status(10), as: try alias(table.root, "a"))
        let new = table.enter(status(10), as: try alias(table.root, "b"), isNew: true)
        #expect(old !== new)
        #expect(table.find(InodeKey(status(10))) === new)
        #expect(try table.node(old.id) === old)
        table.forget(old.id, count: 1)
        #expect(table.find(InodeKey(status(10))) === new)
    }

    @Test func aNodeThatHasGoneDoesNothingToTheNextInItsPlace() throws {
        let table = NodeTable(root: rootStatus)
        let old = table.enter(status(10), as: try alias(table.root, "a"))
        table.forget(old.id, count: 1)
        let new = table.enter(status(10), as: try alias(table.root, "a"))
        table.hide(old)
        #expect(table.find(new.key) === new)
        let unnamed = table.enterUnnamed(status(11))
        table.forget(unnamed.id, count: 1)
        table.reveal(unnamed)
        #expect(table.find(unnamed.key) == nil)
        let other = table.enter(status(11), as: try alias(table.root, "b"))
        #expect(table.find(other.key) === other)
    }

    @Test func aDeletedNodeIsReachableByNumberOnly() throws {
        let table = NodeTable(root: rootStatus)
        let node = table.enter(status(10), as: try alias(table.root, "a"))
        table.remove(try alias(table.root, "a"), from: node, anchor: nil, isLast: true)
        #expect(table.find(InodeKey(status(10))) == nil)
        #expect(try table.node(node.id) === node)
        #expect(table.root.children == 0)
    }

    @Test func forgettingMoreThanWasLookedUpIsHarmless() throws {
        let table = NodeTable(root: rootStatus)
        let node = table.enter(status(10), as: try alias(table.root, "a"))
        table.forget(node.id, count: 100)
        table.forget(node.id, count: 1)
        table.forget(.root, count: 1_000_000)
        #expect(table.count == 1)
    }
}
