/// Tells which metadata pages are worth reading before they are asked for.
///
/// They lie a group apart, which no system takes for reading in order: overwrites that go through a file, as a kernel does that writes back what it
/// has cached, would wait for the disk at every group. Whoever reads data as well has the system read ahead both.
struct PageReadAhead {
    /// Groups asked for ahead: 4 MiB of plaintext.
    static let window: Int64 = 16
    /// Groups that may be left out between two steps forward.
    private static let stride: Int64 = 2

    private var last: Int64 = 0
    private var stepsForward = 0
    /// The pages up to this one have been asked for.
    private var end: Int64 = 0

    /// Takes note that the page of `group` is about to be read; returns those that should be begun with, all of them of groups below `count`.
    mutating func pages(after group: Int64, before count: Int64) -> Range<Int64> {
        let step = group - last
        last = group
        guard step > 0, step <= Self.stride else {
            (stepsForward, end) = (0, group)
            return group..<group
        }
        stepsForward += 1
        // By half a window at a time, and not at the first sign.
        guard stepsForward > 1, end - group < Self.window / 2 else { return group..<group }
        let first = max(end, group) + 1
        end = max(first - 1, min(group + Self.window, count - 1))
        return first..<end + 1
    }
}
