#!/usr/bin/env bash
# A tree far deeper than a path may be long, wide ones, and their removal; a path of the full length.
. "$(dirname "$0")/support/lib.sh"
depth=${DEPTH:-300}
python - "$depth" <<'END'
import errno, os, sys
from checks import *
depth = int(sys.argv[1])
os.chdir(M)
name = "d" * 100
for level in range(depth):
    os.mkdir(name)
    os.chdir(name)
    write_file("f", b"%d" % level)
equal(read_file("f"), b"%d" % (depth - 1), "the deepest file")
# A directory of the tree's top moved around takes all of it along.
os.rename(f"{M}/{name}", f"{M}/top")
equal(read_file("f"), b"%d" % (depth - 1), "the deepest file after the top moved")
# From below to the top by "..".
for level in range(depth - 1):
    os.chdir("..")
equal(os.path.samefile(".", f"{M}/top"), True, "the way up")
# The longest path: 4,095 bytes.
os.chdir(M)
path = M
while len(path) + 1 + 200 < 4095 - 201:
    path += "/" + "p" * 200
    os.mkdir(path)
path += "/" + "q" * (4095 - len(path) - 1)
if len(os.path.basename(path)) > 255:
    path = path[:len(os.path.dirname(path)) + 1] + "r" * 150
    os.mkdir(path)
    path += "/" + "q" * (4095 - len(path) - 1)
equal(len(path), 4095, "length of the path")
write_file(path, b"the longest path")
equal(read_file(path), b"the longest path", "by the longest path")
with refused(errno.ENAMETOOLONG, "a longer path"):
    os.stat(path + "q")
END
equal "$(find "$M/top" -type f | wc -l)" "$depth" "files of the deep tree"
remount
equal "$(find "$M/top" -type f | wc -l)" "$depth" "files of the deep tree after a remount"
# -execdir: the paths are longer than a system call takes.
find "$M/top" -type f -execdir awk 1 {} \; | sort -n | sha256sum >got
equal "$(cat got)" "$(seq 0 $((depth - 1)) | sha256sum)" "their contents"
tar -C "$M" -cf - top | tar -tf - | wc -l >entries
equal "$(cat entries)" $((2 * depth)) "entries of an archive of it"
rm -r "${M:?}"/*
equal "$(find "$M" -mindepth 1 | wc -l)" 0 "what is left"
