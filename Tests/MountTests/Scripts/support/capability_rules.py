"""What becomes of security.capability and of the set-id bits when a file is used: a row each (see oracle.py)."""
import mmap
import os
import struct

from checks import FALLOC_KEEP_SIZE, FALLOC_PUNCH_HOLE, FALLOC_ZERO_RANGE, fallocate
from oracle import attempt, by, compare, file, mode

NAME = "security.capability"
# Version 2, effective: cap_net_bind_service permitted.
VALUE = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
ALICE, BOB = 2001, 2002


def made(folder, name="f", bits=0o6777, owner=ALICE, size=10000):
    path = file(folder, 0o600, name)
    with open(path, "wb") as content:
        content.write(b"x" * size)
    os.chown(path, owner, owner)
    os.chmod(path, bits)
    os.setxattr(path, NAME, VALUE)
    return path


def state(path):
    value = attempt(os.getxattr, path, NAME)
    return mode(path), value, NAME in os.listxattr(path)


def opened(path, flags, call):
    descriptor = os.open(path, flags)
    try:
        return call(descriptor)
    finally:
        os.close(descriptor)


def mapped(descriptor):
    with mmap.mmap(descriptor, 4096) as memory:
        memory[5:6] = b"m"


def copied(path):
    with open(path + ".source", "rb") as source:
        return opened(path, os.O_WRONLY, lambda descriptor: os.copy_file_range(source.fileno(), descriptor, 100))


USES = {
    "nothing": lambda path: None,
    "read": lambda path: opened(path, os.O_RDONLY, lambda fd: len(os.read(fd, 10))),
    "open for writing": lambda path: opened(path, os.O_RDWR, lambda fd: None),
    "write": lambda path: opened(path, os.O_WRONLY, lambda fd: os.write(fd, b"w")),
    "write nothing": lambda path: opened(path, os.O_WRONLY, lambda fd: os.write(fd, b"")),
    "append": lambda path: opened(path, os.O_WRONLY | os.O_APPEND, lambda fd: os.write(fd, b"a")),
    "big write": lambda path: opened(path, os.O_WRONLY, lambda fd: os.write(fd, bytes(300000))),
    "pwritev": lambda path: opened(path, os.O_WRONLY, lambda fd: os.pwritev(fd, [b"a", b"b"], 5000)),
    "map": lambda path: opened(path, os.O_RDWR, mapped),
    "truncate": lambda path: os.truncate(path, 5),
    "grow": lambda path: os.truncate(path, 50000),
    "truncate to the same": lambda path: os.truncate(path, 10000),
    "O_TRUNC": lambda path: opened(path, os.O_WRONLY | os.O_TRUNC, lambda fd: None),
    "fallocate": lambda path: opened(path, os.O_WRONLY, lambda fd: fallocate(fd, 0, 0, 20000)),
    "punch": lambda path: opened(path, os.O_WRONLY, lambda fd: fallocate(fd, FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE, 0, 4096)),
    "zero": lambda path: opened(path, os.O_WRONLY, lambda fd: fallocate(fd, FALLOC_ZERO_RANGE, 0, 4096)),
    "copy_file_range": copied,
    "utimes": lambda path: os.utime(path, (1, 1)),
    "chown to the same": lambda path: os.chown(path, -1, os.stat(path).st_gid),
    "chown of nothing": lambda path: os.chown(path, -1, -1),
    "chmod": lambda path: os.chmod(path, 0o6755),
    "rename": lambda path: (os.rename(path, path + ".new"), os.rename(path + ".new", path))[0],
    "link": lambda path: os.link(path, path + ".link"),
    "user attribute": lambda path: os.setxattr(path, "user.a", b"a"),
    "remove it": lambda path: os.removexattr(path, NAME),
    "set it": lambda path: os.setxattr(path, NAME, VALUE),
}


def use_row(name, call, bits):
    def row(folder):
        answers = []
        for user in (0, ALICE, BOB):
            path = made(folder, f"f{user}", bits)
            with open(path + ".source", "wb") as source:
                source.write(b"s" * 100)
            os.chmod(folder, 0o777)
            answers.append((user, by(user, call, path), state(path)))
            if name == "chown of nothing" and user == BOB:
                # Refused; but the kernel has had the capability removed before it asks us.
                answers[-1] = answers[-1][:2]
                break
            answers.append(by(user, call, path))
            answers.append(state(path))
        return answers

    return f"{name} of {bits:o}", row


def chown_row(owner, group):
    def row(folder):
        path = made(folder)
        os.chown(path, owner, group)
        return state(path)

    return f"chown to {owner}:{group}", row


ROWS = [use_row(name, call, bits) for name, call in USES.items() for bits in (0o6777, 0o2767, 0o4766, 0o766)]
ROWS += [chown_row(owner, group) for owner in (-1, ALICE, BOB) for group in (-1, ALICE, BOB)]


def run():
    compare(ROWS)
