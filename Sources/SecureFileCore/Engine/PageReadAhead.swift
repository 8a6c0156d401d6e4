/// Tells which metadata pages are worth reading before they are asked for.
///
/// They lie a group apart, which no system takes for reading in order: overwrites that go through a file, as a kernel does that writes back what it
/// has cached, would wait for the disk at every group. Whoever reads data as well has the system read ahead both.
struct PageReadAhead {
    /// Groups asked for ahead: 4 MiB of plaintext.
    static let window: Int64 = 16
    /// Groups that may be left out between two steps forward.
    private static let stride: Int64 = 2

    private var last = GroupIndex.zero
    private var stepsForward = 0
    /// The pages below this one have been asked for.
    private var end = GroupIndex.zero

    /// Takes note that the page of `group` is about to be read; returns those that should be begun with, all of them behind it and before `limit`.
    mutating func pages(after group: GroupIndex, before limit: GroupIndex) -> Range<GroupIndex> {
        let step = group.rawValue - last.rawValue
        let next = GroupIndex(group.rawValue + 1)
        last = group
        guard step > 0, step <= Self.stride else {
            (stepsForward, end) = (0, next)
            return next..<next
        }
        stepsForward += 1
        // By half a window at a time, and not at the first sign.
        guard stepsForward > 1, end.rawValue - next.rawValue < Self.window / 2 else { return next..<next }
        let first = max(end, next)
        end = max(first, min(GroupIndex(next.rawValue + Self.window), limit))
        return first..<end
    }
}
