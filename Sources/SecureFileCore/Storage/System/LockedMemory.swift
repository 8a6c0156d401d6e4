import CLinux

/// Pages that are never swapped out (where the limit allows) and never dumped. They are given back only when the process ends.
enum LockedMemory {
    /// `length` zero bytes, a multiple of the page size; nil when there is no memory. `isLocked` tells whether they are locked.
    @unsafe static func allocate(_ length: Int) -> (pointer: UnsafeMutableRawPointer, isLocked: Bool)? {
        var locked: Int32 = 0
        guard let memory = unsafe CLinux_allocate_locked(length, &locked) else { return nil }
        return unsafe (memory, locked != 0)
    }
}
