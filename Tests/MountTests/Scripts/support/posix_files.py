"""Content: open, read, write, cut, holes, files without a name, mappings, programs."""
import ctypes
import errno
import mmap
import os
import resource
import shutil
import signal
import subprocess

from posix_table import LIBC, as_user, call, equal, fallocate, get, holds, in_child, later, linkat, mode, put, refusals, refused, row, start_child

KEEP, PUNCH, ZERO = 1, 2, 16
O_TMPFILE = os.O_TMPFILE


def made(size=5000):
    return lambda: put("file", b"x" * size)


def opened(flags=os.O_RDWR):
    return os.open("file", flags)


refusals("open(2)",
         ("open.missing", "nothing", errno.ENOENT, lambda: os.open("none", os.O_RDONLY)),
         ("open.excl", "O_CREAT | O_EXCL of a file that is there", errno.EEXIST, lambda: os.open("file", os.O_CREAT | os.O_EXCL | os.O_WRONLY), made()),
         ("open.directory-for-writing", "a directory for writing", errno.EISDIR, lambda: os.open(".", os.O_WRONLY)),
         ("open.directory-create", "O_CREAT of a directory", errno.EISDIR, lambda: os.open(".", os.O_CREAT | os.O_RDONLY)),
         ("open.file-as-directory", "O_DIRECTORY of a file", errno.ENOTDIR, lambda: os.open("file", os.O_DIRECTORY), made()),
         ("open.tmpfile-read-only", "O_TMPFILE without writing", errno.EINVAL, lambda: os.open(".", O_TMPFILE | os.O_RDONLY)))
refusals("read(2)",
         ("read.write-only", "a write-only descriptor", errno.EBADF, lambda: os.read(opened(os.O_WRONLY), 1), made()),
         ("read.directory", "a directory", errno.EISDIR, lambda: os.read(os.open(".", os.O_RDONLY), 1)),
         ("read.negative", "a negative offset", errno.EINVAL, lambda: os.pread(opened(), 1, -1), made()))
refusals("write(2)",
         ("write.read-only", "a read-only descriptor", errno.EBADF, lambda: os.write(opened(os.O_RDONLY), b"x"), made()),
         ("write.negative", "a negative offset", errno.EINVAL, lambda: os.pwrite(opened(), b"x", -1), made()))
refusals("ftruncate(2)",
         ("truncate.negative", "a negative size", errno.EINVAL, lambda: os.ftruncate(opened(), -1), made()),
         ("truncate.read-only", "a read-only descriptor", errno.EINVAL, lambda: os.ftruncate(opened(os.O_RDONLY), 1), made()),
         ("truncate.directory", "a directory", errno.EISDIR, lambda: os.truncate(".", 1)),
         ("truncate.missing", "nothing", errno.ENOENT, lambda: os.truncate("none", 1)),
         ("truncate.too-large", "2⁶³ − 1 bytes", errno.EFBIG, lambda: os.ftruncate(opened(), (1 << 63) - 1), made()))
refusals("lseek(2)",
         ("seek.negative", "to before the beginning", errno.EINVAL, lambda: os.lseek(opened(), -1, os.SEEK_SET), made()),
         ("seek.bad-whence", "an unknown whence", errno.EINVAL, lambda: os.lseek(opened(), 0, 99), made()),
         ("seek.data-beyond", "SEEK_DATA beyond the end", errno.ENXIO, lambda: os.lseek(opened(), 5000, os.SEEK_DATA), made()),
         ("seek.hole-beyond", "SEEK_HOLE beyond the end", errno.ENXIO, lambda: os.lseek(opened(), 5000, os.SEEK_HOLE), made()),
         ("seek.data-negative", "SEEK_DATA from a negative place", errno.ENXIO, lambda: os.lseek(opened(), -1, os.SEEK_DATA), made()))
refusals("fallocate(2)",
         ("fallocate.nothing", "0 bytes", errno.EINVAL, lambda: fallocate(opened(), 0, 0, 0), made()),
         ("fallocate.negative", "a negative place", errno.EINVAL, lambda: fallocate(opened(), 0, -1, 10), made()),
         ("fallocate.negative-length", "a negative length", errno.EINVAL, lambda: fallocate(opened(), 0, 0, -1), made()),
         ("fallocate.read-only", "a read-only descriptor", errno.EBADF, lambda: fallocate(opened(os.O_RDONLY), 0, 0, 10), made()),
         ("fallocate.too-large", "beyond 2⁶³", errno.EFBIG, lambda: fallocate(opened(), 0, (1 << 63) - 10, 20), made()),
         ("fallocate.punch-alone", "PUNCH_HOLE without KEEP_SIZE", errno.EOPNOTSUPP, lambda: fallocate(opened(), PUNCH, 0, 10), made()),
         ("fallocate.punch-and-zero", "PUNCH_HOLE and ZERO_RANGE", errno.EOPNOTSUPP, lambda: fallocate(opened(), PUNCH | ZERO | KEEP, 0, 10), made()),
         ("fallocate.directory", "a directory", (errno.EBADF, errno.EISDIR), lambda: fallocate(os.open(".", os.O_RDONLY), 0, 0, 10)))


def copy_range(source, place, target, to, count, flags=0):
    one, two = ctypes.c_int64(place), ctypes.c_int64(to)
    return call(LIBC.copy_file_range, source, ctypes.byref(one), target, ctypes.byref(two), ctypes.c_size_t(count), flags)


refusals("copy_file_range(2)",
         ("copy.overlap", "overlapping parts of one file", errno.EINVAL, lambda: copy_range(opened(), 0, opened(), 100, 200), made()),
         ("copy.append", "to an O_APPEND descriptor", errno.EBADF, lambda: copy_range(opened(), 0, opened(os.O_RDWR | os.O_APPEND), 9000, 10), made()),
         ("copy.read-only", "to a read-only descriptor", errno.EBADF, lambda: copy_range(opened(), 0, opened(os.O_RDONLY), 9000, 10), made()),
         ("copy.write-only", "from a write-only descriptor", errno.EBADF, lambda: copy_range(opened(os.O_WRONLY), 0, opened(), 9000, 10), made()),
         ("copy.directory", "from a directory", errno.EISDIR, lambda: copy_range(os.open(".", os.O_RDONLY), 0, opened(), 0, 10), made()),
         ("copy.flags", "unknown flags", errno.EINVAL, lambda: copy_range(opened(), 0, opened(), 9000, 10, 7), made()))
refusals("mmap(2)",
         ("mmap.shared-write-of-read-only", "a shared writable mapping of a read-only descriptor", errno.EACCES,
          lambda: mmap.mmap(opened(os.O_RDONLY), 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE), made()),
         ("mmap.write-only", "a mapping of a write-only descriptor", errno.EACCES, lambda: mmap.mmap(opened(os.O_WRONLY), 4096, mmap.MAP_SHARED, mmap.PROT_READ), made()))
refusals("fcntl(2)", ("open.noatime-of-others", "O_NOATIME of somebody else's file", errno.EPERM, lambda: as_user(1234, lambda: os.open("file", os.O_RDONLY | os.O_NOATIME)),
                      made(), lambda: os.geteuid() == 0 or os._exit(0)))


@row("read.beyond-the-end", "read(2)", "at and behind the end", "nothing; a short read across it")
def _():
    put("file", b"x" * 5000)
    fd = opened()
    equal([len(os.pread(fd, 100, place)) for place in (4950, 5000, 5001, 1 << 40)], [50, 0, 0, 0], "bytes")


@row("write.beyond-the-end", "lseek(2)", "a write far behind the end", "zeros between, size follows")
def _():
    for size in (0, 10, 4096, 5000):
        put("file", b"x" * size)
        fd = opened()
        equal(os.pwrite(fd, b"end", 300_000), 3, "written")
        equal((os.fstat(fd).st_size, get("file")), (300_003, b"x" * size + bytes(300_000 - size) + b"end"), "content")


@row("truncate.zeros", "ftruncate(2)", "cut in the middle of a block and grown again", "zeros where it was cut")
def _():
    for size in (10, 3839, 3840, 4096, 10000, 300_000):
        put("file", b"x" * size)
        os.truncate("file", size // 2)
        os.truncate("file", size + 5000)
        equal(get("file"), b"x" * (size // 2) + bytes(size - size // 2 + 5000), f"content of {size}")


@row("truncate.file-size-limit", "setrlimit(2)", "a write and a truncate beyond RLIMIT_FSIZE", "a short write to the limit, then EFBIG")
def _():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    equal(os.pwrite(fd, b"x" * 8000, 4000), 6000, "written")
    refused(errno.EFBIG, lambda: os.pwrite(fd, b"x", 10_000))
    refused(errno.EFBIG, lambda: os.ftruncate(fd, 10_001))
    equal(os.fstat(fd).st_size, 10_000, "size")


@row("truncate.16-TiB", "ftruncate(2)", "to 8 TiB with a byte at its end, and back", "reads as it should")
def _():
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    size = 8 << 40
    os.ftruncate(fd, size)
    os.pwrite(fd, b"z", size - 1)
    equal((os.pread(fd, 10, size - 3), os.fstat(fd).st_size), (b"\0\0z", size), "the end")
    holds(os.fstat(fd).st_blocks < 10_000, f"{os.fstat(fd).st_blocks} blocks for one byte")
    os.ftruncate(fd, 0)
    equal(os.fstat(fd).st_blocks, 0, "blocks of an empty file")


@row("unlinked.everything", "unlink(2)", "read, write, cut, grow, chmod, chown, times, xattr, sync, map, lock through a descriptor whose file has no name", "works to the last close")
def _():
    for flags in (0, os.O_SYNC):
        fd = os.open("file", os.O_CREAT | os.O_RDWR | flags)
        os.write(fd, b"a" * 6000)
        os.unlink("file")
        equal(os.fstat(fd).st_nlink, 0, "nlink")
        os.pwrite(fd, b"b" * 6000, 3000)
        os.ftruncate(fd, 8000)
        os.fchmod(fd, 0o600)
        if os.geteuid() == 0:
            os.fchown(fd, 5, 6)
            equal((os.fstat(fd).st_uid, os.fstat(fd).st_gid), (5, 6), "owner")
        os.utime(fd, ns=(5, 7))
        equal(os.fstat(fd).st_mtime_ns, 7, "mtime")
        os.setxattr(fd, "user.a", b"b")
        equal((os.getxattr(fd, "user.a"), os.listxattr(fd)), (b"b", ["user.a"]), "attribute")
        os.removexattr(fd, "user.a")
        os.fsync(fd)
        os.fdatasync(fd)
        fallocate(fd, PUNCH | KEEP, 0, 100)
        with mmap.mmap(fd, 8000) as view:
            view[7999] = 65
        expected = bytes(100) + b"a" * 2900 + b"b" * 4999 + b"A"
        equal((os.pread(fd, 9000, 0), os.fstat(fd).st_size, os.fstat(fd).st_mode & 0o777), (expected, 8000, 0o600), "content")
        put("file", b"another")
        equal((os.pread(fd, 9000, 0) == expected, get("file")), (True, b"another"), "beside one of the same name")
        again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
        os.pwrite(again, b"c", 0)
        equal(os.pread(fd, 1, 0), b"c", "by a second descriptor")
        os.unlink("file")


@row("links.one-file", "link(2)", "a write, a cut, a chmod by one name", "at once by the other; unlinking one leaves the other")
def _():
    put("a", b"x" * 5000)
    os.mkdir("d")
    os.link("a", "d/b")
    one, two = os.open("a", os.O_RDWR), os.open("d/b", os.O_RDWR)
    os.pwrite(one, b"y" * 10, 8000)
    equal((os.fstat(two).st_size, os.stat("d/b").st_size, os.pread(two, 3, 8000)), (8010, 8010, b"yyy"), "after a write")
    os.truncate("d/b", 100)
    equal((os.fstat(one).st_size, os.stat("a").st_size), (100, 100), "after a cut")
    os.chmod("a", 0o600)
    equal((mode("d/b"), os.stat("a").st_nlink), (0o600, 2), "mode and nlink")
    os.unlink("a")
    equal((os.fstat(one).st_nlink, get("d/b")), (1, b"x" * 100), "after an unlink")
    return os.stat("d/b").st_ino


@later("links.one-file")
def _(number):
    equal((os.stat("d/b").st_ino, os.stat("d/b").st_nlink), (number, 1), "after a remount")


@row("append.processes", "open(2)", "4 processes append 400 lines each by O_APPEND", "every line is whole and there once")
def _():
    put("file")

    def append(number):
        fd = os.open("file", os.O_WRONLY | os.O_APPEND)
        for n in range(400):
            os.write(fd, f"{number}:{n}:{'x' * (n * 7 % 500)}\n".encode())
    for wait in [start_child(lambda number=number: append(number)) for number in range(4)]:
        wait()
    lines = get("file").decode().splitlines()
    equal(len(lines), 1600, "lines")
    equal(sorted(lines), sorted(f"{number}:{n}:{'x' * (n * 7 % 500)}" for number in range(4) for n in range(400)), "lines")


@row("append.pwrite", "pwrite(2)", "pwrite at 0 to an O_APPEND descriptor", "appends, on Linux")
def _():
    put("file", b"abc")
    fd = opened(os.O_RDWR | os.O_APPEND)
    os.pwrite(fd, b"def", 0)
    equal(get("file"), b"abcdef", "content")
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, b"g")
    equal((get("file"), os.lseek(fd, 0, os.SEEK_CUR)), (b"abcdefg", 7), "content and place")


@row("append.after-a-cut", "open(2)", "another process cuts the file between two appends", "the second is at the new end")
def _():
    put("file", b"x" * 9000)
    fd = opened(os.O_WRONLY | os.O_APPEND)
    os.write(fd, b"one")
    in_child(lambda: os.truncate("file", 10))
    os.write(fd, b"two")
    equal(get("file"), b"x" * 10 + b"two", "content")


@row("trunc.beside-a-writer", "open(2)", "O_TRUNC by another process while a descriptor writes on", "zeros up to where it writes on")
def _():
    for size in (100, 5000, 300_000):
        fd = os.open("file", os.O_CREAT | os.O_RDWR | os.O_TRUNC)
        os.write(fd, b"a" * size)
        in_child(lambda: os.close(os.open("file", os.O_WRONLY | os.O_TRUNC)))
        equal(os.fstat(fd).st_size, 0, "size after the cut")
        os.write(fd, b"bcd")
        equal((get("file"), os.fstat(fd).st_size), (bytes(size) + b"bcd", size + 3), f"content, {size}")
        os.close(fd)


@row("trunc.against-a-writer", "ftruncate(2)", "one process writes a block again and again, another cuts and grows", "a block is whole or zeros")
def _():
    put("file", b"w" * 8192)

    def cut():
        for _ in range(300):
            os.truncate("file", 0)
            os.truncate("file", 8192)
    wait = start_child(cut)
    fd = opened()
    for _ in range(300):
        os.pwrite(fd, b"w" * 4096, 4096)
        got = os.pread(fd, 4096, 4096)
        holds(set(got) <= {0, 119}, f"other bytes: {set(got)}")
    wait()
    os.truncate("file", 4096)
    equal(os.stat("file").st_size, 4096, "size")


@row("fallocate.default", "fallocate(2)", "beyond the end", "size grows, zeros, what was there stays, space is reserved")
def _():
    put("file", b"x" * 5000)
    fd = opened()
    fallocate(fd, 0, 3000, 1_000_000)
    equal((os.fstat(fd).st_size, get("file")), (1_003_000, b"x" * 5000 + bytes(998_000)), "content")


@row("fallocate.reserves", "fallocate(2)", "1 MiB of a new file", "st_blocks counts it")
def _():
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    fallocate(fd, 0, 0, 1 << 20)
    holds(os.fstat(fd).st_blocks * 512 >= 1 << 20, f"{os.fstat(fd).st_blocks} blocks")


@row("fallocate.keep-size", "fallocate(2)", "KEEP_SIZE beyond the end", "the size stays; a later write there works")
def _():
    put("file", b"x" * 5000)
    fd = opened()
    fallocate(fd, KEEP, 0, 1_000_000)
    equal((os.fstat(fd).st_size, get("file")), (5000, b"x" * 5000), "content")
    os.pwrite(fd, b"y", 900_000)
    equal(get("file"), b"x" * 5000 + bytes(895_000) + b"y", "content after a write")


@row("fallocate.zero-range", "fallocate(2)", "ZERO_RANGE, in the middle, across the end, with and without KEEP_SIZE", "zeros; size grows or stays")
def _():
    for keep in (0, KEEP):
        put("file", b"x" * 20_000)
        fd = opened()
        fallocate(fd, ZERO | keep, 100, 9000)
        fallocate(fd, ZERO | keep, 15_000, 10_000)
        size = 20_000 if keep else 25_000
        equal(get("file"), b"x" * 100 + bytes(9000) + b"x" * 5900 + bytes(size - 15_000), f"content, keep {keep}")


@row("fallocate.punch", "fallocate(2)", "PUNCH_HOLE of 3 MiB in 4 MiB", "zeros, size stays, blocks are given back")
def _():
    put("file", b"x" * (4 << 20))
    fd = opened()
    os.fsync(fd)
    before = os.fstat(fd).st_blocks
    fallocate(fd, PUNCH | KEEP, 1 << 19, 3 << 20)
    equal(get("file"), b"x" * (1 << 19) + bytes(3 << 20) + b"x" * (1 << 19), "content")
    os.fsync(fd)
    holds(os.fstat(fd).st_blocks < before / 2, f"{before} blocks, then {os.fstat(fd).st_blocks}")


@row("seek.holes", "lseek(2)", "data between two holes of 1 MiB", "SEEK_DATA and SEEK_HOLE find it, before any sync, too")
def _():
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, 3 << 20)
    os.pwrite(fd, b"d" * (1 << 20), 1 << 20)
    equal([os.lseek(fd, 0, os.SEEK_DATA), os.lseek(fd, 1 << 20, os.SEEK_HOLE), os.lseek(fd, 0, os.SEEK_HOLE)], [1 << 20, 2 << 20, 0], "places")
    refused(errno.ENXIO, lambda: os.lseek(fd, 2 << 20, os.SEEK_DATA))
    return None


@later("seek.holes")
def _(_state):
    fd = opened()
    equal([os.lseek(fd, 0, os.SEEK_DATA), os.lseek(fd, 1 << 20, os.SEEK_HOLE)], [1 << 20, 2 << 20], "places after a remount")


@row("tmpfile.link", "open(2)", "O_TMPFILE, written, linkat through /proc", "no name before, a whole file after")
def _():
    fd = os.open(".", O_TMPFILE | os.O_RDWR, 0o640)
    os.write(fd, b"t" * 9000)
    equal((os.listdir("."), os.fstat(fd).st_nlink), ([], 0), "before")
    linkat(f"/proc/self/fd/{fd}", "named", 0x400)
    equal((get("named"), os.fstat(fd).st_nlink, mode("named"), os.stat("named").st_ino), (b"t" * 9000, 1, 0o640, os.fstat(fd).st_ino), "after")
    os.write(fd, b"more")
    equal(os.stat("named").st_size, 9004, "size after another write")
    refused(errno.EEXIST, lambda: linkat(f"/proc/self/fd/{fd}", "named", 0x400))


@later("tmpfile.link")
def _(_state):
    equal((get("named"), os.listdir(".")), (b"t" * 9000 + b"more", ["named"]), "after a remount")


@row("tmpfile.excl", "open(2)", "O_TMPFILE | O_EXCL, linkat", "ENOENT")
def _():
    fd = os.open(".", O_TMPFILE | os.O_RDWR | os.O_EXCL)
    os.write(fd, b"x")
    refused(errno.ENOENT, lambda: linkat(f"/proc/self/fd/{fd}", "named", 0x400))


@row("copy.contents", "copy_file_range(2)", "within a file, between files, across the end, behind it", "as read and write would; short at the end")
def _():
    data = os.urandom(300_000)
    put("a", data)
    put("b", b"b" * 1000)
    one, two = os.open("a", os.O_RDWR), os.open("b", os.O_RDWR)
    done = 0
    while done < 100_000:
        done += copy_range(one, 5000 + done, two, 3000 + done, 100_000 - done)
    equal(get("b"), b"b" * 1000 + bytes(2000) + data[5000:105_000], "between files")
    equal(copy_range(one, 299_000, two, 0, 5000), 1000, "across the end")
    equal(copy_range(one, 300_000, two, 0, 10), 0, "behind the end")
    equal(copy_range(one, 0, one, 200_000, 4096), 4096, "within")
    equal(get("a")[200_000:204_096], data[:4096], "within")


@row("sendfile", "sendfile(2)", "from a file to another, 200,000 bytes", "the same content")
def _():
    data = os.urandom(200_000)
    put("a", data)
    source, target = os.open("a", os.O_RDONLY), os.open("b", os.O_CREAT | os.O_WRONLY)
    done = 0
    while done < len(data):
        done += os.sendfile(target, source, done, len(data) - done)
    equal(get("b") == data, True, "content")


@row("vectors", "readv(2)", "pwritev, preadv, RWF_APPEND, RWF_DSYNC", "as one write or read")
def _():
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    equal(os.pwritev(fd, [b"a" * 3000, b"", b"b" * 3000], 100), 6000, "written")
    equal(os.pwritev(fd, [b"end"], 0, 0x10), 3, "appended")
    equal(os.pwritev(fd, [b"sync"], 0, os.RWF_DSYNC), 4, "synced")
    one, two = bytearray(100), bytearray(7000)
    equal(os.preadv(fd, [one, two], 0), 6103, "read")
    equal((bytes(one), bytes(two[:6003])), (b"sync" + bytes(96), b"a" * 3000 + b"b" * 3000 + b"end"), "content")


@row("mmap.beyond-the-end", "mmap(2)", "a load behind the last page of a mapped file", "SIGBUS; zeros up to the end of the page")
def _():
    put("file", b"x" * 5000)
    view = mmap.mmap(opened(), 16384)if os.path.getsize("file") >= 16384 else None
    os.truncate("file", 16384)
    view = mmap.mmap(opened(), 16384)
    os.truncate("file", 5000)
    equal(view[5000:8192], bytes(3192), "the rest of the page")
    pid = os.fork()
    if pid == 0:
        view[8192]
        os._exit(0)
    equal(os.WTERMSIG(os.waitpid(pid, 0)[1]), signal.SIGBUS, "signal")


@row("mmap.coherent", "mmap(2)", "stores, writes, a second process, another descriptor", "each sees the other's at once")
def _():
    put("file", bytes(20_000))
    view = mmap.mmap(opened(), 20_000)
    view[100:105] = b"store"
    equal(get("file")[100:105], b"store", "by read")

    def other():
        fd = opened()
        equal(os.pread(fd, 5, 100), b"store", "in another process")
        os.pwrite(fd, b"write", 9000)
        mine = mmap.mmap(fd, 20_000)
        mine[10_000:10_005] = b"other"
    in_child(other)
    equal((view[9000:9005], view[10_000:10_005]), (b"write", b"other"), "by the mapping")


@row("exec", "execve(2)", "a program copied there and run; a script; without x", "runs; EACCES")
def _():
    shutil.copy("/bin/true", "program")
    equal(subprocess.run(["./program"], check=False).returncode, 0, "a program")
    put("script", b"#!/bin/sh\nexit 7\n")
    os.chmod("script", 0o755)
    equal(subprocess.run(["./script"], check=False).returncode, 7, "a script")
    os.chmod("script", 0o644)
    refused(errno.EACCES, lambda: in_child(lambda: os.execv("./script", ["script"])))


@row("exec.text-busy", "execve(2)", "a program that is open for writing is run; one that runs is opened for writing", "ETXTBSY")
def _():
    shutil.copy("/bin/sleep", "program")
    fd = os.open("program", os.O_WRONLY)
    refused(errno.ETXTBSY, lambda: in_child(lambda: os.execv("./program", ["program", "0"])))
    os.close(fd)
    with subprocess.Popen(["./program", "20"]) as process:
        refused(errno.ETXTBSY, lambda: os.open("program", os.O_WRONLY))
        process.kill()
    os.close(os.open("program", os.O_WRONLY))


@row("sync.everything", "fsync(2)", "fsync of a read-only descriptor, of a directory; fdatasync; sync_file_range; syncfs", "done")
def _():
    put("file", b"x" * 9000)
    fd = opened(os.O_RDONLY)
    os.fsync(fd)
    os.fdatasync(fd)
    os.fsync(os.open(".", os.O_RDONLY))
    call(LIBC.syncfs, fd)
    call(LIBC.sync_file_range, fd, ctypes.c_int64(0), ctypes.c_int64(0), 7)


@row("read.at-once-elsewhere", "write(2)", "each of 300 writes read by another process at once", "what was written is what is read")
def _():
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    question, answer = os.pipe(), os.pipe()

    def other():
        mine = opened(os.O_RDONLY)
        while (place := os.read(question[0], 8)) != b"end.....":
            where = int(place)
            os.write(answer[1], os.pread(mine, 8, where) + b"%09d" % os.stat("file").st_size)
    wait = start_child(other)
    for n in range(300):
        where = n * 997
        os.pwrite(fd, b"%08d" % n, where)
        os.write(question[1], b"%08d" % where)
        equal(os.read(answer[0], 17), b"%08d%09d" % (n, where + 8), f"write {n}")
    os.write(question[1], b"end.....")
    wait()


@row("open.write-only", "open(2)", "written within pages through a write-only descriptor of a file of mode 0200", "what surrounds it stays")
def _():
    put("file", b"x" * 9000)
    os.chmod("file", 0o200)
    fd = opened(os.O_WRONLY)
    os.pwrite(fd, b"yz", 5000)
    os.close(fd)
    os.chmod("file", 0o600)
    equal(get("file"), b"x" * 5000 + b"yz" + b"x" * 3998, "content")


@row("inotify", "inotify(7)", "create, write, rename, unlink", "an event each")
def _():
    fd = call(LIBC.inotify_init)
    call(LIBC.inotify_add_watch, fd, b".", 0x2 | 0x100 | 0x200 | 0x40 | 0x80)
    put("file", b"x")
    os.rename("file", "renamed")
    os.unlink("renamed")
    events, masks = os.read(fd, 4096), []
    while events:
        masks.append(int.from_bytes(events[4:8], "little"))
        events = events[16 + int.from_bytes(events[12:16], "little"):]
    equal(masks, [0x100, 0x2, 0x40, 0x80, 0x200], "events")


@row("fallocate.collapse", "fallocate(2)", "COLLAPSE_RANGE of a block in the middle", "what follows moves up")
def _():
    put("file", b"a" * 4096 + b"b" * 4096 + b"c" * 4096)
    fallocate(opened(), 8, 4096, 4096)
    equal(get("file"), b"a" * 4096 + b"c" * 4096, "content")


@row("fallocate.insert", "fallocate(2)", "INSERT_RANGE of a block in the middle", "what follows moves down")
def _():
    put("file", b"a" * 4096 + b"b" * 4096)
    fallocate(opened(), 32, 4096, 4096)
    equal(get("file"), b"a" * 4096 + bytes(4096) + b"b" * 4096, "content")


@row("handle.open-by", "open_by_handle_at(2)", "name_to_handle_at, open_by_handle_at", "the same file", root=True)
def _():
    put("file", b"by handle")
    room = ctypes.create_string_buffer(bytes(ctypes.c_uint32(128)) + bytes(4 + 128))
    mount = ctypes.c_int()
    call(LIBC.name_to_handle_at, -100, b"file", room, ctypes.byref(mount), 0)
    fd = call(LIBC.open_by_handle_at, os.open(".", os.O_RDONLY), room, os.O_RDONLY)
    equal(os.read(fd, 20), b"by handle", "content")


@row("lease", "fcntl(2)", "a read lease of a file that nobody writes", "given")
def _():
    import fcntl
    put("file", b"x")
    fd = opened(os.O_RDONLY)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    equal(fcntl.fcntl(fd, fcntl.F_GETLEASE), fcntl.F_RDLCK, "lease")


@row("flags.append-only", "ioctl_iflags(2)", "FS_APPEND_FL set and read", "set; writing at 0 refused", root=True)
def _():
    import fcntl
    put("file", b"x")
    fd = opened()
    flags = int.from_bytes(fcntl.ioctl(fd, 0x80086601, bytes(8))[:4], "little")
    fcntl.ioctl(fd, 0x40086602, (flags | 0x20).to_bytes(8, "little"))
    try:
        refused(errno.EPERM, lambda: opened(os.O_WRONLY))
    finally:
        fcntl.ioctl(fd, 0x40086602, flags.to_bytes(8, "little"))
