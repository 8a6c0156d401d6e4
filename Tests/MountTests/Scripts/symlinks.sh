#!/usr/bin/env bash
# Symlinks to 1 to 4,095 bytes, of any bytes; their sizes, times and removal; dangling ones, loops.
. "$(dirname "$0")/support/lib.sh"
cat >check.py <<'END'
import os, sys
from checks import *
LENGTHS = [*range(1, 260), 1000, 2047, 2048, *range(3030, 3050), 3071, 3072, 4000, 4094, 4095]
generator = __import__("random").Random(13)
ALPHABET = [b for b in range(1, 256)]

def target(length):
    return bytes(random_byte for random_byte in generator.choices(ALPHABET, k=length))

making = sys.argv[1] == "make"
root = os.fsencode(M)
for length in LENGTHS:
    path, wanted = os.path.join(root, b"to-%d" % length), target(length)
    if making:
        os.symlink(wanted, path)
    equal(os.readlink(path), wanted, f"a target of {length} bytes")
    equal(os.lstat(path).st_size, length, f"the size of a symlink to {length} bytes")
if making:
    import errno
    for length in (4096, 5000):
        with refused(errno.ENAMETOOLONG, f"a target of {length} bytes"):
            os.symlink(b"t" * length, os.path.join(root, b"too-long"))
    with refused(errno.ENOENT, "an empty target"):
        os.symlink(b"", os.path.join(root, b"empty"))
    with refused(errno.EEXIST, "a symlink over one"):
        os.symlink(b"x", os.path.join(root, b"to-1"))
    with refused(errno.EINVAL, "readlink of a directory"):
        os.readlink(root)
    equal(os.path.lexists(os.path.join(root, b"too-long")), False, "what was refused is there")
    # Where the link's target lies has no meaning for the filesystem: relative, absolute, dangling, a loop.
    os.mkdir(f"{M}/d")
    write_file(f"{M}/d/file", b"reached")
    os.symlink("../d/file", f"{M}/d/relative")
    os.symlink(f"{M}/d/file", f"{M}/d/absolute")
    os.symlink("d", f"{M}/directory")
    os.symlink("loop-2", f"{M}/loop-1")
    os.symlink("loop-1", f"{M}/loop-2")
    os.symlink("nowhere", f"{M}/dangling")
    with refused(errno.ELOOP, "a loop"):
        os.stat(f"{M}/loop-1")
    with refused(errno.ENOENT, "a dangling link"):
        os.stat(f"{M}/dangling")
    with refused(errno.ELOOP, "O_NOFOLLOW"):
        os.open(f"{M}/directory", os.O_RDONLY | os.O_NOFOLLOW)
    with open(f"{M}/dangling", "wb") as file:  # makes what it points to
        file.write(b"made through a link")
    equal(read_file(f"{M}/nowhere"), b"made through a link", "a file made through a link")
    os.unlink(f"{M}/nowhere")
    # Times and owners are the link's own.
    os.utime(f"{M}/dangling", ns=(1, 1234567890_123456789), follow_symlinks=False)
    os.utime(f"{M}/to-4095", ns=(1, 1234567890_123456789), follow_symlinks=False)
    if os.geteuid() == 0:
        os.chown(f"{M}/dangling", 123, 456, follow_symlinks=False)
for name in ("relative", "absolute"):
    equal(read_file(f"{M}/d/{name}"), b"reached", f"through {name}")
equal(read_file(f"{M}/directory/file"), b"reached", "through a link to a directory")
for name in ("dangling", "to-4095"):
    equal(os.lstat(f"{M}/{name}").st_mtime_ns, 1234567890_123456789, f"mtime of {name}")
if os.geteuid() == 0:
    equal(os.lstat(f"{M}/dangling").st_uid, 123, "owner of a link")
END
python check.py make
touch -h -d '2003-04-05 06:07:08.9' "$M/to-1"
equal "$(stat -c %y "$M/to-1")" "2003-04-05 06:07:08.900000000 +0000" "touch -h"
remount
python check.py again
[[ $(find "$M" -maxdepth 1 -name 'to-*' -type l | wc -l) -gt 280 ]]
# Copies and archives of them.
cp -a "$M" "$W/copy"
python - <<'END'
import os
from checks import *
for name in os.listdir(os.fsencode(M)):
    path = os.path.join(os.fsencode(M), name)
    if os.path.islink(path):
        equal(os.readlink(os.path.join(os.fsencode(W), b"copy", name)), os.readlink(path), f"the copy of {name}")
END
rm -r "${M:?}"/*
remount
# What holds the targets of long links is gone with them.
left=$(find "$V" -mindepth 2 -not -name 'sfs.*' | wc -l)
((left <= 0)) || fail "$left files are left in folders of the vault"
