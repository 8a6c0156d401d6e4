"""Locks between processes."""
import errno
import fcntl
import os
import struct
import time

from posix_table import equal, holds, in_child, put, refused, row, start_child


def opened():
    return os.open("file", os.O_RDWR | os.O_CREAT)


def flock(how, fd=None):
    fcntl.flock(fd if fd is not None else opened(), how | fcntl.LOCK_NB)


@row("flock.exclusive", "flock(2)", "exclusive here, then shared and exclusive in another process", "EWOULDBLOCK, until it is let go")
def _():
    fd = opened()
    flock(fcntl.LOCK_EX, fd)
    refused(errno.EWOULDBLOCK, lambda: in_child(lambda: flock(fcntl.LOCK_EX)))
    refused(errno.EWOULDBLOCK, lambda: in_child(lambda: flock(fcntl.LOCK_SH)))
    flock(fcntl.LOCK_UN, fd)
    in_child(lambda: flock(fcntl.LOCK_EX))
    flock(fcntl.LOCK_SH, fd)
    in_child(lambda: flock(fcntl.LOCK_SH))
    refused(errno.EWOULDBLOCK, lambda: in_child(lambda: flock(fcntl.LOCK_EX)))


@row("flock.close", "flock(2)", "the last descriptor of an open file is closed, or its process ends", "the lock goes")
def _():
    fd = opened()
    copy = os.dup(fd)
    flock(fcntl.LOCK_EX, fd)
    os.close(fd)
    refused(errno.EWOULDBLOCK, lambda: in_child(lambda: flock(fcntl.LOCK_EX)))
    os.close(copy)
    in_child(lambda: flock(fcntl.LOCK_EX))
    flock(fcntl.LOCK_EX)


@row("flock.same-process", "flock(2)", "two open files of one process", "conflict as those of two do")
def _():
    flock(fcntl.LOCK_EX, opened())
    refused(errno.EWOULDBLOCK, lambda: flock(fcntl.LOCK_EX))


@row("flock.wait", "flock(2)", "another process waits for the lock", "it gets it once it is let go")
def _():
    fd = opened()
    flock(fcntl.LOCK_EX, fd)
    reader, writer = os.pipe()

    def wait_for_it():
        other = opened()
        os.write(writer, b"r")
        fcntl.flock(other, fcntl.LOCK_EX)
        os.pwrite(other, b"got", 0)
    wait = start_child(wait_for_it)
    os.read(reader, 1)
    time.sleep(0.05)
    equal(os.pread(fd, 3, 0), b"", "before")
    flock(fcntl.LOCK_UN, fd)
    wait()
    equal(os.pread(fd, 3, 0), b"got", "after")


def record(kind, start, length, fd=None, command=fcntl.F_SETLK):
    data = struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0)
    return struct.unpack("hhqqi4x", fcntl.fcntl(fd if fd is not None else opened(), command, data))


@row("lock.ranges", "fcntl(2)", "records locked here, tried in another process", "EAGAIN where they overlap and one writes")
def _():
    put("file", b"x" * 1000)
    fd = opened()
    record(fcntl.F_WRLCK, 100, 100, fd)
    record(fcntl.F_RDLCK, 500, 100, fd)
    for kind, start, free in ((fcntl.F_WRLCK, 0, True), (fcntl.F_WRLCK, 200, True), (fcntl.F_RDLCK, 150, False), (fcntl.F_RDLCK, 550, True), (fcntl.F_WRLCK, 550, False)):
        if free:
            in_child(lambda kind=kind, start=start: record(kind, start, 50))
        else:
            refused((errno.EAGAIN, errno.EACCES), lambda kind=kind, start=start: in_child(lambda: record(kind, start, 50)))
    record(fcntl.F_UNLCK, 120, 20, fd)
    in_child(lambda: record(fcntl.F_WRLCK, 120, 20))
    refused((errno.EAGAIN, errno.EACCES), lambda: in_child(lambda: record(fcntl.F_WRLCK, 119, 1)))


@row("lock.owner", "fcntl(2)", "F_GETLK", "who holds it, and where")
def _():
    fd, here = opened(), os.getpid()
    record(fcntl.F_WRLCK, 10, 20, fd)

    def ask():
        equal(record(fcntl.F_WRLCK, 0, 100, command=fcntl.F_GETLK), (fcntl.F_WRLCK, 0, 10, 20, here), "holder")
        equal(record(fcntl.F_WRLCK, 40, 10, command=fcntl.F_GETLK)[0], fcntl.F_UNLCK, "elsewhere")
    in_child(ask)


@row("lock.close-any", "fcntl(2)", "any descriptor of the file is closed", "the process's records go")
def _():
    fd = opened()
    record(fcntl.F_WRLCK, 0, 10, fd)
    os.close(opened())
    in_child(lambda: record(fcntl.F_WRLCK, 0, 10))


@row("lock.wait", "fcntl(2)", "F_SETLKW", "waits, and goes on when the holder ends")
def _():
    reader, writer = os.pipe()

    def hold():
        record(fcntl.F_WRLCK, 0, 10)
        os.write(writer, b"r")
        time.sleep(0.1)
    wait = start_child(hold)
    os.read(reader, 1)
    started = time.monotonic()
    record(fcntl.F_WRLCK, 0, 10, command=fcntl.F_SETLKW)
    holds(time.monotonic() - started > 0.03, "it did not wait")
    wait()


@row("lock.deadlock", "fcntl(2)", "two processes each wait for the other", "EDEADLK for one")
def _():
    fd = opened()
    record(fcntl.F_WRLCK, 0, 10, fd)
    reader, writer = os.pipe()

    def other():
        mine = opened()
        record(fcntl.F_WRLCK, 20, 10, mine)
        os.write(writer, b"r")
        record(fcntl.F_WRLCK, 0, 10, mine, fcntl.F_SETLKW)
    wait = start_child(other)
    os.read(reader, 1)
    time.sleep(0.05)
    refused(errno.EDEADLK, lambda: record(fcntl.F_WRLCK, 20, 10, fd, fcntl.F_SETLKW))
    record(fcntl.F_UNLCK, 0, 10, fd)
    wait()


@row("lock.open-file", "fcntl(2)", "F_OFD_SETLK by two open files of one process", "they conflict, and go with the open file")
def _():
    one, two = opened(), opened()
    record(fcntl.F_WRLCK, 0, 10, one, 37)
    refused((errno.EAGAIN, errno.EACCES), lambda: record(fcntl.F_WRLCK, 5, 10, two, 37))
    refused((errno.EAGAIN, errno.EACCES), lambda: in_child(lambda: record(fcntl.F_WRLCK, 5, 10)))
    os.close(one)
    record(fcntl.F_WRLCK, 5, 10, two, 37)


@row("lock.counter", "fcntl(2)", "4 processes count to 200 each in one file under a lock", "800 in the end")
def _():
    put("file", b"000000")

    def count():
        fd = opened()
        for _ in range(200):
            record(fcntl.F_WRLCK, 0, 0, fd, fcntl.F_SETLKW)
            os.pwrite(fd, b"%06d" % (int(os.pread(fd, 6, 0)) + 1), 0)
            record(fcntl.F_UNLCK, 0, 0, fd)
    for wait in [start_child(count) for _ in range(4)]:
        wait()
    equal(os.pread(opened(), 6, 0), b"000800", "count")
