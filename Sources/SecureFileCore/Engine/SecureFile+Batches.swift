/// When a batch of overwrites goes out before anybody asks for a sync.
extension SecureFile {
    /// Bytes for each nanosecond of the barrier, which is 3 % of the time then.
    private static let batchPerBarrier = 160
    /// Nanoseconds for which no batch is large enough.
    private static let longBarrier = 1_000_000
    /// Bytes a group has to hold on average: each batch writes the metadata page of every group it touches.
    private static let heldPerGroup = 8 * ContentGeometry.blockSize

    /// Nanoseconds that the next barrier is expected to take; 0 where nothing is known, so that the first batch is small and tells.
    private var expectedBarrierTime: Int { context.options.assumedBarrierTime ?? barrierTime ?? context.lastBarrierTime }

    func noteBarrier(nanoseconds: Int) {
        barrierTime = nanoseconds
        context.lastBarrierTime = nanoseconds
    }

    /// Whether what is pending should go out, though there is room for more: it lies close together, and the barrier takes next to no time beside
    /// the rest (a filesystem in memory). Sealed blocks that are still in the processor's cache are written twice as fast, and memory for many
    /// of them is slower to come by than the cipher.
    ///
    /// - Parameter smallest: Bytes that are worth a batch.
    /// - Parameter perGroup: Bytes that each group touched should hold on average.
    func isBatchDue(_ smallest: Int, perGroup: Int) -> Bool {
        let held = pendingCount * ContentGeometry.blockSize
        if held < smallest { return false }
        let time = expectedBarrierTime
        return time < Self.longBarrier && held >= time * Self.batchPerBarrier && held >= pendingGroups.count * perGroup
    }

    /// What is held goes out where there is too much of it, or no reason to wait for more.
    func relievePressure() throws(SecureFileError) {
        if context.options.writesNewDataAtOnce, !isOwed, isInlineDirty { try writeInlinePage() }
        if dirtyGroupCount > 256 { try writeDirtyPages() }
        let held = pendingCount * ContentGeometry.blockSize
        let smallest = context.options.smallestBatch
        if held > context.options.pendingLimitPerFile || (held > 1 << 20 && context.isOverLimit)
            || isBatchDue(smallest, perGroup: min(smallest, Self.heldPerGroup))
        {
            try commitPending()
        }
    }
}
