#!/usr/bin/env bash
# Shared mappings: what is stored through one is read by read(2), by other mappings and other processes, and the other way round.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
python - <<'END'
import mmap, os, random
from checks import *

SIZE = 1 << 20
path = f"{M}/mapped"
write_file(path, bytes(SIZE))
fd = os.open(path, os.O_RDWR)
mapping = mmap.mmap(fd, SIZE, mmap.MAP_SHARED)
mapping[5000:5005] = b"store"
equal(os.pread(fd, 5, 5000), b"store", "a store, by read")
equal(read_file(path)[5000:5005], b"store", "a store, by another descriptor")
os.pwrite(fd, b"write", 9000)
equal(bytes(mapping[9000:9005]), b"write", "a write, by the mapping")

# Two processes, stores and writes of bytes at random places, in lockstep with a model.
generator = random.Random(7)
model = bytearray(mapping[:])
def step(view, descriptor):
    where, what = generator.randrange(SIZE - 10000), generator.randbytes(generator.randrange(1, 9000))
    if generator.random() < 0.5:
        view[where:where + len(what)] = what
    else:
        os.pwrite(descriptor, what, where)
    model[where:where + len(what)] = what
for round in range(60):
    # The generator takes the same steps in parent and child.
    pid = os.fork()
    if pid == 0:
        own = os.open(path, os.O_RDWR)
        view = mmap.mmap(own, SIZE, mmap.MAP_SHARED)
        for _ in range(5):
            step(view, own)
        os._exit(0)
    for _ in range(5):
        where, what = generator.randrange(SIZE - 10000), generator.randbytes(generator.randrange(1, 9000))
        generator.random()
        model[where:where + len(what)] = what
    equal(os.waitpid(pid, 0)[1], 0, "the other process")
    equal(bytes(mapping), bytes(model), f"the mapping, round {round}")
    equal(os.pread(fd, SIZE, 0), bytes(model), f"read, round {round}")
    if round % 10 == 0:
        mapping.flush()
    if round % 15 == 0:
        os.fsync(fd)

# Growing and cutting under a mapping: zeros appear past the old end, never what was there.
mapping[SIZE - 5:] = b"trail"
os.ftruncate(fd, SIZE - 100)
os.ftruncate(fd, SIZE)
equal(bytes(mapping[SIZE - 101:]), bytes(model[SIZE - 101:SIZE - 100]) + bytes(100), "cut and grown")
model[SIZE - 100:] = bytes(100)
# Stores past the end within the last page do not reach the file.
os.ftruncate(fd, SIZE - 50)
mapping[SIZE - 20:SIZE - 15] = b"ghost"
mapping.flush()
os.ftruncate(fd, SIZE)
equal(os.pread(fd, 50, SIZE - 50), bytes(50), "what was stored past the end")
mapping.flush()
mapping.close()
os.close(fd)
# The last store before munmap and close counts, without any sync.
fd = os.open(path, os.O_RDWR)
mapping = mmap.mmap(fd, SIZE, mmap.MAP_SHARED)
mapping[123456:123461] = b"final"
model[123456:123461] = b"final"
mapping.close()
os.close(fd)
# A private mapping changes nothing.
fd = os.open(path, os.O_RDONLY)
mapping = mmap.mmap(fd, SIZE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
mapping[0:7] = b"private"
mapping.close()
os.close(fd)
# A mapping of a hole: stores fill it.
fd = os.open(f"{M}/hole", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 3 << 20)
mapping = mmap.mmap(fd, 3 << 20, mmap.MAP_SHARED)
mapping[1 << 20] = 1
mapping[(3 << 20) - 1] = 2
mapping.close()
os.close(fd)
write_file(f"{W}/model", model)
END
cmp "$M/mapped" "$W/model"
remount
cmp "$M/mapped" "$W/model"
equal "$(od -An -tu1 -j1048576 -N1 "$M/hole" | tr -d ' ')$(tail -c 1 "$M/hole" | od -An -tu1 | tr -d ' ')" 12 "stores into a hole"
equal "$(tr -d '\0' <"$M/hole" | wc -c)" 2 "bytes of the hole's file"
