#!/usr/bin/env bash
# df tells what the vault's filesystem has; names of 255 bytes; du tells what the vault's files take.
# mount: STYLE=background
. "$(dirname "$0")/support/lib.sh"
python - <<'END'
import os
from checks import *
mine, backing = os.statvfs(M), os.statvfs(V)
equal(mine.f_namemax, 255, "the longest name")
equal(mine.f_frsize * mine.f_blocks, backing.f_frsize * backing.f_blocks, "size in bytes")
equal(mine.f_files, backing.f_files, "number of inodes")
for mine_, backing_, what in ((mine.f_frsize * mine.f_bavail, backing.f_frsize * backing.f_bavail, "available bytes"),
                              (mine.f_frsize * mine.f_bfree, backing.f_frsize * backing.f_bfree, "free bytes")):
    if abs(mine_ - backing_) > 0.05 * backing.f_frsize * backing.f_blocks:  # others use the disk as well
        fail(what, mine_, backing_)
if mine.f_bsize < 4096 or mine.f_bsize & (mine.f_bsize - 1):
    fail("block size", mine.f_bsize)
END
equal "$(df --output=target "$M" | tail -n 1)" "$(realpath "$M")" "the mount point by df"
equal "$(findmnt -n -o FSTYPE "$M")" fuse.sfs "the type of the mount"
# What is written is used: by the file's own account at least.
head -c 16M /dev/urandom >"$M/used"
sync "$M/used"
used=$(($(stat -c %b "$M/used") * 512))
((used >= 16777216 && used <= 18000000)) || fail "a file of 16 MiB takes $used bytes"
equal "$(du -b "$M/used" | cut -f1)" 16777216 "apparent size"
rm "$M/used"
