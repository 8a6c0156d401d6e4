"""Directories and names."""
import ctypes
import errno
import os
import random
import stat

from posix_table import LIBC, call, equal, get, holds, in_child, later, linkat, put, refusals, refused, renameat2, row

NOREPLACE, EXCHANGE = 1, 2


class Entry(ctypes.Structure):
    _fields_ = [("inode", ctypes.c_uint64), ("offset", ctypes.c_int64), ("length", ctypes.c_ushort), ("kind", ctypes.c_ubyte), ("name", ctypes.c_char * 256)]


LIBC.opendir.restype = ctypes.c_void_p
LIBC.readdir.restype = ctypes.POINTER(Entry)
LIBC.telldir.restype = ctypes.c_long


class Stream:
    def __init__(self, path):
        self.stream = ctypes.c_void_p(LIBC.opendir(os.fsencode(path)))

    def next(self):
        entry = LIBC.readdir(self.stream)
        return (entry.contents.name, entry.contents.inode, entry.contents.kind) if entry else None

    def tell(self):
        return LIBC.telldir(self.stream)

    def seek(self, place):
        LIBC.seekdir(self.stream, ctypes.c_long(place))

    def rewind(self):
        LIBC.rewinddir(self.stream)

    def rest(self):
        return list(iter(self.next, None))


def many(count, folder="."):
    for n in range(count):
        os.mkdir(f"{folder}/d{n}") if n % 50 == 0 else put(f"{folder}/name-{n}-{'x' * (n % 60)}")


@row("readdir.seek", "seekdir(3)", "telldir before each of 3,000 entries, then seekdir to them in random order", "the same entry comes next")
def _():
    many(3000)
    stream, places = Stream("."), []
    while True:
        place, entry = stream.tell(), stream.next()
        if not entry:
            break
        places.append((place, entry[0]))
    equal(len(places), 3002, "entries")
    end = stream.tell()
    random.Random(5).shuffle(places)
    for place, name in places[:1500]:
        stream.seek(place)
        equal(stream.next()[0], name, f"entry at {place}")
    stream.seek(end)
    equal(stream.next(), None, "entry at the end")


@row("readdir.seek-after-removal", "seekdir(3)", "telldir, then every other entry removed, then seekdir", "what comes is there, and nothing that is there is left out")
def _():
    many(1000)
    stream, seen = Stream("."), []
    for _ in range(400):
        seen.append(stream.next()[0])
    place = stream.tell()
    coming = [entry[0] for entry in stream.rest()]
    for name in seen[::2]:
        if name not in (b".", b".."):
            os.rmdir(name) if name.startswith(b"d") else os.unlink(name)
    stream.seek(place)
    equal(sorted(entry[0] for entry in stream.rest()), sorted(coming), "entries behind the place")


@row("readdir.rewind", "rewinddir(3)", "an entry made after opendir, then rewinddir", "it is listed")
def _():
    many(10)
    stream = Stream(".")
    stream.rest()
    put("new")
    stream.rewind()
    holds(b"new" in [entry[0] for entry in stream.rest()], "the new entry is missing")


@row("readdir.remove-while-reading", "readdir(3)", "each entry is removed as it is read, 2,000 in all", "each comes once, and the directory is empty in the end")
def _():
    os.mkdir("dir")
    many(2000, "dir")
    stream, names = Stream("dir"), []
    for name, _, kind in iter(stream.next, None):
        if name not in (b".", b".."):
            names.append(name)
            (os.rmdir if kind == 4 else os.unlink)(b"dir/" + name)
    equal((len(names), len(set(names))), (2000, 2000), "names")
    os.rmdir("dir")


@row("readdir.add-while-reading", "readdir(3)", "entries are added and renamed while 1,000 others are read", "those that were there throughout come exactly once")
def _():
    os.mkdir("dir")
    many(1000, "dir")
    before, seen = {os.fsencode(name) for name in os.listdir("dir")}, []
    stream = Stream("dir")
    for n, (name, _, _) in enumerate(iter(stream.next, None)):
        seen.append(name)
        if n < 3000 and n % 2:
            put(f"dir/added-{n}")
            if n > 10:
                os.rename(f"dir/added-{n}", f"dir/renamed-{n}")
    old = [name for name in seen if name in before]
    equal((len(old), set(old) == before), (1000, True), "old names, and whether all came")


@row("readdir.dots", "readdir(3)", "`.` and `..`", "their inode numbers, once each")
def _():
    os.makedirs("a/b")
    entries = [entry for entry in Stream("a/b").rest()]
    equal(sorted(entry[0] for entry in entries), [b".", b".."], "names")
    numbers = {entry[0]: entry[1] for entry in entries}
    equal((os.stat("a/b/.").st_ino, os.stat("a/b/..").st_ino), (os.stat("a/b").st_ino, os.stat("a").st_ino), "by stat")
    equal((numbers[b"."], numbers[b".."]), (os.stat("a/b").st_ino, os.stat("a").st_ino), "by readdir")


@row("readdir.dotdot-after-rename", "rename(2)", "a directory moved to another, and a working directory in it", "`..` is the new parent")
def _():
    os.makedirs("a/b")
    os.mkdir("c")
    os.chdir("a/b")
    os.rename("../../a/b", "../../c/d")
    equal(os.stat("..").st_ino, os.stat("../../c").st_ino, "..")
    equal(os.path.basename(os.getcwd()), "d", "getcwd")


@row("readdir.numbers-and-types", "readdir(3)", "d_ino and d_type of a file, directory, symlink, and two names of one file", "those of lstat")
def _():
    put("file")
    os.mkdir("dir")
    os.symlink("x", "link")
    os.link("file", "second")
    kinds = {8: stat.S_IFREG, 4: stat.S_IFDIR, 10: stat.S_IFLNK}
    for name, inode, kind in Stream(".").rest():
        if name != b"..":
            equal((inode, kinds[kind]), (os.lstat(name).st_ino, stat.S_IFMT(os.lstat(name).st_mode)), name)


@row("directory.nlink", "stat(2)", "mkdir, rmdir, and a rename of a directory between directories", "2 and one for each directory in it")
def _():
    os.mkdir("a")
    os.mkdir("b")
    equal(os.stat("a").st_nlink, 2, "empty")
    os.mkdir("a/x")
    os.mkdir("a/y")
    put("a/file")
    equal(os.stat("a").st_nlink, 4, "two in it")
    os.rename("a/x", "b/x")
    equal((os.stat("a").st_nlink, os.stat("b").st_nlink), (3, 3), "after a rename")
    os.rename("b/x", "a/y")
    equal((os.stat("a").st_nlink, os.stat("b").st_nlink), (3, 2), "after a rename over an empty one")
    os.mkdir("b/z")
    renameat2("b/z", "a/file", EXCHANGE)
    equal((os.stat("a").st_nlink, os.stat("b").st_nlink), (4, 2), "after an exchange with a file")


@row("rmdir.open", "rmdir(2)", "a directory is removed while it is open and somebody's working directory", "it is empty, nlink 0, nothing can be made in it")
def _():
    os.mkdir("dir")
    fd = os.open("dir", os.O_RDONLY)
    os.rmdir("dir")
    equal(os.listdir(fd), [], "entries")
    equal(os.fstat(fd).st_nlink, 0, "nlink")
    refused(errno.ENOENT, lambda: os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    refused(errno.ENOENT, lambda: os.mkdir("new", dir_fd=fd))
    refused(errno.ENOENT, lambda: os.symlink("x", "new", dir_fd=fd))
    os.fchmod(fd, 0o700)
    os.mkdir("dir")
    equal(os.listdir(fd), [], "entries after one of that name was made")
    os.fchdir(fd)
    refused(errno.ENOENT, os.getcwd)


@row("unlink.while-open-leaves-nothing", "unlink(2)", "a file is unlinked while it is open", "its directory is empty and can be removed")
def _():
    os.mkdir("dir")
    fd = os.open("dir/file", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"x" * 100)
    os.unlink("dir/file")
    equal(os.listdir("dir"), [], "what is left")
    os.rmdir("dir")
    equal(os.pread(fd, 3, 0), b"xxx", "content")


def deep():
    os.makedirs("a/b/c")
    put("file", b"file")
    put("a/file", b"a")
    os.mkdir("empty")


refusals("rmdir(2)",
         ("rmdir.full", "a directory that holds something", (errno.ENOTEMPTY, errno.EEXIST), lambda: os.rmdir("a"), deep),
         ("rmdir.file", "a file", errno.ENOTDIR, lambda: os.rmdir("file"), deep),
         ("rmdir.missing", "nothing", errno.ENOENT, lambda: os.rmdir("none")),
         ("rmdir.dot", "`x/.`", errno.EINVAL, lambda: os.rmdir("empty/."), deep),
         ("rmdir.dotdot", "`x/..`", errno.ENOTEMPTY, lambda: os.rmdir("a/b/.."), deep),
         ("rmdir.symlink", "a symlink to an empty directory", errno.ENOTDIR, lambda: (os.symlink("empty", "link"), os.rmdir("link")), deep))
refusals("unlink(2)",
         ("unlink.directory", "a directory", errno.EISDIR, lambda: os.unlink("empty"), deep),
         ("unlink.missing", "nothing", errno.ENOENT, lambda: os.unlink("none")),
         ("unlink.trailing-slash", "`file/`", errno.ENOTDIR, lambda: os.unlink("file/"), deep))
refusals("mkdir(2)",
         ("mkdir.there", "a name that is there", errno.EEXIST, lambda: os.mkdir("a"), deep),
         ("mkdir.file-there", "a file's name", errno.EEXIST, lambda: os.mkdir("file"), deep),
         ("mkdir.dangling", "a dangling symlink's name", errno.EEXIST, lambda: (os.symlink("none", "link"), os.mkdir("link"))),
         ("mkdir.dot", "`.`", errno.EEXIST, lambda: os.mkdir(".")),
         ("mkdir.no-parent", "below nothing", errno.ENOENT, lambda: os.mkdir("none/x")),
         ("mkdir.below-file", "below a file", errno.ENOTDIR, lambda: os.mkdir("file/x"), deep))
refusals("rename(2)",
         ("rename.over-full-directory", "a directory over one that holds something", (errno.ENOTEMPTY, errno.EEXIST), lambda: os.rename("empty", "a"), deep),
         ("rename.file-over-directory", "a file over a directory", errno.EISDIR, lambda: os.rename("file", "empty"), deep),
         ("rename.directory-over-file", "a directory over a file", errno.ENOTDIR, lambda: os.rename("empty", "file"), deep),
         ("rename.into-itself", "a directory into itself", errno.EINVAL, lambda: os.rename("a", "a/b/x"), deep),
         ("rename.over-ancestor", "a directory over one above it", (errno.ENOTEMPTY, errno.EEXIST), lambda: os.rename("a/b/c", "a"), deep),
         ("rename.missing", "nothing", errno.ENOENT, lambda: os.rename("none", "x")),
         ("rename.no-parent", "to below nothing", errno.ENOENT, lambda: os.rename("file", "none/x"), deep),
         ("rename.dot", "`.`", errno.EBUSY, lambda: os.rename("a/.", "x"), deep),
         ("rename.file-trailing-slash", "`file` to `x/`", errno.ENOTDIR, lambda: os.rename("file", "x/"), deep),
         ("rename.noreplace", "NOREPLACE to a name that is there", errno.EEXIST, lambda: renameat2("file", "a/file", NOREPLACE), deep),
         ("rename.noreplace-directory", "NOREPLACE to an empty directory", errno.EEXIST, lambda: renameat2("a/b", "empty", NOREPLACE), deep),
         ("rename.noreplace-same", "NOREPLACE to the same name", errno.EEXIST, lambda: renameat2("file", "file", NOREPLACE), deep),
         ("rename.exchange-missing", "EXCHANGE with nothing", errno.ENOENT, lambda: renameat2("file", "none", EXCHANGE), deep),
         ("rename.exchange-descendant", "EXCHANGE with what lies in it", errno.EINVAL, lambda: renameat2("a", "a/b", EXCHANGE), deep),
         ("rename.exchange-noreplace", "EXCHANGE and NOREPLACE", errno.EINVAL, lambda: renameat2("file", "a/file", 3), deep),
         ("rename.bad-flags", "an unknown flag", errno.EINVAL, lambda: renameat2("file", "x", 1 << 20), deep))


@row("rename.over-empty-directory", "rename(2)", "a directory over an empty one", "it takes its place, with what it holds")
def _():
    deep()
    number = os.stat("a").st_ino
    fd = os.open("empty", os.O_RDONLY)
    os.rename("a", "empty")
    equal((os.stat("empty").st_ino, sorted(os.listdir("empty")), os.path.exists("a")), (number, ["b", "file"], False), "what is there")
    equal((os.fstat(fd).st_nlink, os.listdir(fd)), (0, []), "the one that was there")


@row("rename.over-open-file", "rename(2)", "a file over one that is open", "the descriptor keeps the old content, the name has the new")
def _():
    put("old", b"old" * 3000)
    put("new", b"new" * 3000)
    fd = os.open("old", os.O_RDWR)
    os.rename("new", "old")
    equal((os.pread(fd, 3, 6000), get("old")[6000:6003], os.fstat(fd).st_nlink), (b"old", b"new", 0), "contents")
    os.pwrite(fd, b"more", 9000)
    equal((os.fstat(fd).st_size, os.stat("old").st_size), (9004, 9000), "sizes")


@row("rename.open-file", "rename(2)", "a file that is open and written to is renamed to another directory", "the descriptor goes on with it")
def _():
    deep()
    fd = os.open("file", os.O_RDWR)
    os.rename("file", "a/b/moved")
    os.pwrite(fd, b"through", 0)
    equal(get("a/b/moved"), b"through", "content")


@row("rename.open-directory", "rename(2)", "a directory that is open is renamed", "its descriptor goes on with it")
def _():
    deep()
    fd = os.open("a/b", os.O_RDONLY)
    os.rename("a", "z")
    put("z/b/new")
    equal(sorted(os.listdir(fd)), ["c", "new"], "entries")
    os.mkdir("more", dir_fd=fd)
    equal(os.path.isdir("z/b/more"), True, "made through the descriptor")


@row("rename.same-file", "rename(2)", "one name of a file over another of the same", "both stay")
def _():
    put("file", b"x")
    os.link("file", "second")
    os.rename("file", "second")
    equal(sorted(os.listdir(".")), ["file", "second"], "names")
    os.rename("file", "file")
    equal(os.stat("file").st_nlink, 2, "nlink")


@row("rename.exchange", "rename(2)", "EXCHANGE of a file and a directory, of two directories, of file and symlink", "each has the other's name")
def _():
    deep()
    numbers = [os.lstat(name).st_ino for name in ("file", "a", "empty")]
    renameat2("file", "a", EXCHANGE)
    renameat2("file", "empty", EXCHANGE)
    equal([os.lstat(name).st_ino for name in ("a", "empty", "file")], numbers, "numbers")
    equal((get("a"), sorted(os.listdir("empty"))), (b"file", ["b", "file"]), "contents")
    os.symlink("target", "link")
    renameat2("a", "link", EXCHANGE)
    equal((os.readlink("a"), get("link")), ("target", b"file"), "file and symlink")


@row("rename.symlink", "rename(2)", "a symlink, and over a symlink", "the link itself is what moves and goes")
def _():
    put("file", b"x")
    os.symlink("file", "link")
    os.rename("link", "moved")
    equal(os.readlink("moved"), "file", "target")
    put("new", b"y")
    os.rename("new", "moved")
    equal((get("file"), get("moved")), (b"x", b"y"), "contents")


def loop():
    os.symlink("b", "a")
    os.symlink("a", "b")


refusals("path_resolution(7)",
         ("path.loop", "symlinks to each other", errno.ELOOP, lambda: os.stat("a"), loop),
         ("path.loop-create", "O_CREAT through them", errno.ELOOP, lambda: os.open("a", os.O_CREAT | os.O_WRONLY), loop),
         ("path.loop-below", "below them", errno.ELOOP, lambda: os.mkdir("a/x"), loop),
         ("path.nofollow", "O_NOFOLLOW on a symlink", errno.ELOOP, lambda: (os.symlink("x", "l"), os.open("l", os.O_RDONLY | os.O_NOFOLLOW))),
         ("path.empty", "the empty path", errno.ENOENT, lambda: os.open("", os.O_RDONLY)),
         ("path.below-file", "below a file", errno.ENOTDIR, lambda: os.stat("file/x"), deep),
         ("path.file-slash", "a file and a slash", errno.ENOTDIR, lambda: os.stat("file/"), deep),
         ("path.create-slash", "O_CREAT with a slash behind", errno.EISDIR, lambda: os.open("new/", os.O_CREAT | os.O_WRONLY)),
         ("path.name-256-stat", "stat of a name of 256 bytes", errno.ENAMETOOLONG, lambda: os.stat("n" * 256)),
         ("path.name-256-create", "creating it", errno.ENAMETOOLONG, lambda: put("n" * 256)),
         ("path.name-256-mkdir", "mkdir", errno.ENAMETOOLONG, lambda: os.mkdir("n" * 256)),
         ("path.name-256-symlink", "symlink", errno.ENAMETOOLONG, lambda: os.symlink("x", "n" * 256)),
         ("path.name-256-link", "link", errno.ENAMETOOLONG, lambda: os.link("file", "n" * 256), deep),
         ("path.name-256-rename", "rename to it", errno.ENAMETOOLONG, lambda: os.rename("file", "n" * 256), deep),
         ("path.name-256-unlink", "unlink", errno.ENAMETOOLONG, lambda: os.unlink("n" * 256)),
         ("path.name-256-rmdir", "rmdir", errno.ENAMETOOLONG, lambda: os.rmdir("n" * 256)),
         ("path.name-256-two-byte", "128 letters of two bytes", errno.ENAMETOOLONG, lambda: put("é" * 128)),
         ("path.4096", "a path of 4096 bytes", errno.ENAMETOOLONG, lambda: os.stat("./" * 2048)))


@row("path.name-255", "path_resolution(7)", "names of 255 bytes, for files, directories, symlinks, links, renames", "all work")
def _():
    names = [letter * 255 for letter in "abcde"] + ["é" * 127 + "x"]
    put(names[0], b"x")
    os.mkdir(names[1])
    os.symlink(names[0], names[2])
    os.link(names[0], names[3])
    os.rename(names[3], names[4])
    put(names[5], b"y")
    put(f"{names[1]}/{names[0]}", b"z")
    equal((get(names[2]), get(names[4]), get(names[5]), get(f"{names[1]}/{names[0]}")), (b"x", b"x", b"y", b"z"), "contents")
    equal(sorted(os.listdir(".")), sorted(names[:3] + names[4:]), "names")
    return names


@later("path.name-255")
def _(names):
    equal(sorted(os.listdir(".")), sorted(names[:3] + names[4:]), "names after a remount")
    equal(get(names[4]), b"x", "content")


@row("path.4095", "path_resolution(7)", "a path of 4095 bytes, made level by level, used in one go", "works in every call")
def _():
    base = os.getcwd()
    path = "." + ("/" + "p" * 200) * 20
    path += "/" + "q" * (4095 - len(path) - 1)
    equal(len(path), 4095, "length")
    parts = path.split("/")[1:]
    for part in parts[:-1]:
        os.mkdir(part)
        os.chdir(part)
    os.chdir(base)
    put(path, b"deep")
    equal((get(path), os.stat(path).st_size), (b"deep", 4), "by the long path")
    os.rename(path, path[:-1] + "r")
    os.unlink(path[:-1] + "r")


@row("path.40-symlinks", "path_resolution(7)", "a chain of 40 symlinks, and one of 41", "the first works, the second: ELOOP")
def _():
    put("l0", b"end")
    for n in range(1, 42):
        os.symlink(f"l{n - 1}", f"l{n}")
    equal(get("l40"), b"end", "through 40")
    refused(errno.ELOOP, lambda: get("l41"))


@row("path.odd-names", "path_resolution(7)", "every byte but `/` and NUL, invalid UTF-8, control characters, cases, composed and decomposed", "all different, all kept")
def _():
    names = [bytes([n]) for n in range(1, 256) if n not in (46, 47)] + [b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b" ", b"a ", b"a", b"A", b"...", b"-", b"con", "é".encode(),
             "e\u0301".encode(), "\u212b".encode(), "\u00c5".encode(), b"a\nb", b"a\\b", b"\x7f" * 255]
    for n, name in enumerate(dict.fromkeys(names)):
        put(name, str(n).encode())
    equal(sorted(os.listdir(b".")), sorted(set(names)), "names")
    for n, name in enumerate(dict.fromkeys(names)):
        equal(get(name), str(n).encode(), name)
    return len(set(names))


@later("path.odd-names")
def _(count):
    names = os.listdir(b".")
    equal(len(names), count, "names after a remount")
    equal(len({get(name) for name in names}), count, "contents")


@row("path.names-of-our-own", "path_resolution(7)", "names that the vault uses for itself", "are names as any others")
def _():
    names = ["sfs.json", "sfs.dir", "sfs.session", "sfs.lock", "sfs.stores", ".stores", ".fuse_hidden0001", "sfs.long.x", "lost+found"]
    for name in names:
        put(name, name.encode())
    os.mkdir("dir")
    for name in names:
        os.mkdir(f"dir/{name}")
    equal(sorted(os.listdir(".")), sorted(names + ["dir"]), "names")
    equal(sorted(os.listdir("dir")), sorted(names), "directories")
    for name in names:
        os.rmdir(f"dir/{name}")
        equal(get(name), name.encode(), name)
    os.rmdir("dir")


@row("symlink.targets", "symlink(2)", "targets of 1 to 4095 bytes, not UTF-8, absolute, with slashes", "as they were; lstat has their length")
def _():
    for n, target in enumerate((b"x", b"/", b"//a//b/", b"\xff\x80", b"." * 255, b"t/" * 500, b"t" * 4094, b"t" * 4095)):
        os.symlink(target, b"l%d" % n)
        equal((os.readlink(b"l%d" % n), os.lstat(b"l%d" % n).st_size), (target, len(target)), f"target {n}")
        equal(stat.S_IMODE(os.lstat(b"l%d" % n).st_mode), 0o777, "mode")


refusals("symlink(2)",
         ("symlink.empty-target", "an empty target", errno.ENOENT, lambda: os.symlink("", "l")),
         ("symlink.long-target", "a target of 4096 bytes", errno.ENAMETOOLONG, lambda: os.symlink("t" * 4096, "l")),
         ("symlink.there", "a name that is there", errno.EEXIST, lambda: os.symlink("x", "file"), deep),
         ("readlink.file", "readlink of a file", errno.EINVAL, lambda: os.readlink("file"), deep),
         ("readlink.directory", "readlink of a directory", errno.EINVAL, lambda: os.readlink("a"), deep))
refusals("link(2)",
         ("link.directory", "a directory", errno.EPERM, lambda: os.link("a", "l"), deep),
         ("link.there", "to a name that is there", errno.EEXIST, lambda: os.link("file", "a"), deep),
         ("link.missing", "nothing", errno.ENOENT, lambda: os.link("none", "l")),
         ("link.unlinked", "a descriptor whose file has no name any more", errno.ENOENT, lambda: linkat(f"/proc/self/fd/{gone()}", "l", 0x400)))


def gone():
    fd = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.unlink("gone")
    return fd


@row("link.symlink", "link(2)", "a symlink; and with AT_SYMLINK_FOLLOW", "a second name of the symlink; of its target")
def _():
    put("file", b"x")
    os.symlink("file", "link")
    os.link("link", "second", follow_symlinks=False)
    equal((os.readlink("second"), os.lstat("link").st_nlink), ("file", 2), "a link of a link")
    linkat("link", "third", 0x400)
    equal((os.lstat("third").st_ino, os.stat("file").st_nlink), (os.stat("file").st_ino, 2), "a link of its target")


@row("open.dangling", "open(2)", "O_CREAT through a dangling symlink; with O_EXCL", "the target is made; EEXIST")
def _():
    os.symlink("target", "link")
    refused(errno.EEXIST, lambda: os.open("link", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    equal(os.path.exists("target"), False, "after O_EXCL")
    put("link", b"x")
    equal(get("target"), b"x", "the target")


@row("inode.numbers", "inode(7)", "1,000 files and directories, renamed and linked about", "numbers differ, follow the file, and survive a remount")
def _():
    many(1000)
    os.symlink("x", "link")
    put("a")
    os.link("a", "b")
    os.rename("name-1-x", "renamed")
    numbers = {name: os.lstat(name).st_ino for name in os.listdir(".")}
    equal(len(set(numbers.values())), len(numbers) - 1, "different numbers")
    return numbers


@later("inode.numbers")
def _(numbers):
    equal({name: os.lstat(name).st_ino for name in sorted(os.listdir("."), reverse=True)}, numbers, "numbers after a remount")
    equal({entry[0].decode(): entry[1] for entry in Stream(".").rest() if entry[0] not in (b".", b"..")}, numbers, "numbers by readdir")


@row("statfs.values", "statvfs(3)", "the filesystem's size, block size, name length", "those of the filesystem below")
def _():
    here, below = os.statvfs("."), os.statvfs(os.environ["V"])
    equal(here.f_namemax, 255, "longest name")
    equal((here.f_blocks * here.f_frsize, here.f_files), (below.f_blocks * below.f_frsize, below.f_files), "size and files")
    holds(abs(here.f_bavail * here.f_frsize - below.f_bavail * below.f_frsize) < 1 << 30, "free space is another")
    os.fsync(os.open(".", os.O_RDONLY))


@row("rename.whiteout", "rename(2)", "WHITEOUT", "a device 0:0 stays in its place", root=True)
def _():
    put("file", b"x")
    renameat2("file", "moved", 4)
    status = os.lstat("file")
    equal((stat.S_ISCHR(status.st_mode), status.st_rdev, get("moved")), (True, 0, b"x"), "what is there")


@row("link.many", "link(2)", "2,000 links to one file, counted, removed", "nlink follows")
def _():
    put("file", b"x")
    for n in range(2000):
        os.link("file", f"l{n}")
    equal(os.stat("file").st_nlink, 2001, "nlink")
    for n in range(1999):
        os.unlink(f"l{n}")
    equal((os.stat("file").st_nlink, get("l1999")), (2, b"x"), "after removing them")
