#!/usr/bin/env bash
# flock, fcntl and open-file-description locks hold between processes, and end with their holders.
. "$(dirname "$0")/support/lib.sh"
exec 8>"$M/lock"
flock -n -x 8
refused '' flock -n -x "$M/lock" true
refused '' flock -n -s "$M/lock" true
flock -u 8
flock -n -s 8
flock -n -s "$M/lock" true
refused '' flock -n -x "$M/lock" true
exec 8>&-
flock -n -x "$M/lock" true
python - <<'END'
import errno, fcntl, os, struct
from checks import *
path = f"{M}/ranges"
write_file(path, bytes(1000))
fd = os.open(path, os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_EX, 100, 0)
fcntl.lockf(fd, fcntl.LOCK_SH, 100, 500)

def other(*attempts):
    """What another process gets: one letter an attempt."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        own = os.open(path, os.O_RDWR)
        result = ""
        for kind, start in attempts:
            try:
                fcntl.lockf(own, kind | fcntl.LOCK_NB, 10, start)
                result += "y"
            except OSError as error:
                result += "n" if error.errno in (errno.EAGAIN, errno.EACCES) else "?"
        os.write(write, result.encode())
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(write)
    with os.fdopen(read) as pipe:
        return pipe.read()

equal(other((fcntl.LOCK_EX, 50), (fcntl.LOCK_SH, 50), (fcntl.LOCK_EX, 200), (fcntl.LOCK_SH, 550), (fcntl.LOCK_EX, 550)), "nnyyn", "ranges")
# Closing any descriptor of the file gives up the process's fcntl locks: POSIX, and sqlite knows.
os.close(os.open(path, os.O_RDONLY))
equal(other((fcntl.LOCK_EX, 50)), "y", "after a close")
# Locks of an open file description stay.
lock = lambda kind, start, count: struct.pack("hhqqi4x", kind, os.SEEK_SET, start, count, 0)
F_OFD_SETLK = 37
fcntl.fcntl(fd, F_OFD_SETLK, lock(fcntl.F_WRLCK, 0, 100))
os.close(os.open(path, os.O_RDONLY))
equal(other((fcntl.LOCK_EX, 50)), "n", "an OFD lock after a close of another descriptor")
os.close(fd)
equal(other((fcntl.LOCK_EX, 50)), "y", "after the close of its descriptor")
# A lock that waits gets its turn when the holder is killed.
fd = os.open(path, os.O_RDWR)
ready, signal = os.pipe()
pid = os.fork()
if pid == 0:
    fcntl.lockf(fd, fcntl.LOCK_EX)
    os.write(signal, b"x")
    while True:
        os.read(os.open("/dev/zero", os.O_RDONLY), 1)
os.read(ready, 1)
os.kill(pid, 9)
fcntl.lockf(fd, fcntl.LOCK_EX)
os.waitpid(pid, 0)
END
