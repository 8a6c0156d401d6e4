import SecureFileCore
import Synchronization

/// What a file may read as after a loss of power: the state that was last confirmed as durable, and every state since, block by block.
public struct AllowedStates: Sendable {
    public private(set) var states: [ModelFile]

    /// `confirmed` was durable before anything else happened.
    public init(confirmed: ModelFile) { states = [confirmed] }

    /// An action has begun that makes `state` of the present one.
    public mutating func add(_ state: ModelFile) { states.append(state) }

    /// Everything so far is durable.
    public mutating func confirm() { states.removeFirst(states.count - 1) }

    public var newest: ModelFile { states[states.count - 1] }

    /// The blocks that have content in one of the states, their neighbours, and the ends.
    func interestingBlocks(below end: Int64) -> [Int64] {
        var found: Set<Int64> = [0, end - 1]
        for state in states { for number in state.blocks.keys { found.formUnion([number, number + 1]) } }
        return found.filter { $0 >= 0 && $0 < end }
    }

    /// What is wrong with a file of `size` bytes as such.
    func fault(ofSize size: Int64) -> String? {
        let (low, high) = states.reduce((Int64.max, Int64.min)) { (min($0.0, $1.size), max($0.1, $1.size)) }
        return size < low || size > high ? "its size is \(size); all states had \(low) to \(high)" : nil
    }

    /// What is wrong with a block that reads as `buffer` (zeros behind the end), `valid` bytes of which lie in the file.
    func fault(of number: Int64, _ buffer: PageBuffer, valid: Int) -> String? {
        if valid == 4096 {
            let hash = buffer.contentHash()
            if states.contains(where: { $0.block(number).hash == hash }) { return nil }
        } else if states.contains(where: { buffer.equals($0.block(number).buffer, 0..<valid) }) {
            return nil
        }
        let zeros = buffer.isZero(0..<valid) ? " (zeros)" : ""
        return "block \(number) has a content\(zeros) that it had in none of the \(states.count) states since the last confirmed one"
    }
}

/// Opens what a loss of power left, as the next session would, and judges it.
public struct CrashJudge: Sendable {
    public var cipher: CipherKind
    /// The session that opens it, and those that died: the one that wrote last among them.
    public var session: Int
    public var dead: Set<Int>
    /// The file is outside of a vault: it says itself how it is to be read.
    public var isStandalone: Bool

    public init(cipher: CipherKind, session: Int, dead: Set<Int>, isStandalone: Bool = false) {
        (self.cipher, self.session, self.dead, self.isStandalone) = (cipher, session, dead, isStandalone)
    }

    /// Throws a ``Finding`` unless `image` reads as allowed; returns what it reads as.
    @discardableResult
    public func judge(_ image: PageImage, _ allowed: AllowedStates, settling: Bool = false) throws(Finding) -> ModelFile {
        let store = MemoryByteStore(image)
        let context = context()
        do {
            let file = try SecureFile.open(store, context, path: "crashed")
            let found = try ModelFile(reading: file, allowed)
            if settling { try judgeSettled(file, store, found) }
            context.forgetFiles()
            return found
        } catch let error as Finding {
            throw error
        } catch {
            // Outside of a vault nothing tells a first page that never reached the disk from somebody else's file. FORMAT section 8.3.
            if isStandalone, isMissing(image, allowed) { return ModelFile() }
            throw Finding("it cannot be read: \(error)")
        }
    }

    /// The context of the session that opens it.
    func context() -> ContentContext {
        isStandalone ? TestVault.standaloneContext(cipher: cipher) : TestVault.context(session: session, dead: dead, cipher: cipher)
    }

    /// Whether the file was never made durable, and nobody can tell.
    func isMissing(_ image: PageImage, _ allowed: AllowedStates) -> Bool {
        allowed.states.contains(where: { $0.size == 0 }) && Self.lacksFirstPage(image)
    }

    private static func lacksFirstPage(_ image: PageImage) -> Bool {
        let page = PageBuffer(count: 4096)
        let got = image.read(at: 0, into: page, 0..<4096)
        return got < 256 || page.isZero(0..<got) || page[10] == 1 && Int64(256) + page.load(at: 104, as: Int64.self) > image.length
    }

    /// Settled by a checker, the file is the same under strict rules, with no session dead.
    private func judgeSettled(_ file: SecureFile, _ store: MemoryByteStore, _ found: ModelFile) throws {
        try file.settleForGood()
        if isStandalone { try file.closeStandalone() }
        let strict = CrashJudge(cipher: cipher, session: session + 1, dead: [], isStandalone: isStandalone)
        do { try strict.judge(store.image, AllowedStates(confirmed: found)) } catch { throw Finding("after it was settled: \(error)") }
    }
}

extension ModelFile {
    /// What `file` reads as after an action failed that was to make `next` of `model`: each block is old or new, and what it is counts from now on.
    public init(reading file: SecureFile, _ model: ModelFile, or next: ModelFile) throws {
        var allowed = AllowedStates(confirmed: model)
        allowed.add(next)
        try self.init(reading: file, allowed)
    }

    /// What `file` reads as. A ``Finding`` unless each block, and the size, are what they were in one of the allowed states.
    public init(reading file: SecureFile, _ allowed: AllowedStates) throws {
        let size = file.size.rawValue
        if let fault = allowed.fault(ofSize: size) { throw Finding(fault) }
        var found = ModelFile()
        found.truncate(to: size)
        let buffer = PageBuffer(count: 4096)
        for number in allowed.interestingBlocks(below: (size + 4095) / 4096) {
            let valid = Int(min(4096, size - number * 4096))
            if valid < 4096 { buffer.zero(valid..<4096) }
            let got = try file.read(at: ByteOffset(number * 4096), count: 4096, into: buffer)
            if got != valid { throw Finding("block \(number): read \(got) bytes of \(valid)") }
            if let fault = allowed.fault(of: number, buffer, valid: valid) { throw Finding(fault) }
            found.set(number, buffer)
        }
        self = found
    }
}
