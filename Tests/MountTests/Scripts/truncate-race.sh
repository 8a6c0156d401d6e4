#!/usr/bin/env bash
# Cutting a file beside its writers and readers: sizes stay true, what was cut away never comes back, nothing is damaged.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
export RACE_SECONDS=${RACE_SECONDS:-3}
python - <<'END'
import os, random, signal, time
from checks import *

SECONDS = float(os.environ["RACE_SECONDS"])

# Each writer has a byte of its own. Whatever the order of cuts and writes, a byte is zero or one of theirs.
def race(path, workers, allowed):
    write_file(path, b"")
    pids = []
    for number, worker in enumerate(workers):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                generator, end = random.Random(number), time.monotonic() + SECONDS
                worker(path, number, generator, end)
                code = 0
            except BaseException as error:
                print("worker", number, repr(error), flush=True)
            os._exit(code)
        pids.append(pid)
    for pid in pids:
        equal(os.waitpid(pid, 0)[1], 0, f"the end of a worker on {path}")
    content = read_file(path)
    equal(len(content), os.stat(path).st_size, "size")
    wrong = set(content) - allowed
    if wrong:
        fail("bytes that nobody wrote", wrong)

LIMIT = 400000
def writer(path, number, generator, end):
    fd = os.open(path, os.O_WRONLY)
    while time.monotonic() < end:
        count = generator.choice((1, 100, 4096, 5000, 70000))
        equal(os.pwrite(fd, bytes([65 + number]) * count, generator.randrange(LIMIT)), count, "bytes written")
    os.close(fd)
def appender(path, number, generator, end):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    while time.monotonic() < end:
        os.write(fd, bytes([65 + number]) * generator.choice((1, 100, 4096, 5000)))
    os.close(fd)
def cutter(path, number, generator, end):
    fd = os.open(path, os.O_RDWR)
    while time.monotonic() < end:
        size = generator.choice((0, 1, 3839, 3840, 4095, 4096, 4097, 262144, generator.randrange(LIMIT)))
        way = generator.randrange(4)
        if way == 0:
            os.truncate(path, size)
        elif way == 1:
            os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))
        else:
            os.ftruncate(fd, size)
        if generator.randrange(8) == 0:
            os.fsync(fd)
    os.close(fd)
def reader(path, number, generator, end):
    fd = os.open(path, os.O_RDONLY)
    allowed = set(range(65, 91)) | {0}
    while time.monotonic() < end:
        if not set(os.pread(fd, 100000, generator.randrange(LIMIT))) <= allowed:
            fail("a reader saw bytes that nobody wrote")
    os.close(fd)
letters = set(range(65, 91)) | {0}
race(f"{M}/writers", [writer, writer, cutter, reader], letters)
race(f"{M}/appenders", [appender, appender, cutter, reader], letters)

# By one process, with its own model: shrink, write past the end, shrink again; two handles; sizes where the form changes.
path = f"{M}/lockstep"
write_file(path, b"")
handles = [os.open(path, os.O_RDWR), os.open(path, os.O_WRONLY), os.open(path, os.O_RDWR)]
model, generator = bytearray(), random.Random(17)
sizes = (0, 1, 2048, 3838, 3839, 3840, 3841, 4095, 4096, 4097, 6144, 8191, 8192, 8193, 262143, 262144, 262145, 266240, 524288, 524289)
for step in range(4000):
    if generator.random() < 0.5:
        size = generator.choice(sizes)
        os.ftruncate(handles[step % 3], size)
        del model[size:]
        model.extend(bytes(size - len(model)))
    else:
        where = max(0, generator.choice(sizes) + generator.randrange(-3, 4))
        what = generator.randbytes(generator.choice((1, 7, 2048, 4096, 5000)))
        os.pwrite(handles[step % 3], what, where)
        model.extend(bytes(max(0, where + len(what) - len(model))))
        model[where:where + len(what)] = what
    if step % 50 == 0:
        equal(os.fstat(handles[1]).st_size, len(model), f"size, step {step}")
        equal(os.pread(handles[0], len(model) + 1, 0), bytes(model), f"content, step {step}")
    if step % 333 == 0:
        os.fsync(handles[0])
equal(read_file(path), bytes(model), "content at the end")
write_file(f"{W}/model", model)
END
cmp "$M/lockstep" model
sums=$(cd "$M" && sha256sum ./*)
remount
cmp "$M/lockstep" model
equal "$(cd "$M" && sha256sum ./*)" "$sums" "contents after a remount"
