#!/usr/bin/env bash
# The matrix of rename: what over what, in one directory and across, plain, NOREPLACE and EXCHANGE; open handles follow.
# mount: PLACE=memory COMPARE=1 STYLE=background
. "$(dirname "$0")/support/lib.sh"
python - <<'END'
import errno, itertools, os, shutil
from checks import *

KINDS = ("file", "empty", "full", "symlink", "hardlink", "missing")

def make(path, kind, mark):
    if kind in ("file", "hardlink"):
        write_file(path, mark)
        if kind == "hardlink":
            os.link(path, path + ".other")
    elif kind == "symlink":
        os.symlink(mark, path)
    elif kind in ("empty", "full"):
        os.mkdir(path)
        if kind == "full":
            write_file(path + "/inside", mark)

def read(path):
    """What is at a path, to compare."""
    if os.path.islink(path):
        return "symlink", os.readlink(os.fsencode(path))
    if os.path.isdir(path):
        return ("full", read_file(path + "/inside")) if os.listdir(path) else ("empty",)
    return ("file", read_file(path)) if os.path.exists(path) else ("missing",)

def is_directory(kind):
    return kind in ("empty", "full")

def expected_error(source, target, flag):
    if source == "missing":
        return errno.ENOENT
    if flag == RENAME_NOREPLACE:
        return errno.EEXIST if target != "missing" else None
    if flag == RENAME_EXCHANGE:
        return errno.ENOENT if target == "missing" else None
    if target == "missing":
        return None
    if is_directory(source) and not is_directory(target):
        return errno.ENOTDIR
    if is_directory(target) and not is_directory(source):
        return errno.EISDIR
    return (errno.ENOTEMPTY, errno.EEXIST) if target == "full" else None

count = 0
long = "x" * 220
for flag, across, names in itertools.product((0, RENAME_NOREPLACE, RENAME_EXCHANGE), (False, True), (("s", "t"), ("s" + long, "t"), ("s", "t" + long))):
    for source, target in itertools.product(KINDS, KINDS):
        what = f"flag {flag}, {source} over {target}, {'across' if across else 'within'}, names of {len(names[0])} and {len(names[1])}"
        root = f"{M}/case"
        os.mkdir(root)
        os.mkdir(f"{root}/1")
        os.mkdir(f"{root}/2")
        a, b = f"{root}/1/{names[0]}", f"{root}/{'2' if across else '1'}/{names[1]}"
        make(a, source, b"source")
        make(b, target, b"target")
        before_a, before_b = read(a), read(b)
        inode = os.lstat(a).st_ino if source != "missing" else None
        error = expected_error(source, target, flag)
        if error:
            with refused(error, what):
                renameat2(a, b, flag)
            after = before_a, before_b
        else:
            renameat2(a, b, flag)
            after = (before_b, before_a) if flag == RENAME_EXCHANGE else (("missing",), before_a)
            equal(os.lstat(b).st_ino, inode, f"{what}: the inode number")
        equal((read(a), read(b)), after, what)
        # Listings agree with lookups, and link counts of directories with their children.
        for directory in ("1", "2"):
            here = f"{root}/{directory}"
            for name in os.listdir(here):
                os.lstat(f"{here}/{name}")
            children = sum(os.path.isdir(f"{here}/{n}") and not os.path.islink(f"{here}/{n}") for n in os.listdir(here))
            equal(os.stat(here).st_nlink in (1, 2 + children), True, f"{what}: link count of {directory}")
        shutil.rmtree(root)
        count += 1
print(f"{count} combinations")

with refused((errno.EINVAL, errno.ENOSYS), "unknown flags"):
    renameat2(f"{M}/none", f"{M}/other", 0x4000)
with refused(errno.EINVAL, "NOREPLACE with EXCHANGE"):
    renameat2(f"{M}/none", f"{M}/other", RENAME_NOREPLACE | RENAME_EXCHANGE)

# A directory into itself, and over its own parent.
os.makedirs(f"{M}/d/e/f")
with refused(errno.EINVAL, "a directory into itself"):
    os.rename(f"{M}/d", f"{M}/d/e/g")
with refused((errno.ENOTEMPTY, errno.EEXIST), "a directory over its parent"):
    os.rename(f"{M}/d/e/f", f"{M}/d")
# To its own name: nothing happens.
write_file(f"{M}/d/self", b"self")
os.rename(f"{M}/d/self", f"{M}/d/self")
equal(read_file(f"{M}/d/self"), b"self", "a rename to its own name")

# Open handles follow their file: renamed, moved to another directory, replaced, its directory moved.
os.mkdir(f"{M}/from")
os.mkdir(f"{M}/to")
fd = os.open(f"{M}/from/open", os.O_RDWR | os.O_CREAT)
os.write(fd, b"one ")
os.rename(f"{M}/from/open", f"{M}/to/open")
os.write(fd, b"two ")
os.rename(f"{M}/to", f"{M}/renamed")
os.write(fd, b"three ")
equal(read_file(f"{M}/renamed/open"), b"one two three ", "writes while the file moved")
old = os.open(f"{M}/renamed/open", os.O_RDONLY)
write_file(f"{M}/renamed/new", b"the new one")
os.rename(f"{M}/renamed/new", f"{M}/renamed/open")
equal(os.pread(old, 100, 0), b"one two three ", "the replaced file by its handle")
os.write(fd, b"four")
equal(os.pread(old, 100, 0), b"one two three four", "writes to the replaced file")
equal(os.fstat(old).st_nlink, 0, "links of the replaced file")
equal(read_file(f"{M}/renamed/open"), b"the new one", "the new file")
os.close(fd)
os.close(old)
# A directory's handle and working directory, moved.
here = os.open(f"{M}/renamed", os.O_RDONLY | os.O_DIRECTORY)
os.mkdir(f"{M}/deep")
os.rename(f"{M}/renamed", f"{M}/deep/er")
os.close(os.open("made-by-handle", os.O_CREAT | os.O_WRONLY, dir_fd=here))
equal(sorted(os.listdir(f"{M}/deep/er")), ["made-by-handle", "open"], "the moved directory")
os.chdir(f"{M}/deep/er")
os.rename(f"{M}/deep", f"{M}/deeper")
equal(os.getcwd(), f"{os.path.realpath(M)}/deeper/er", "the working directory")
equal(os.stat("..").st_ino, os.stat(f"{M}/deeper").st_ino, "the parent of the working directory")
os.close(here)

# The safe way of replacing a file, many times: a reader finds the old or the new one, never none and never half.
pid = os.fork()
if pid == 0:
    for step in range(2000):
        write_file(f"{M}/replaced.new", b"%04d" % step * 1000)
        os.rename(f"{M}/replaced.new", f"{M}/replaced")
    os._exit(0)
while not os.path.exists(f"{M}/replaced"):
    pass
reads, seen = 0, -1
while os.waitpid(pid, os.WNOHANG) == (0, 0):
    content = read_file(f"{M}/replaced")
    equal(content, content[:4] * 1000, "a file that is being replaced")
    if int(content[:4]) < seen:
        fail("an older version after a newer one")
    seen, reads = int(content[:4]), reads + 1
equal(read_file(f"{M}/replaced"), b"1999" * 1000, "the last version")
print(f"{reads} reads beside 2,000 replacements")

# What stays, for the comparison after a remount.
write_file(f"{M}/deeper/x", b"x")
write_file(f"{M}/y" + long, b"y")
renameat2(f"{M}/deeper/x", f"{M}/y" + long, RENAME_EXCHANGE)
os.mkdir(f"{M}/swap-1")
os.makedirs(f"{M}/swap-2/inside")
renameat2(f"{M}/swap-1", f"{M}/swap-2", RENAME_EXCHANGE)
END
list() { (cd "$M" && find . -type f -exec sha256sum {} + | sort -k2 && find . -not -type f -printf '%p %y %l\n' | sort); }
list >before
remount
list >after
diff before after
[[ -d $M/swap-1/inside && ! -d $M/swap-2/inside ]] || fail "the exchange of directories was undone"
! mv --help | grep -q -- --exchange || mv --exchange "$M/swap-1" "$M/swap-2"
