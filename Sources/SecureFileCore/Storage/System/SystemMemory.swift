import CLinux

/// The allocator's own memory.
enum SystemMemory {
    /// Gives freed memory back to the system. The corresponding C function is `malloc_trim`.
    static func trim() { CLinux_trim_memory() }
}
