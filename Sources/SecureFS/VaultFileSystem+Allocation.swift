import SecureFileCore

/// Space and holes.
extension VaultFileSystem {
    package func allocate(
        _ id: NodeID, _ handle: HandleID, at offset: Int64, count: Int64, _ mode: AllocationMode, _ caller: Caller
    ) throws(Errno) {
        let node = try table.node(id)
        let open = try opened(node)
        let file = open.file
        // The kernel does not say it here, as it does with a write.
        if caller.user != 0 { try clearPrivileges(open.backing.descriptor, caller) }
        let (start, length) = (ByteOffset(offset), ByteCount(count))
        try open.keepingToldTime { () throws(Errno) in
            do throws(SecureFileError) {
                switch mode {
                case .allocate(let keepSize): try file.allocate(at: start, count: length, keepSize: keepSize)
                case .punchHole: try file.punchHole(at: start, count: length)
                case .zeroRange(let keepSize): try file.zeroRange(at: start, count: length, keepSize: keepSize)
                }
            } catch { throw reported(error, node) }
        }
        flusher.noteWork()
    }

    package func seek(_ id: NodeID, _ handle: HandleID, from offset: Int64, to target: SeekTarget) throws(Errno) -> Int64 {
        let node = try table.node(id)
        let file = try opened(node).file
        let found: ByteOffset?
        do throws(SecureFileError) {
            found = target == .data ? try file.nextData(at: ByteOffset(offset)) : try file.nextHole(at: ByteOffset(offset))
        } catch { throw reported(error, node) }
        guard let found else { throw .noSuchAddress }
        return found.rawValue
    }
}
