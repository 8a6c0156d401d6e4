#!/usr/bin/env bash
# fallocate: preallocation with and without the size, punching holes, zeroing ranges; what cannot be done says so and does nothing.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
python - <<'END'
import errno, os, random
from checks import *

SIZE = 1 << 20
path = f"{M}/file"
model = bytearray(pattern(19, SIZE))
write_file(path, model)
fd = os.open(path, os.O_RDWR)
os.fsync(fd)

def check(what):
    equal(os.fstat(fd).st_size, len(model), f"size after {what}")
    equal(os.pread(fd, len(model) + 1, 0), bytes(model), f"content after {what}")

def punch(offset, count):
    fallocate(fd, FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE, offset, count)
    end = min(offset + count, len(model))
    model[offset:end] = bytes(max(0, end - offset))

for offset, count in ((0, 1), (4095, 2), (8192, 4096), (10000, 50000), (262144, 262144), (SIZE - 10, 100), (SIZE + 5000, 10), (300000, 1 << 40)):
    punch(offset, count)
    check(f"a hole of {count} at {offset}")
equal(os.lseek(fd, 262144, os.SEEK_DATA) if any(model[262144:]) else None, None, "data in what was punched")
os.fsync(fd)
used = os.fstat(fd).st_blocks * 512
if used > 400000:
    fail("a file with its upper two thirds punched takes", used)
# Writing into holes, and punching again.
generator = random.Random(23)
for step in range(300):
    offset, count = generator.randrange(SIZE), generator.choice((1, 100, 4096, 30000))
    if generator.random() < 0.5:
        punch(offset, count)
    else:
        what = generator.randbytes(count)
        os.pwrite(fd, what, offset)
        model.extend(bytes(max(0, offset + count - len(model))))
        model[offset:offset + count] = what
    if step % 20 == 0:
        check(f"step {step}")
    if step % 70 == 0:
        os.fsync(fd)
check("all steps")

def optional(mode, offset, count, what):
    """What a filesystem may not have; then it has to say EOPNOTSUPP."""
    try:
        fallocate(fd, mode, offset, count)
        return True
    except OSError as error:
        equal(error.errno, errno.EOPNOTSUPP, f"{what}: errno")
        print(f"not supported: {what}")
        return False

if optional(FALLOC_ZERO_RANGE, 5000, 100000, "zeroing a range"):
    model[5000:105000] = bytes(100000)
    check("zeroing")
if optional(FALLOC_ZERO_RANGE, len(model) - 100, 1000, "zeroing past the end"):
    model[-100:] = bytes(100)
    model.extend(bytes(900))
    check("zeroing past the end")
if optional(FALLOC_ZERO_RANGE | FALLOC_KEEP_SIZE, len(model) - 100, 1000, "zeroing past the end with the size kept"):
    model[-100:] = bytes(100)
    check("zeroing with the size kept")
if optional(0, 0, len(model) + 20000, "preallocation"):
    model.extend(bytes(20000))
    check("preallocation")
if optional(FALLOC_KEEP_SIZE, 0, len(model) + 1000000, "preallocation with the size kept"):
    check("preallocation with the size kept")
# Preallocated, then written, then cut: zeros where nothing was written.
os.pwrite(fd, b"in the preallocated range", len(model) + 500000)
model.extend(bytes(500000))
model.extend(b"in the preallocated range")
check("writing behind preallocation")
if optional(FALLOC_COLLAPSE_RANGE, 0, 4096, "collapsing a range"):
    del model[:4096]
    check("collapsing a range")
with refused((errno.EOPNOTSUPP, errno.EINVAL), "punching without KEEP_SIZE"):
    fallocate(fd, FALLOC_PUNCH_HOLE, 0, 4096)
with refused(errno.EINVAL, "a length of zero"):
    fallocate(fd, 0, 0, 0)
with refused(errno.EBADF, "a read-only handle"):
    fallocate(os.open(path, os.O_RDONLY), 0, 0, 10)
check("what was refused")
# posix_fallocate works everywhere: the C library writes where the filesystem does not help.
os.posix_fallocate(fd, 0, len(model) + 7777)
model.extend(bytes(7777))
check("posix_fallocate")
# Small files, which have a form of their own.
for size in (0, 1, 100, 3839):
    small = os.open(f"{M}/small.{size}", os.O_RDWR | os.O_CREAT)
    os.write(small, b"s" * size)
    fallocate(small, FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE, 10, 20)
    expected = bytearray(b"s" * size)
    expected[10:30] = bytes(len(expected[10:30]))
    equal(os.pread(small, 5000, 0), bytes(expected), f"a hole in {size} bytes")
    os.posix_fallocate(small, 0, 10000)
    equal(os.pread(small, 20000, 0), bytes(expected.ljust(10000, b"\0")), f"{size} bytes, preallocated to 10000")
    os.close(small)
write_file(f"{W}/model", model)
END
cmp "$M/file" model
remount
cmp "$M/file" model
# The tools.
cp model "$M/dug"
fallocate --dig-holes "$M/dug"
cmp "$M/dug" model
fallocate -p -o 0 -l 100000 "$M/dug"
cmp <(head -c 100000 "$M/dug") <(head -c 100000 /dev/zero)
cmp <(tail -c +100001 "$M/dug") <(tail -c +100001 model)
