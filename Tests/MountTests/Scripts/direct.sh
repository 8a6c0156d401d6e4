#!/usr/bin/env bash
# O_DIRECT, aligned and not, beside buffered access of the same file; O_SYNC and O_DSYNC.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
head -c 10000000 /dev/urandom >random
dd if=random of="$M/direct" bs=64k oflag=direct iflag=fullblock status=none
cmp random "$M/direct"
dd if="$M/direct" of=copy bs=1M iflag=direct status=none
cmp random copy
dd if=random of="$M/sync" bs=128k oflag=sync iflag=fullblock status=none
cmp random "$M/sync"
dd if="$M/direct" of="$M/both" bs=256k iflag=direct oflag=direct status=none
cmp random "$M/both"
python - <<'END'
import mmap, os, random
from checks import *

SIZE = 1 << 20
path = f"{M}/mixed"
model = bytearray(pattern(3, SIZE))
write_file(path, model)
direct = os.open(path, os.O_RDWR | os.O_DIRECT)
plain = os.open(path, os.O_RDWR)
room = mmap.mmap(-1, SIZE)  # page-aligned memory
generator = random.Random(11)
for step in range(600):
    aligned = generator.random() < 0.6
    unit = 4096 if aligned else 512 if generator.random() < 0.7 else 1
    where = generator.randrange(SIZE // 2 // unit) * unit
    count = generator.randrange(1, 60000 // unit) * unit
    which, writing = generator.choice(((direct, True), (direct, False), (plain, True), (plain, False)))
    view = memoryview(room)[:count]
    try:
        if writing:
            what = generator.randbytes(count)
            view[:] = what
            written = os.pwritev(which, [view], where)
            equal(written, count, f"bytes written, step {step}")
            model[where:where + count] = what
        else:
            equal(os.preadv(which, [view], where), count, f"bytes read, step {step}")
            equal(bytes(view), bytes(model[where:where + count]), f"what is read {'directly' if which == direct else 'buffered'}, step {step}")
    except OSError as error:
        # A filesystem may refuse what is not aligned; it may not do half of it.
        if which != direct or unit == 4096 or error.errno != 22:
            raise
    view.release()
equal(os.pread(plain, SIZE, 0), bytes(model), "the whole file")
# Past the end: a direct write that grows the file, a direct read of its tail.
view = memoryview(room)[:8192]
view[:] = b"g" * 8192
equal(os.pwritev(direct, [view], SIZE), 8192, "a direct write past the end")
model += b"g" * 8192
equal(os.fstat(plain).st_size, SIZE + 8192, "size after a direct write")
os.ftruncate(plain, SIZE + 5000)
del model[SIZE + 5000:]
view[:] = bytes(8192)
equal(os.preadv(direct, [view], SIZE), 5000, "a direct read of the tail")
equal(bytes(view[:5000]), b"g" * 5000, "the tail")
equal(os.preadv(direct, [view], SIZE + 8192), 0, "a direct read past the end")
write_file(f"{W}/model", model)
END
cmp "$M/mixed" model
remount
cmp "$M/mixed" model
cmp "$M/direct" random
cmp "$M/sync" random
