#!/usr/bin/env bash
# Copies within the mount, many at once, while others read: cp -r, copy_file_range, sendfile, dd into itself; many readers of one file.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
mkdir "$M/a"
for size in 0 1 3839 3840 4096 4097 262144 262145 1000000 5000000; do head -c $size /dev/urandom >"$M/a/$size"; done
mkdir "$M/a/more"
for number in $(seq 1 200); do head -c $((number * 97)) /dev/urandom >"$M/a/more/$number"; done
cp -a "$M/a" "$W/a"
jobs=()
for copy in b c d e; do
    cp -a "$M/a" "$M/$copy" &
    jobs+=($!)
    diff -r "$M/a" "$W/a" &
    jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || fail "a copy or a comparison failed"; done
for copy in b c d e; do diff -r "$W/a" "$M/$copy" || fail "copy $copy differs"; done
cp --reflink=auto "$M/a/5000000" "$M/reflinked"
cmp "$M/reflinked" "$W/a/5000000"
refused 'not supported|Invalid cross-device|Inappropriate' cp --reflink=always "$M/a/5000000" "$M/never"
python - <<'END'
import os, threading
from checks import *
source = f"{M}/a/5000000"
content = read_file(f"{W}/a/5000000")
def whole(copy, name):
    out = os.open(f"{M}/{name}", os.O_RDWR | os.O_CREAT)
    done = 0
    with open(source, "rb") as file:
        while done < len(content):
            count = copy(file.fileno(), out, len(content) - done, done)
            if count == 0:
                fail(name, "stopped at", done)
            done += count
    os.close(out)
    equal(read_file(f"{M}/{name}") == content, True, name)
whole(lambda a, b, n, at: os.copy_file_range(a, b, n, at, at), "copy_file_range")
whole(lambda a, b, n, at: os.sendfile(b, a, at, n), "sendfile")
# Within one file, forward into its own tail.
fd = os.open(f"{M}/own", os.O_RDWR | os.O_CREAT)
os.write(fd, content[:1000000])
equal(os.copy_file_range(fd, fd, 500000, 0, 1000000) > 0, True, "a copy within a file")
equal(os.pread(fd, 100000, 1000000), content[:100000], "what was copied within a file")
# Sixteen threads read one file at random places while it is open for writing elsewhere.
errors = []
def read(seed):
    own = os.open(source, os.O_RDONLY)
    places = __import__("random").Random(seed)
    for _ in range(150):
        where, count = places.randrange(len(content)), places.randrange(1, 200000)
        if os.pread(own, count, where) != content[where:where + count]:
            errors.append((seed, where, count))
    os.close(own)
threads = [threading.Thread(target=read, args=(seed,)) for seed in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
equal(errors, [], "wrong reads")
END
# Overwritten by itself, through a pipe, block by block.
dd if="$M/b/1000000" of="$M/b/1000000" bs=10000 conv=notrunc status=none
cmp "$M/b/1000000" "$W/a/1000000"
remount
for copy in a b c d e; do diff -r "$W/a" "$M/$copy" || fail "copy $copy differs after a remount"; done
