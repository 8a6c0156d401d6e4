"""Times: what moves what and what does not, under a cache that writes later."""
import ctypes
import mmap
import os
import time

from posix_table import LIBC, as_user, become, call, equal, fallocate, get, holds, in_child, later, linkat, put, refused, row, tick
import errno

OLD = 1_000_000_000_000_000_001


def moved(action, path="file", fd=None):
    """Which of m and c the action moves."""
    os.utime(path, ns=(OLD, OLD))
    tick()
    before = os.lstat(path)
    tick()
    action()
    after = os.fstat(fd) if fd is not None else os.lstat(path)
    return "".join(letter for letter, a, b in (("m", before.st_mtime_ns, after.st_mtime_ns), ("c", before.st_ctime_ns, after.st_ctime_ns)) if a != b)


def each(page, table):
    """Rows of one call on `file` (5,000 bytes) or on the directory `dir` (which holds `a`): (name, what moves, call[, path])."""
    for name, expected, action, *path in table:
        def function(action=action, expected=expected, path=path[0] if path else "file"):
            put("file", b"x" * 5000)
            os.mkdir("dir")
            put("dir/a")
            put("other", b"y" * 9000)
            os.setxattr("file", "user.a", b"1")
            equal(moved(action, path), expected, "times moved")
        row("times." + name, page, name.replace("-", " "), f"moves {' and '.join(expected) or 'nothing'}")(function)


def with_fd(action, flags=os.O_RDWR, path="file"):
    def run():
        fd = os.open(path, flags)
        try:
            action(fd)
        finally:
            os.close(fd)
    return run


def held(action):
    """The descriptor stays open: what is seen comes before the flush that close does."""
    return lambda: action(os.open("file", os.O_RDWR))


def store(fd):
    with mmap.mmap(fd, 4096) as view:
        view[5:8] = b"abc"
        view.flush()


each("inode(7)", [
    ("write", "mc", held(lambda fd: os.pwrite(fd, b"a", 0))),
    ("write-that-grows", "mc", held(lambda fd: os.pwrite(fd, b"a", 70000))),
    ("write-of-nothing", "", held(lambda fd: os.write(fd, b""))),
    ("append", "mc", with_fd(lambda fd: os.write(fd, b"a"), os.O_WRONLY | os.O_APPEND)),
    ("store-in-a-mapping", "mc", with_fd(store)),
    ("ftruncate-down", "mc", held(lambda fd: os.ftruncate(fd, 10))),
    ("ftruncate-up", "mc", held(lambda fd: os.ftruncate(fd, 100000))),
    ("ftruncate-to-the-same-size", "mc", held(lambda fd: os.ftruncate(fd, 5000))),
    ("truncate-to-the-same-size", "mc", lambda: os.truncate("file", 5000)),
    ("O_TRUNC", "mc", lambda: os.open("file", os.O_WRONLY | os.O_TRUNC)),
    ("open-for-writing", "", lambda: os.close(os.open("file", os.O_RDWR))),
    ("fsync", "", with_fd(os.fsync)),
    ("punch-hole", "mc", held(lambda fd: fallocate(fd, 3, 0, 4096))),
    ("zero-range", "mc", held(lambda fd: fallocate(fd, 16, 0, 100))),
    ("fallocate-that-grows", "mc", held(lambda fd: fallocate(fd, 0, 0, 50000))),
    ("copy_file_range-to-it", "mc", lambda: os.copy_file_range(os.open("other", os.O_RDONLY), os.open("file", os.O_RDWR), 100, 0, 0)),
    ("copy_file_range-from-it", "", lambda: os.copy_file_range(os.open("file", os.O_RDONLY), os.open("other", os.O_RDWR), 100, 0, 0)),
    ("chmod", "c", lambda: os.chmod("file", 0o600)),
    ("chmod-to-the-same-mode", "c", lambda: os.chmod("file", 0o644)),
    ("chown-to-the-same-owner", "c", lambda: os.chown("file", os.getuid(), os.getgid())),
    ("link", "c", lambda: os.link("file", "link")),
    ("rename", "c", lambda: (os.rename("file", "renamed"), os.rename("renamed", "file"))),
    ("setxattr", "c", lambda: os.setxattr("file", "user.b", b"2")),
    ("removexattr", "c", lambda: os.removexattr("file", "user.a")),
    ("getxattr", "", lambda: os.getxattr("file", "user.a")),
    ("stat-and-access", "", lambda: (os.stat("file"), os.access("file", os.W_OK))),
    ("a-new-file-in-a-directory", "mc", lambda: put("dir/b"), "dir"),
    ("unlink-in-a-directory", "mc", lambda: os.unlink("dir/a"), "dir"),
    ("mkdir-in-a-directory", "mc", lambda: os.mkdir("dir/b"), "dir"),
    ("symlink-in-a-directory", "mc", lambda: os.symlink("x", "dir/b"), "dir"),
    ("link-in-a-directory", "mc", lambda: os.link("file", "dir/b"), "dir"),
    ("rename-in-a-directory", "mc", lambda: os.rename("dir/a", "dir/b"), "dir"),
    ("rename-out-of-a-directory", "mc", lambda: os.rename("dir/a", "a"), "dir"),
    ("rename-into-a-directory", "mc", lambda: os.rename("file", "dir/b"), "dir"),
    ("rename-over-in-a-directory", "mc", lambda: os.rename("file", "dir/a"), "dir"),
    ("write-to-a-file-in-a-directory", "", lambda: put("dir/a", b"x"), "dir"),
    ("a-failing-mkdir", "", lambda: refused(errno.EEXIST, lambda: os.mkdir("dir/a")), "dir"),
    ("a-failing-unlink", "", lambda: refused(errno.ENOENT, lambda: os.unlink("dir/z")), "dir"),
    ("listing-a-directory", "", lambda: os.listdir("dir"), "dir"),
])


@row("times.rename-over-target", "inode(7)", "a name of a file with two names is renamed over", "moves c of the other name")
def _():
    put("file", b"x")
    os.link("file", "second")
    put("new", b"y")
    equal(moved(lambda: os.rename("new", "second")), "c", "times moved")


@row("times.unlink-of-a-link", "inode(7)", "one of two names is unlinked", "moves c")
def _():
    put("file", b"x")
    os.link("file", "second")
    equal(moved(lambda: os.unlink("second")), "c", "times moved")


for size in (10, 5000, 3 << 20):
    for last in ("close", "fsync", "syncfs"):
        @row(f"times.flush-by-{last}-{size}", "inode(7)", f"{size} bytes written, then {last} some time later", "mtime and ctime stay what write made them")
        def _(size=size, last=last):
            fd = os.open("file", os.O_RDWR | os.O_CREAT)
            os.write(fd, b"w" * size)
            before = os.fstat(fd)
            for _ in range(3):
                tick()
            if last == "close":
                os.close(fd)
            elif last == "fsync":
                os.fsync(fd)
            else:
                call(LIBC.syncfs, fd)
            after = os.stat("file")
            equal(after.st_mtime_ns, before.st_mtime_ns, "mtime")
            return after.st_mtime_ns

        @later(f"times.flush-by-{last}-{size}")
        def _(state):
            equal(os.stat("file").st_mtime_ns, state, "mtime after a remount")


for size in (0, 1, 5000, 300_000):
    @row(f"times.of-a-new-file-{size}", "inode(7)", f"40 files made and written, {size} bytes, in one tick of the clock; each closed some ticks later", "mtime stays what stat said first")
    def _(size=size):
        told = {}
        for n in range(40):
            fd = os.open(f"f{n}", os.O_RDWR | os.O_CREAT)
            os.write(fd, b"n" * size)
            told[f"f{n}"] = os.fstat(fd).st_mtime_ns
            for _ in range(2):
                tick()
            if n % 2:
                os.fsync(fd)
            os.close(fd)
            equal(os.stat(f"f{n}").st_mtime_ns, told[f"f{n}"], "mtime after close")
        return told

    @later(f"times.of-a-new-file-{size}")
    def _(told):
        equal({name: os.stat(name).st_mtime_ns - told[name] for name in told}, dict.fromkeys(told, 0), "mtimes after a remount, less what they were")


for size in (10, 5000, 3 << 20):
    for way in ("path", "descriptor", "other descriptor", "mapping"):
        @row(f"times.utimens-by-{way.replace(' ', '-')}-{size}", "utimensat(2)", f"{size} bytes written, times set by {way}, then synced and closed", "times stay as set")
        def _(size=size, way=way):
            fd = os.open("file", os.O_RDWR | os.O_CREAT)
            os.write(fd, b"w" * size)
            view = None
            if way == "mapping":
                view = mmap.mmap(fd, size)
                view[size // 2] = 65
                os.utime("file", ns=(OLD, OLD + 1))
            elif way == "path":
                os.utime("file", ns=(OLD, OLD + 1))
            else:
                os.utime(fd if way == "descriptor" else os.open("file", os.O_RDONLY), ns=(OLD, OLD + 1))
            equal(os.fstat(fd).st_mtime_ns, OLD + 1, "mtime at once")
            if view:
                view.flush()
            os.fsync(fd)
            equal(os.fstat(fd).st_mtime_ns, OLD + 1, "mtime after fsync")
            tick()
            os.close(fd)
            equal(os.stat("file").st_mtime_ns, OLD + 1, "mtime after close")
            equal(os.stat("file").st_size, size, "size")

        @later(f"times.utimens-by-{way.replace(' ', '-')}-{size}")
        def _(state):
            equal(os.stat("file").st_mtime_ns, OLD + 1, "mtime after a remount")


@row("times.write-after-utimens", "inode(7)", "times set, then written again through the same descriptor", "mtime is now")
def _():
    fd = os.open("file", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"a" * 5000)
    os.utime(fd, ns=(OLD, OLD))
    before = time.clock_gettime_ns(5)
    os.write(fd, b"b")
    holds(os.fstat(fd).st_mtime_ns >= before, "mtime is older than the write")
    os.close(fd)
    holds(os.stat("file").st_mtime_ns >= before, "mtime after close is older than the write")


@row("times.monotonic", "inode(7)", "200 writes, stat after each", "mtime never goes back and is never ahead of the clock")
def _():
    fd = os.open("file", os.O_RDWR | os.O_CREAT)
    last = 0
    for n in range(200):
        before = time.clock_gettime_ns(5)
        os.pwrite(fd, b"x" * 3000, n * 1000)
        if n % 20 == 19:
            os.fsync(fd)
        now = os.stat("file").st_mtime_ns
        holds(max(last, before) <= now <= time.clock_gettime_ns(0), f"mtime {now} after write {n}: before {before}, last {last}")
        last = now


@row("times.truncate-then-write-elsewhere", "inode(7)", "a descriptor writes, another truncates, the first closes", "mtime is not older than the cut")
def _():
    first, second = os.open("file", os.O_RDWR | os.O_CREAT), os.open("file", os.O_RDWR)
    os.write(first, b"a" * 9000)
    tick()
    before = time.clock_gettime_ns(5)
    os.ftruncate(second, 100)
    os.close(first)
    holds(os.stat("file").st_mtime_ns >= before, "mtime is older")


for name, stamp in (("1901", -2147483647), ("1969", -1), ("epoch", 0), ("2038", 2147483648), ("2106", 4294967296), ("2446", 15032385534)):
    @row(f"times.of-{name}", "utimensat(2)", f"mtime {stamp}.999999999", "kept to the nanosecond")
    def _(stamp=stamp):
        put("file")
        ns = stamp * 10**9 + 999_999_999
        os.utime("file", ns=(ns, ns))
        equal((os.stat("file").st_atime_ns, os.stat("file").st_mtime_ns), (ns, ns), "times")
        return ns

    @later(f"times.of-{name}")
    def _(state):
        equal(os.stat("file").st_mtime_ns, state, "mtime after a remount")


class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def utimens(path, accessed, modified, flags=0):
    call(LIBC.utimensat, -100, os.fsencode(path), (Timespec * 2)(Timespec(*accessed), Timespec(*modified)), flags)


OMIT, NOW = (0, (1 << 30) - 2), (0, (1 << 30) - 1)


@row("times.omit", "utimensat(2)", "UTIME_OMIT for one of the times, then for both", "it stays")
def _():
    put("file")
    os.utime("file", ns=(OLD, OLD))
    utimens("file", OMIT, (5, 7))
    equal((os.stat("file").st_atime_ns, os.stat("file").st_mtime_ns), (OLD, 5_000_000_007), "times")
    utimens("file", (6, 8), OMIT)
    equal((os.stat("file").st_atime_ns, os.stat("file").st_mtime_ns), (6_000_000_008, 5_000_000_007), "times")
    changed = os.stat("file").st_ctime_ns
    tick()
    utimens("file", OMIT, OMIT)
    equal(os.stat("file").st_ctime_ns, changed, "ctime after omitting both")


@row("times.now", "utimensat(2)", "UTIME_NOW", "the clock's time")
def _():
    put("file")
    os.utime("file", ns=(OLD, OLD))
    before = time.clock_gettime_ns(5)
    utimens("file", NOW, NOW)
    status = os.stat("file")
    holds(before <= status.st_mtime_ns <= time.clock_gettime_ns(0) and status.st_atime_ns >= before, "not now")


@row("times.bad-nanoseconds", "utimensat(2)", "1,000,000,000 nanoseconds", "EINVAL")
def _():
    put("file")
    refused(errno.EINVAL, lambda: utimens("file", (0, 10**9), OMIT))


@row("times.symlink", "utimensat(2)", "AT_SYMLINK_NOFOLLOW", "the link's times, not the target's")
def _():
    put("file")
    os.symlink("file", "link")
    before = os.stat("file").st_mtime_ns
    os.utime("link", ns=(OLD, OLD), follow_symlinks=False)
    equal((os.lstat("link").st_mtime_ns, os.stat("file").st_mtime_ns), (OLD, before), "times")


@row("times.by-others", "utimensat(2)", "a user who may write sets now, and given times", "now: done; given: EPERM; without write: EACCES", root=True)
def _():
    put("file")
    os.chmod("file", 0o666)
    os.chmod(".", 0o777)
    as_user(1234, lambda: utimens("file", NOW, NOW))
    refused(errno.EPERM, lambda: as_user(1234, lambda: os.utime("file", ns=(OLD, OLD))))
    os.chmod("file", 0o644)
    refused(errno.EACCES, lambda: as_user(1234, lambda: utimens("file", NOW, NOW)))


@row("times.new-file", "inode(7)", "a new file, directory, symlink", "all times between two looks at the clock")
def _():
    before = time.clock_gettime_ns(5)
    put("file", b"x")
    os.mkdir("dir")
    os.symlink("x", "link")
    after = time.clock_gettime_ns(0)
    for name in ("file", "dir", "link"):
        status = os.lstat(name)
        for value in (status.st_mtime_ns, status.st_ctime_ns, status.st_atime_ns):
            holds(before <= value <= after, f"{name}: {value} is not between {before} and {after}")


@row("times.ctime-kept", "inode(7)", "mtime set far ahead and far back", "ctime is the clock's all the same")
def _():
    put("file")
    for ns in (OLD, 4_000_000_000 * 10**9):
        before = time.clock_gettime_ns(5)
        os.utime("file", ns=(ns, ns))
        holds(before <= os.stat("file").st_ctime_ns <= time.clock_gettime_ns(0), "ctime is not now")


def noticed(look, path, expected=True):
    """Whether looking moves an access time that is older than the change (relatime)."""
    os.utime(path, ns=(OLD, OLD + 10**9), follow_symlinks=False)
    tick()
    look()
    equal(os.lstat(path).st_atime_ns != OLD, expected, "the access time has moved")


@row("times.atime-of-a-file", "inode(7)", "a file is read whose access time is older than its change", "the access time is now")
def _():
    put("file", b"x")
    noticed(lambda: get("file"), "file")


@row("times.atime-of-a-directory", "inode(7)", "such a directory is listed", "the access time is now")
def _():
    os.mkdir("dir")
    put("dir/a")
    noticed(lambda: os.listdir("dir"), "dir")


@row("times.atime-noatime", "open(2)", "such a file is read by O_NOATIME", "the access time stays")
def _():
    put("file", b"x")
    noticed(lambda: os.read(os.open("file", os.O_RDONLY | os.O_NOATIME), 1), "file", False)


class Statx(ctypes.Structure):
    _fields_ = [("mask", ctypes.c_uint32), ("head", ctypes.c_uint8 * 76), ("birth", ctypes.c_int64), ("rest", ctypes.c_uint8 * 400)]


@row("times.birth", "statx(2)", "STATX_BTIME of a new file, whose times are then set back", "the time it was made")
def _():
    before = time.clock_gettime_ns(5) // 10**9
    put("file", b"x")
    os.utime("file", ns=(OLD, OLD))
    got = Statx()
    call(LIBC.statx, -100, b"file", 0, 0x800, ctypes.byref(got))
    holds(got.mask & 0x800, "statx has no birth time")
    holds(before <= got.birth <= before + 5, f"birth {got.birth}, now {before}")
