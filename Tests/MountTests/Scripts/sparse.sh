#!/usr/bin/env bash
# Sparse files: cp --sparse=always and du, truncate to 1T and back, data at the far end, SEEK_HOLE and SEEK_DATA.
. "$(dirname "$0")/support/lib.sh"
used() { # bytes the vault's filesystem has given to the file
    echo $(($(stat -c %b "$1") * $(stat -c %B "$1")))
}
at_most() { [[ $1 -le $2 ]] || fail "$3: $1 bytes, at most $2"; }

# A file of 64 MiB with two islands of data, one of them in the middle of zeros that are written.
truncate -s 64M plain
printf 'first island' | dd of=plain bs=1 seek=1000000 conv=notrunc status=none
head -c 300000 /dev/urandom | dd of=plain bs=100000 seek=400 conv=notrunc status=none
head -c 8M /dev/zero | dd of=plain bs=1M seek=10 conv=notrunc status=none
cp --sparse=always plain "$M/sparse"
cmp plain "$M/sparse"
sync -f "$M"
at_most "$(used "$M/sparse")" 2000000 "cp --sparse=always"
at_most "$(du -B1 "$M/sparse" | cut -f1)" 2000000 "du of the sparse file"
equal "$(du -b "$M/sparse" | cut -f1)" 67108864 "du --apparent-size"
cp --sparse=auto "$M/sparse" "$M/again"
cmp plain "$M/again"
sync -f "$M"
at_most "$(used "$M/again")" 2000000 "cp --sparse=auto within the mount"
cp --sparse=never "$M/sparse" "$M/full"
cmp plain "$M/full"
tar -C "$M" -cSf "$W/sparse.tar" sparse
at_most "$(stat -c %s sparse.tar)" 3000000 "tar -S"

# 1T, data at the far end, and back.
for start in 0 10 5000; do
    file=$M/far.$start
    head -c "$start" /dev/urandom >"start.$start"
    cp "start.$start" "$file"
    truncate -s 1T "$file"
    equal "$(stat -c %s "$file")" 1099511627776 "size"
    printf 'the end' | dd of="$file" bs=1 seek=1099511627769 conv=notrunc status=none
    sync "$file"
    at_most "$(used "$file")" 200000 "a file of 1T with data at its end"
    cmp <(head -c 4000000 "$file") <(cat "start.$start" <(head -c $((4000000 - start)) /dev/zero))
    equal "$(tail -c 7 "$file")" "the end" "the far end"
    equal "$(dd if="$file" bs=1M skip=524288 count=1 status=none | tr -d '\0' | wc -c)" 0 "the middle"
done
# An offset past what a content file can have is refused, and nothing else happens.
refused 'File too large|Invalid argument' truncate -s 4E "$M/far.10"
remount
for start in 0 10 5000; do
    file=$M/far.$start
    equal "$(stat -c %s "$file")" 1099511627776 "size after a remount"
    equal "$(tail -c 7 "$file")" "the end" "the far end after a remount"
    cmp <(head -c 10000 "$file") <(cat "start.$start" <(head -c $((10000 - start)) /dev/zero))
    truncate -s $start "$file"
    equal "$(stat -c %s "$file")" $start "the size back"
    sync "$file"
    at_most "$(used "$file")" 20000 "a file cut back from 1T"
    # Growing again shows zeros, not what was there.
    cmp "$file" "start.$start"
    truncate -s 20000 "$file"
    equal "$(tail -c +$((start + 1)) "$file" | tr -d '\0' | wc -c)" 0 "what was cut away"
done
cmp plain "$M/sparse"

# SEEK_HOLE and SEEK_DATA: every byte of data is in what they call data, and large holes are seen.
python - "$M/sparse" "$M/holes" <<'END'
import errno, os, sys
from checks import *

def extents(fd):
    """The ranges of data."""
    found, offset, size = [], 0, os.fstat(fd).st_size
    while offset < size:
        try:
            start = os.lseek(fd, offset, os.SEEK_DATA)
        except OSError as error:
            equal(error.errno, errno.ENXIO, "SEEK_DATA with no data behind")
            break
        if start < offset:
            fail("SEEK_DATA went back")
        end = os.lseek(fd, start, os.SEEK_HOLE)
        if end <= start:
            fail("SEEK_HOLE within data")
        found.append((start, min(end, size)))
        offset = end
    return found

def check(path, data, room):
    fd = os.open(path, os.O_RDONLY)
    found = extents(fd)
    for start, end in data:
        if not any(s <= start and end <= e for s, e in found):
            fail(f"{path}: data {start}..{end} lies in a hole: {found}")
    spare = sum(e - s for s, e in found) - sum(e - s for s, e in data)
    if spare > room:
        fail(f"{path}: {spare} bytes of holes are called data: {found}")
    size = os.fstat(fd).st_size
    for whence in (os.SEEK_DATA, os.SEEK_HOLE):
        with refused(errno.ENXIO, "a seek at the end"):
            os.lseek(fd, size, whence)
    last = max((e for _, e in data), default=0)
    if last < size:
        equal(os.lseek(fd, size - 1, os.SEEK_HOLE), size - 1, "SEEK_HOLE in the last hole")
    os.close(fd)

check(sys.argv[1], [(1000000, 1000012), (40000000, 40300000)], 600000)
# Data that is only in the kernel's or the daemon's memory is data already.
path = sys.argv[2]
fd = os.open(path, os.O_RDWR | os.O_CREAT)
os.pwrite(fd, b"x" * 10000, 1 << 20)
check(path, [(1 << 20, (1 << 20) + 10000)], 8192 + 262144)
os.pwrite(fd, b"x", 9 << 20)
os.ftruncate(fd, 20 << 20)
check(path, [(1 << 20, (1 << 20) + 10000), (9 << 20, (9 << 20) + 1)], 2 * (8192 + 262144))
os.fsync(fd)
check(path, [(1 << 20, (1 << 20) + 10000), (9 << 20, (9 << 20) + 1)], 2 * (8192 + 262144))
# A full file is one piece of data; an empty one none.
write_file(path + ".full", b"x" * 700000)
fd = os.open(path + ".full", os.O_RDONLY)
equal(extents(fd), [(0, 700000)], "the extents of a full file")
for size in (1, 3839, 3840, 4096, 4097):
    write_file(path + ".small", b"x" * size)
    fd = os.open(path + ".small", os.O_RDONLY)
    equal(extents(fd), [(0, size)], f"the extents of {size} bytes")
    equal(os.lseek(fd, 0, os.SEEK_HOLE), size, f"SEEK_HOLE of {size} bytes")
    os.close(fd)
END
