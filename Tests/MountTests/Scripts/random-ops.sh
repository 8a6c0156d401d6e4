#!/usr/bin/env bash
# Random operations on one file by several handles and a mapping, in lockstep with a model in memory. SEED and STEPS may be given;
# a failure names both.
# mount: PLACE=memory SECONDS=180
. "$(dirname "$0")/support/lib.sh"
: "${SEED:=$((RANDOM * 32768 + RANDOM))}" "${STEPS:=6000}"
export SEED STEPS
printf 'SEED=%s STEPS=%s\n' "$SEED" "$STEPS"
cat >operations.py <<'END'
import mmap, os, random, sys
from checks import *

seed, steps = int(os.environ["SEED"]), int(os.environ["STEPS"])
generator = random.Random(seed)
LIMIT = generator.choice((6000, 60000, 600000, 3000000))
path, model = f"{M}/file", bytearray()
handles = [os.open(path, os.O_RDWR | os.O_CREAT), os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)]
history = []

def place():
    return max(0, generator.choice((0, 3839, 4096, 8192, 262144, generator.randrange(LIMIT), len(model))) + generator.randrange(-5, 6)) % LIMIT

def length():
    return generator.choice((1, 10, 256, 4095, 4096, 4097, 20000, generator.randrange(1, LIMIT // 4)))

def put(where, what):
    model.extend(bytes(max(0, where + len(what) - len(model))))
    model[where:where + len(what)] = what

def write():
    where, what = place(), generator.randbytes(length())
    equal(os.pwrite(handle(), what, where), len(what), "bytes written")
    put(where, what)
    return where, len(what)

def read():
    where, count = place(), length()
    got = os.pread(handle(), count, where)
    if got != model[where:where + count]:
        wrong = next((i for i, (a, b) in enumerate(zip(got, model[where:])) if a != b), None)
        raise AssertionError(f"read of {count} at {where}: {len(got)} bytes, size {len(model)}, first difference at {wrong}")
    return where, count

def truncate():
    size = place()
    os.ftruncate(handle(), size)
    del model[size:]
    model.extend(bytes(size - len(model)))
    return (size,)

def punch():
    where, count = place(), length()
    fallocate(handle(), FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE, where, count)
    end = min(len(model), where + count)
    model[where:end] = bytes(max(0, end - where))
    return where, count

def store():
    if not model:
        return ()
    with mmap.mmap(handle(), len(model), mmap.MAP_SHARED) as view:
        where = place() % len(model)
        what = generator.randbytes(min(length(), len(model) - where))
        view[where:where + len(what)] = what
    put(where, what)
    return where, len(what)

def sync():
    generator.choice((os.fsync, os.fdatasync))(handle())
    return ()

def reopen():
    which = generator.randrange(3)
    os.close(handles[which])
    handles[which] = os.open(path, os.O_RDWR)
    return ()

def drop():
    os.posix_fadvise(handle(), 0, 0, os.POSIX_FADV_DONTNEED)
    return ()

def copy():
    where, to, count = place(), place(), length()
    if abs(where - to) < count:
        return ()
    done = os.copy_file_range(handles[0], handles[1], count, where, to)
    equal(done <= count, True, "bytes copied")
    put(to, bytes(model[where:where + done])) if done else None
    return where, to, done

def handle():
    return generator.choice(handles)

# Some kinds are left out in each run: what they would hide then shows.
kinds = [write, write, read, read, truncate, punch, store, sync, reopen, drop, copy]
kinds = [kind for kind in kinds if kind in (write, read) or generator.random() < 0.75]
try:
    for step in range(steps):
        kind = generator.choice(kinds)
        history.append((step, kind.__name__))
        history[-1] += kind()
        if step % 100 == 0:
            equal(os.fstat(handles[0]).st_size, len(model), "size")
    equal(read_file(path), bytes(model), "the whole file")
except BaseException as error:
    print(f"SEED={seed} STEPS={steps}: at step {history[-1][0] if history else 0}: {error!r}; the last steps:", file=sys.stderr)
    for entry in history[-12:]:
        print("  ", *entry, file=sys.stderr)
    sys.exit(1)
write_file(f"{W}/model", model)
END
for _ in 1 2 3 4; do
    python operations.py
    cmp "$M/file" model || fail "another content after the end: SEED=$SEED STEPS=$STEPS"
    remount
    cmp "$M/file" model || fail "another content after a remount: SEED=$SEED STEPS=$STEPS"
    rm "$M/file"
    SEED=$((SEED + 1))
done
