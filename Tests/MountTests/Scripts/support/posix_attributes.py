"""Extended attributes."""
import ctypes
import errno
import os
import struct

from posix_table import LIBC, as_user, call, equal, later, put, refusals, refused, row


def file():
    put("file", b"x")
    os.setxattr("file", "user.a", b"value")


refusals("xattr(7)",
         ("xattr.get-missing", "one that is not there", errno.ENODATA, lambda: os.getxattr("file", "user.none"), file),
         ("xattr.remove-missing", "removing it", errno.ENODATA, lambda: os.removexattr("file", "user.none"), file),
         ("xattr.create-there", "XATTR_CREATE of one that is there", errno.EEXIST, lambda: os.setxattr("file", "user.a", b"", os.XATTR_CREATE), file),
         ("xattr.replace-missing", "XATTR_REPLACE of one that is not", errno.ENODATA, lambda: os.setxattr("file", "user.b", b"", os.XATTR_REPLACE), file),
         ("xattr.unknown-namespace", "a namespace that does not exist", errno.EOPNOTSUPP, lambda: os.setxattr("file", "other.a", b""), file),
         ("xattr.no-namespace", "a name without one", errno.EOPNOTSUPP, lambda: os.setxattr("file", "plain", b""), file),
         ("xattr.get-unknown-namespace", "reading such a one", errno.EOPNOTSUPP, lambda: os.getxattr("file", "other.a"), file),
         ("xattr.empty-suffix", "`user.`", errno.EINVAL, lambda: os.setxattr("file", "user.", b""), file),
         ("xattr.empty-name", "the empty name", errno.ERANGE, lambda: os.setxattr("file", "", b""), file),
         ("xattr.long-name", "a name of 256 bytes", errno.ERANGE, lambda: os.setxattr("file", "user." + "n" * 251, b""), file),
         ("xattr.large-value", "a value of 64 KiB and a byte", errno.E2BIG, lambda: os.setxattr("file", "user.b", b"v" * 65537), file),
         ("xattr.value-60000", "a value of 60,000 bytes, where a block does not hold it", (errno.ENOSPC, errno.E2BIG), lambda: os.setxattr("file", "user.b", b"v" * 60000), file),
         ("xattr.symlink-user", "user.* on a symlink", errno.EPERM, lambda: (os.symlink("x", "l"), os.setxattr("l", "user.a", b"", follow_symlinks=False))),
         ("xattr.symlink-get", "reading user.* of a symlink", (errno.EPERM, errno.ENODATA),
          lambda: (os.symlink("x", "l"), os.getxattr("l", "user.a", follow_symlinks=False))),
         ("xattr.missing-file", "a file that is not there", errno.ENOENT, lambda: os.getxattr("none", "user.a")))


def size(function, *arguments):
    return call(function, *arguments)


@row("xattr.range", "getxattr(2)", "a buffer too small; of no size; for the list", "ERANGE; the size; ERANGE")
def _():
    file()
    room = ctypes.create_string_buffer(100)
    refused(errno.ERANGE, lambda: call(LIBC.getxattr, b"file", b"user.a", room, ctypes.c_size_t(4)))
    equal(call(LIBC.getxattr, b"file", b"user.a", None, ctypes.c_size_t(0)), 5, "size of the value")
    equal(call(LIBC.getxattr, b"file", b"user.a", room, ctypes.c_size_t(5)), 5, "a buffer that just fits")
    refused(errno.ERANGE, lambda: call(LIBC.listxattr, b"file", room, ctypes.c_size_t(3)))
    equal(call(LIBC.listxattr, b"file", None, ctypes.c_size_t(0)), 7, "size of the list")
    equal(call(LIBC.listxattr, b"file", room, ctypes.c_size_t(7)), 7, "a buffer that just fits")


VALUES = {"user.empty": b"", "user.binary": bytes(range(256)), "user.\xe9\xe8": b"name", "user." + "n" * 100: b"long name", "user.large": b"L" * 1500}


@row("xattr.values", "setxattr(2)", "empty, binary, large values, long names; replaced by shorter and longer", "as they were set, also after a remount")
def _():
    for path in ("file", "dir"):
        put(path) if path == "file" else os.mkdir(path)
        for name, value in VALUES.items():
            os.setxattr(path, name, b"another value" * 10)
            os.setxattr(path, name, value)
        equal({name: os.getxattr(path, name) for name in os.listxattr(path)}, VALUES, path)


@later("xattr.values")
def _(_state):
    for path in ("file", "dir"):
        equal({name: os.getxattr(path, name) for name in os.listxattr(path)}, VALUES, f"{path} after a remount")
        for name in VALUES:
            os.removexattr(path, name)
        equal(os.listxattr(path), [], "after removing all")


@row("xattr.full-keeps-the-old", "setxattr(2)", "a value too large over one that is there", "the old one stays")
def _():
    file()
    refused((errno.ENOSPC, errno.E2BIG), lambda: os.setxattr("file", "user.a", b"v" * 60000))
    equal(os.getxattr("file", "user.a"), b"value", "value")
    equal(os.listxattr("file"), ["user.a"], "list")


@row("xattr.name-255", "xattr(7)", "a name of 255 bytes", "works")
def _():
    file()
    name = "user." + "n" * 250
    os.setxattr("file", name, b"1")
    equal((os.getxattr("file", name), sorted(os.listxattr("file"))), (b"1", sorted(["user.a", name])), "attributes")


@row("xattr.many", "xattr(7)", "40 attributes", "all there")
def _():
    put("file")
    for n in range(40):
        os.setxattr("file", f"user.number-{n}", str(n).encode())
    equal({name: os.getxattr("file", name) for name in os.listxattr("file")}, {f"user.number-{n}": str(n).encode() for n in range(40)}, "attributes")


@row("xattr.links-and-renames", "xattr(7)", "a hard link, a rename, a write, a cut", "the file's attributes stay")
def _():
    file()
    os.link("file", "second")
    os.rename("file", "moved")
    os.truncate("second", 0)
    put("second", b"new")
    equal(os.getxattr("moved", "user.a"), b"value", "value")


@row("xattr.trusted", "xattr(7)", "trusted.* by root, and seen by another user", "root's alone: EPERM, ENODATA, not listed", root=True)
def _():
    put("file")
    os.chmod("file", 0o666)
    os.chmod(".", 0o777)
    os.setxattr("file", "trusted.a", b"secret")
    equal((os.getxattr("file", "trusted.a"), os.listxattr("file")), (b"secret", ["trusted.a"]), "root's")
    as_user(1234, lambda: equal(os.listxattr("file"), [], "list of another user"))
    refused((errno.EPERM, errno.ENODATA), lambda: as_user(1234, lambda: os.getxattr("file", "trusted.a")))
    refused(errno.EPERM, lambda: as_user(1234, lambda: os.setxattr("file", "trusted.b", b"")))
    os.removexattr("file", "trusted.a")


@row("xattr.security", "xattr(7)", "security.* by root", "kept; EPERM for others", root=True)
def _():
    put("file")
    os.chmod("file", 0o666)
    os.chmod(".", 0o777)
    os.setxattr("file", "security.test", b"label")
    equal(os.getxattr("file", "security.test"), b"label", "value")
    as_user(1234, lambda: equal(os.getxattr("file", "security.test"), b"label", "for another user"))
    refused(errno.EPERM, lambda: as_user(1234, lambda: os.setxattr("file", "security.other", b"")))


CAPABILITY = struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0)


@row("xattr.capability", "capabilities(7)", "security.capability of a file", "kept over a remount; gone after a write, a cut, a chown", root=True)
def _():
    for name, change in (("write", lambda path: os.pwrite(os.open(path, os.O_WRONLY), b"y", 0)), ("cut", lambda path: os.truncate(path, 1)), ("chown", lambda path: os.chown(path, 5, 5)),
                         ("append", lambda path: os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b"y"))):
        put(name, b"x" * 5000)
        os.setxattr(name, "security.capability", CAPABILITY)
        equal(os.getxattr(name, "security.capability"), CAPABILITY, "value")
        change(name)
        refused(errno.ENODATA, lambda name=name: os.getxattr(name, "security.capability"))
    put("kept")
    os.setxattr("kept", "security.capability", CAPABILITY)


@later("xattr.capability")
def _(_state):
    equal(os.getxattr("kept", "security.capability"), CAPABILITY, "after a remount")


@row("xattr.rights", "xattr(7)", "user.* of a file that may not be read, or not be written", "EACCES", root=True)
def _():
    file()
    os.chmod(".", 0o755)
    os.chmod("file", 0o600)
    refused(errno.EACCES, lambda: as_user(1234, lambda: os.getxattr("file", "user.a")))
    os.chmod("file", 0o644)
    as_user(1234, lambda: equal(os.getxattr("file", "user.a"), b"value", "value"))
    refused(errno.EACCES, lambda: as_user(1234, lambda: os.setxattr("file", "user.a", b"")))
    refused(errno.EACCES, lambda: as_user(1234, lambda: os.removexattr("file", "user.a")))


@row("xattr.sticky", "xattr(7)", "user.* on somebody else's sticky directory", "EPERM", root=True)
def _():
    os.mkdir("dir")
    os.chmod("dir", 0o1777)
    refused(errno.EPERM, lambda: as_user(1234, lambda: os.setxattr("dir", "user.a", b"")))
