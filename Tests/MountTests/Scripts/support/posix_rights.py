"""Owners, modes, umask, setgid, sticky."""
import errno
import os
import stat

from posix_table import as_user, call, equal, get, later, mode, put, refused, row

ONE, TWO = 1001, 1002


def shared(bits=0o777):
    os.mkdir("dir")
    os.chmod("dir", bits)
    os.chmod(".", 0o755)


@row("umask.files", "umask(2)", "files, directories, symlinks under several masks", "the bits of the mask are not set")
def _():
    for mask in (0o000, 0o022, 0o027, 0o077, 0o777):
        os.umask(mask)
        os.close(os.open(f"f{mask}", os.O_CREAT | os.O_WRONLY, 0o777))
        os.mkdir(f"d{mask}", 0o777)
        os.symlink("x", f"l{mask}")
        equal((mode(f"f{mask}"), mode(f"d{mask}"), mode(f"l{mask}")), (0o777 & ~mask, 0o777 & ~mask, 0o777), f"mask {mask:o}")
        fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o666)
        equal(stat.S_IMODE(os.fstat(fd).st_mode), 0o666 & ~mask, f"O_TMPFILE, mask {mask:o}")


@row("umask.mode-0", "open(2)", "a new file of mode 0, opened for writing when it is made", "the descriptor writes")
def _():
    fd = os.open("file", os.O_CREAT | os.O_RDWR, 0)
    os.write(fd, b"x" * 5000)
    os.fsync(fd)
    equal((os.pread(fd, 1, 0), mode("file")), (b"x", 0), "content and mode")


@row("owner.new-files", "credentials(7)", "what two users make", "belongs to them", root=True)
def _():
    shared()
    for user in (ONE, TWO):
        def make(user=user):
            put(f"dir/f{user}")
            os.mkdir(f"dir/d{user}")
            os.symlink("x", f"dir/l{user}")
            os.link(f"dir/f{user}", f"dir/h{user}")
            os.close(os.open("dir", os.O_TMPFILE | os.O_RDWR))
        as_user(user, make, group=user + 5000)
        for kind in "fdlh":
            status = os.lstat(f"dir/{kind}{user}")
            equal((status.st_uid, status.st_gid), (user, user + 5000), f"owner of {kind}")


@row("sticky.unlink", "unlink(2)", "somebody else's file in a sticky directory: unlink, rename, rename over, rmdir", "EPERM or EACCES; the owner may", root=True)
def _():
    shared(0o1777)
    as_user(ONE, lambda: (put("dir/file"), os.mkdir("dir/sub")))
    no = (errno.EPERM, errno.EACCES)
    refused(no, lambda: as_user(TWO, lambda: os.unlink("dir/file")))
    refused(no, lambda: as_user(TWO, lambda: os.rename("dir/file", "dir/x")))
    refused(no, lambda: as_user(TWO, lambda: os.rmdir("dir/sub")))
    refused(no, lambda: as_user(TWO, lambda: (put("dir/mine"), os.rename("dir/mine", "dir/file"))))
    as_user(ONE, lambda: (os.rename("dir/file", "dir/x"), os.unlink("dir/x"), os.rmdir("dir/sub")))


@row("setgid.directory", "inode(7)", "files and directories made in a setgid directory", "its group; directories setgid, too", root=True)
def _():
    shared()
    os.chown("dir", 0, 4321)
    os.chmod("dir", 0o2777)
    as_user(ONE, lambda: (put("dir/file"), os.mkdir("dir/sub"), os.symlink("x", "dir/link"), put("dir/sub/deep")))
    equal([os.lstat(f"dir/{name}").st_gid for name in ("file", "sub", "link", "sub/deep")], [4321] * 4, "groups")
    equal((mode("dir/sub"), mode("dir/file")), (0o2755, 0o644), "modes")

    def tmpfile():
        fd = os.open("dir", os.O_TMPFILE | os.O_RDWR)
        equal(os.fstat(fd).st_gid, 4321, "group of O_TMPFILE")
    as_user(ONE, tmpfile)
    return None


@later("setgid.directory")
def _(_state):
    equal((mode("dir"), mode("dir/sub"), os.stat("dir/file").st_gid), (0o2777, 0o2755, 4321), "after a remount")


@row("setgid.created-by-others", "open(2)", "a file of mode 2775 made in a setgid directory by somebody not in its group", "setgid is dropped", root=True)
def _():
    shared()
    os.chown("dir", 0, 4321)
    os.chmod("dir", 0o2777)

    def make():
        os.umask(0)
        os.close(os.open("dir/file", os.O_CREAT | os.O_WRONLY, 0o2775))
    as_user(ONE, make)
    equal(mode("dir/file"), 0o775, "mode")


@row("setgid.chmod-by-others", "chmod(2)", "the owner, not in the group, sets setgid", "dropped quietly", root=True)
def _():
    put("file")
    os.chown("file", ONE, 4321)
    os.chmod(".", 0o755)
    as_user(ONE, lambda: os.chmod("file", 0o2755))
    equal(mode("file"), 0o755, "mode")
    as_user(ONE, lambda: os.chmod("file", 0o2755), groups=(4321,))
    equal(mode("file"), 0o2755, "mode, by a member")


@row("suid.dropped", "write(2)", "write, append, cut, O_TRUNC, fallocate, chown, copy_file_range by another user to a setuid program", "setuid and setgid go", root=True)
def _():
    os.chmod(".", 0o755)
    put("source", b"s" * 100)
    os.chmod("source", 0o644)
    ways = {
        "write": lambda: os.pwrite(os.open("file", os.O_WRONLY), b"y", 0),
        "append": lambda: os.write(os.open("file", os.O_WRONLY | os.O_APPEND), b"y"),
        "cut": lambda: os.truncate("file", 10),
        "ftruncate": lambda: os.ftruncate(os.open("file", os.O_WRONLY), 10),
        "O_TRUNC": lambda: os.close(os.open("file", os.O_WRONLY | os.O_TRUNC)),
        "copy": lambda: os.copy_file_range(os.open("source", os.O_RDONLY), os.open("file", os.O_WRONLY), 10, 0, 0),
    }
    for name, way in ways.items():
        put("file", b"x" * 5000)
        os.chmod("file", 0o6777)
        as_user(ONE, way)
        equal(mode("file"), 0o777, f"mode after {name}")
    for owner in ((ONE, -1), (-1, ONE)):
        os.chown("file", 0, 0)
        os.chmod("file", 0o6777)
        os.chown("file", *owner)
        equal(mode("file"), 0o777, f"mode after chown {owner}")
    os.chmod("file", 0o2644)
    os.chown("file", 7, 7)
    equal(mode("file"), 0o2644, "setgid without x is no setgid: stays")


@row("suid.kept", "write(2)", "root writes, and another user reads, a setuid program", "setuid stays", root=True)
def _():
    os.chmod(".", 0o755)
    put("file", b"x" * 5000)
    os.chmod("file", 0o4755)
    as_user(ONE, lambda: get("file"))
    equal(mode("file"), 0o4755, "mode")
    return None


@later("suid.kept")
def _(_state):
    equal(mode("file"), 0o4755, "mode after a remount")


@row("chmod.others", "chmod(2)", "chmod, chown of somebody else's file; giving away one's own; a group one is not in", "EPERM", root=True)
def _():
    put("file")
    os.chmod(".", 0o777)
    as_user(ONE, lambda: put("own"))
    refused(errno.EPERM, lambda: as_user(ONE, lambda: os.chmod("file", 0o777)))
    refused(errno.EPERM, lambda: as_user(ONE, lambda: os.chown("file", ONE, -1)))
    refused(errno.EPERM, lambda: as_user(ONE, lambda: os.chown("own", TWO, -1)))
    refused(errno.EPERM, lambda: as_user(ONE, lambda: os.chown("own", -1, TWO)))
    as_user(ONE, lambda: os.chown("own", ONE, 77), groups=(77,))
    equal(os.stat("own").st_gid, 77, "group")


@row("access.groups", "credentials(7)", "a file of a supplementary group", "may be read and written as the group's bits say", root=True)
def _():
    os.chmod(".", 0o755)
    put("file", b"x")
    os.chown("file", 0, 88)
    os.chmod("file", 0o060)
    as_user(ONE, lambda: put("file", b"yes"), groups=(99, 88))
    as_user(ONE, lambda: equal(get("file"), b"yes", "content"), groups=(88,))
    refused(errno.EACCES, lambda: as_user(ONE, lambda: get("file"), groups=(99,)))


@row("access.modes", "path_resolution(7)", "every mode of a file and directory, as owner and as another", "read, write, search as the bits say", root=True)
def _():
    os.chmod(".", 0o755)
    os.mkdir("d")
    put("d/f", b"x")
    put("f", b"x")
    for user, shift in ((ONE, 6), (TWO, 0)):
        for bits in range(8):
            for path in ("f", "d"):
                os.chown(path, ONE, 0)
                os.chmod(path, bits << shift)

            def check(bits=bits):
                def may(action):
                    try:
                        action()
                        return True
                    except PermissionError:
                        return False
                equal(may(lambda: os.close(os.open("f", os.O_RDONLY))), bool(bits & 4), f"read, {bits}")
                equal(may(lambda: os.close(os.open("f", os.O_WRONLY))), bool(bits & 2), f"write, {bits}")
                equal(may(lambda: os.listdir("d")), bool(bits & 4), f"list, {bits}")
                equal(may(lambda: os.stat("d/f")), bool(bits & 1), f"search, {bits}")
                equal(may(lambda: (put("d/new"), os.unlink("d/new"))), bits & 3 == 3, f"create, {bits}")
                equal([os.access("f", how) for how in (4, 2, 1)], [bool(bits & how) for how in (4, 2, 1)], f"access, {bits}")
            as_user(user, check)


@row("access.after-change", "path_resolution(7)", "another user's right is taken away between two calls", "the second is refused at once", root=True)
def _():
    os.chmod(".", 0o755)
    put("file", b"x")
    os.mkdir("d")
    put("d/f", b"x")
    as_user(ONE, lambda: (get("file"), get("d/f")))
    os.chmod("file", 0o600)
    os.chmod("d", 0o700)
    refused(errno.EACCES, lambda: as_user(ONE, lambda: get("file")))
    refused(errno.EACCES, lambda: as_user(ONE, lambda: get("d/f")))


@row("modes.kept", "chmod(2)", "every mode of 12 bits for a file", "as set, also after a remount", root=True)
def _():
    for bits in range(0, 0o10000, 0o111):
        put(f"f{bits:o}")
        os.chmod(f"f{bits:o}", bits)
        equal(mode(f"f{bits:o}"), bits, "mode")


@later("modes.kept")
def _(_state):
    for bits in range(0, 0o10000, 0o111):
        equal(mode(f"f{bits:o}"), bits, "mode after a remount")


@row("protected.hardlink", "proc_sys_fs(5)", "a user links a file of another that may not be written", "EPERM, where protected_hardlinks is on", root=True)
def _():
    shared()
    put("file", b"x")
    refused(errno.EPERM, lambda: as_user(ONE, lambda: os.link("file", "dir/link")))
