#!/usr/bin/env bash
# Files and directories that are removed while open, files without a name, and names that come back.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
python - <<'END'
import errno, os, shutil, stat
from checks import *

for size in (0, 100, 5000, 1 << 20):
    path = f"{M}/removed"
    write_file(path, pattern(1, size))
    fd = os.open(path, os.O_RDWR)
    os.unlink(path)
    equal(os.path.exists(path), False, "the removed name")
    equal(os.listdir(M), [], "entries after the removal (no .fuse_hidden files)")
    equal(os.fstat(fd).st_nlink, 0, "links")
    equal(os.pread(fd, size + 1, 0), pattern(1, size), "content of the removed file")
    # It can be written, grown, cut, synced, and have its attributes changed.
    os.pwrite(fd, b"grown", size + 10000)
    os.fsync(fd)
    equal(os.fstat(fd).st_size, size + 10005, "size after growth")
    os.ftruncate(fd, 3)
    os.pwrite(fd, b"abc", 0)
    os.fdatasync(fd)
    os.fchmod(fd, 0o600)
    os.setxattr(fd, "user.a", b"b")
    equal(os.getxattr(fd, "user.a"), b"b", "attribute of the removed file")
    os.utime(fd, ns=(5, 7))
    equal((os.fstat(fd).st_mtime_ns, stat.S_IMODE(os.fstat(fd).st_mode)), (7, 0o600), "times and mode of the removed file")
    # The same name again is another file, whatever inode number it gets; the old one stays what it is.
    write_file(path, b"new")
    equal(os.pread(fd, 10, 0), b"abc", "the old file")
    equal(read_file(path), b"new", "the new file")
    equal(os.path.sameopenfile(fd, other := os.open(path, os.O_RDONLY)), False, "old and new are the same")
    os.close(other)
    os.unlink(path)
    os.close(fd)

# Inode numbers that come back never bring old content, size or attributes with them.
for round in range(300):
    path = f"{M}/again"
    write_file(path, b"x" * (round * 37 % 9000))
    os.setxattr(path, "user.round", b"%d" % round)
    equal(len(read_file(path)), round * 37 % 9000, "size")
    os.unlink(path)
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    equal((os.fstat(fd).st_size, os.pread(fd, 10, 0), os.listxattr(fd)), (0, b"", []), f"a new file, round {round}")
    os.close(fd)
    os.unlink(path)

# A file without a name, which gets one later. O_EXCL: never one.
fd = os.open(M, os.O_TMPFILE | os.O_RDWR, 0o640)
os.write(fd, pattern(2, 100000))
equal(os.listdir(M), [], "entries beside a file without a name")
linkat(f"/proc/self/fd/{fd}", f"{M}/named", AT_SYMLINK_FOLLOW)
os.write(fd, b"more")
equal(read_file(f"{M}/named"), pattern(2, 100000) + b"more", "the file that got its name")
equal((os.stat(f"{M}/named").st_nlink, stat.S_IMODE(os.stat(f"{M}/named").st_mode)), (1, 0o640), "links and mode")
os.close(fd)
fd = os.open(M, os.O_TMPFILE | os.O_RDWR | os.O_EXCL, 0o640)
with refused(errno.ENOENT, "a name for a file made with O_EXCL"):
    linkat(f"/proc/self/fd/{fd}", f"{M}/never", AT_SYMLINK_FOLLOW)
os.close(fd)

# Directories: removed while open, while somebody's working directory, while an unlinked file of them is open.
os.mkdir(f"{M}/d")
inside = os.open(f"{M}/d/file", os.O_CREAT | os.O_RDWR)
os.write(inside, b"inside")
os.unlink(f"{M}/d/file")
directory = os.open(f"{M}/d", os.O_RDONLY)
os.chdir(f"{M}/d")
os.rmdir(f"{M}/d")
equal(os.pread(inside, 10, 0), b"inside", "a file of the removed directory")
equal(os.listdir(directory), [], "entries of the removed directory")
equal(os.fstat(directory).st_nlink, 0, "links of the removed directory")
with refused(errno.ENOENT, "a new file in the removed directory"):
    os.open("new", os.O_CREAT | os.O_WRONLY, 0o644)
with refused(errno.ENOENT, "a new directory in the removed directory"):
    os.mkdir("new", dir_fd=directory)
os.mkdir(f"{M}/d")
write_file(f"{M}/d/file", b"another")
equal(os.listdir(directory), [], "entries of the removed directory, after another of its name was made")
os.chdir(W)
os.close(directory)
os.close(inside)
with refused((errno.ENOTEMPTY, errno.EEXIST), "rmdir of a directory with a file"):
    os.rmdir(f"{M}/d")
with refused(errno.ENOTDIR, "rmdir of a file"):
    os.rmdir(f"{M}/d/file")
with refused((errno.EISDIR, errno.EPERM), "unlink of a directory"):
    os.unlink(f"{M}/d")
shutil.rmtree(f"{M}/d")

# What is open and removed when the mount ends is gone afterwards, and no harm done: the harness looks at the vault.
write_file(f"{M}/kept", b"kept")
END
remount
equal "$(find "$M" -mindepth 1 -printf "%P " | tr " " "\n" | sort | xargs)" "kept named" "what is left"
equal "$(stat -c %s "$M/named")" 100004 "the file that got its name, after a remount"
