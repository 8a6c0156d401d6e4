"""A program that writes into a mount whose key comes and goes.

usage: lock_writer.py FOLDER NAME STOPFILE SEED

Appends records to a file it keeps open, overwrites earlier ones, reads some back, syncs, and makes, renames and removes files beside it. Each
call may fail with ENOKEY, and is then made again; any other error, and any wrong byte, ends the program with a message and exit code 1. When
STOPFILE exists it checks everything and prints what it met.
"""

import errno
import os
import random
import sys
import time

folder, name, stop, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
rng = random.Random(seed)
SIZE = 6000
locked = 0


def call(function, *arguments):
    """Makes a call until it is not refused for want of the key. Whatever a refused call was to do must not have happened, or happen again."""
    global locked
    while True:
        try:
            return function(*arguments)
        except OSError as error:
            if error.errno != errno.ENOKEY:
                sys.exit(f"{name}: {function.__name__}: {error}")
            locked += 1
            time.sleep(0.002)


def record(number, version):
    return (b"%s record %d version %d; " % (name.encode(), number, version) * (SIZE // 20))[:SIZE]


def write_all(fd, data, offset):
    """pwrite may be done in part when the key goes in the middle of it."""
    while data:
        done = call(os.pwrite, fd, data, offset)
        data, offset = data[done:], offset + done


def read_all(fd, count, offset):
    parts = []
    while count:
        part = call(os.pread, fd, count, offset)
        if not part:
            break
        parts.append(part)
        count, offset = count - len(part), offset + len(part)
    return b"".join(parts)


def check(fd, number):
    got = read_all(fd, SIZE, number * SIZE)
    if got != record(number, versions[number]):
        sys.exit(f"{name}: seed {seed}: record {number} is not what was written: {got[:60]!r}")


path = os.path.join(folder, name)
fd = call(os.open, path, os.O_RDWR | os.O_CREAT, 0o600)
versions = []
small = {}
steps = 0
while not os.path.exists(stop):
    steps += 1
    choice = rng.randrange(10)
    if choice < 4 and len(versions) < 2000:
        write_all(fd, record(len(versions), 0), len(versions) * SIZE)
        versions.append(0)
    elif choice < 6 and versions:
        number = rng.randrange(len(versions))
        write_all(fd, record(number, versions[number] + 1), number * SIZE)
        versions[number] += 1
    elif choice < 8 and versions:
        check(fd, rng.randrange(len(versions)))
    elif choice == 8:
        call(os.fsync, fd)
    else:
        place = os.path.join(folder, f"{name}.small.{rng.randrange(20)}")
        content = b"small %d" % steps * rng.randrange(1, 400)
        other = call(os.open, place + ".new", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        write_all(other, content, 0)
        os.close(other)
        while True:
            try:
                os.rename(place + ".new", place)
                break
            except FileNotFoundError:
                break  # the call before was done, and then told that the key had gone
            except OSError as error:
                if error.errno != errno.ENOKEY:
                    sys.exit(f"{name}: rename: {error}")
                locked += 1
                time.sleep(0.002)
        small[place] = content
call(os.fsync, fd)
for number in range(len(versions)):
    check(fd, number)
for place, content in small.items():
    other = call(os.open, place, os.O_RDONLY)
    if read_all(other, len(content) + 1, 0) != content:
        sys.exit(f"{name}: seed {seed}: {place} is not what was written")
    os.close(other)
os.close(fd)
print(f"ok {steps} steps {len(versions)} records {locked} times locked")
