"""What the Python parts of the cases share: calls that Python lacks, and checks."""
import contextlib
import ctypes
import errno
import os
import random
import sys
import time

M, V, W = (os.environ[name] for name in ("M", "V", "W"))

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH = -100, 0x400, 0x1000
RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT = 1, 2, 4
FALLOC_KEEP_SIZE, FALLOC_PUNCH_HOLE, FALLOC_COLLAPSE_RANGE, FALLOC_ZERO_RANGE = 1, 2, 8, 16
CLOCK_REALTIME_COARSE = 5  # the clock of timestamps


def _call(function, *arguments):
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def renameat2(source, target, flags):
    _call(LIBC.renameat2, AT_FDCWD, os.fsencode(source), AT_FDCWD, os.fsencode(target), flags)


def linkat(source, target, flags):
    _call(LIBC.linkat, AT_FDCWD, os.fsencode(source), AT_FDCWD, os.fsencode(target), flags)


def fallocate(fd, mode, offset, length):
    _call(LIBC.fallocate, fd, mode, ctypes.c_int64(offset), ctypes.c_int64(length))


def syncfs(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        _call(LIBC.syncfs, fd)
    finally:
        os.close(fd)


def fail(*words):
    print("FAIL:", *words, file=sys.stderr)
    sys.exit(1)


def equal(got, expected, what):
    if got != expected:
        fail(f"{what}: got {brief(got)}, expected {brief(expected)}")


def brief(value):
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:120]}… ({len(value)} in all)"


@contextlib.contextmanager
def refused(number, what):
    """The block has to fail with that errno, or one of several."""
    numbers = number if isinstance(number, tuple) else (number,)
    names = " or ".join(errno.errorcode[n] for n in numbers)
    try:
        yield
    except OSError as error:
        if error.errno not in numbers:
            fail(f"{what}: {errno.errorcode.get(error.errno, error.errno)}, expected {names}")
        return
    fail(f"{what}: done, expected {names}")


def tick():
    """Returns when the clock of timestamps has passed what any stamp may say now: those of a backing file may be finer than that clock."""
    now = time.clock_gettime_ns(time.CLOCK_REALTIME)
    while time.clock_gettime_ns(CLOCK_REALTIME_COARSE) <= now:
        pass


def write_file(path, content):
    with open(path, "wb") as file:
        file.write(content)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def pattern(seed, count):
    """Bytes that differ at every place and for every seed."""
    return random.Random(seed).randbytes(count)
