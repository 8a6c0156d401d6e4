#!/usr/bin/env bash
# Four processes append to one file: every record is there once, whole, and each process's in its order.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
cat >appending.py <<'END'
import os, sys
from checks import *

WRITERS, RECORDS = 4, 5000

def record(writer, number):
    body = b"%d %06d " % (writer, number)
    return body + bytes([97 + writer]) * (number * 31 % 200) + b"\n"

def append(path, flags, sync):
    pids = []
    for writer in range(WRITERS):
        pid = os.fork()
        if pid == 0:
            try:
                fd = os.open(path, flags | os.O_APPEND | os.O_CREAT, 0o644)
                for number in range(RECORDS if not sync else 100):
                    if os.write(fd, record(writer, number)) != len(record(writer, number)):
                        fail("a short write")
                    if sync and number % 10 == 0:
                        os.fsync(fd)
                os.close(fd)
                os._exit(0)
            except BaseException as error:
                print(repr(error), flush=True)
                os._exit(1)
        pids.append(pid)
    for pid in pids:
        equal(os.waitpid(pid, 0)[1], 0, "the end of a writer")

def check(path, count):
    content = read_file(path)
    seen = [0] * WRITERS
    for line in content.splitlines(keepends=True):
        writer, number = int(line[:1]), int(line[2:8])
        equal(line, record(writer, number), "a record")
        equal(number, seen[writer], f"the next record of writer {writer}")
        seen[writer] += 1
    equal(seen, [count] * WRITERS, "records")
    equal(len(content), os.stat(path).st_size, "size")

if sys.argv[1] == "check":
    check(f"{M}/read-write", RECORDS)
    check(f"{M}/write-only", RECORDS)
    check(f"{M}/synced", 100)
else:
    append(f"{M}/read-write", os.O_RDWR, False)
    check(f"{M}/read-write", RECORDS)
    # A write-only handle: with a write-back cache the kernel has to read the tail through it.
    append(f"{M}/write-only", os.O_WRONLY, False)
    check(f"{M}/write-only", RECORDS)
    append(f"{M}/synced", os.O_WRONLY, True)
    check(f"{M}/synced", 100)
END
python appending.py append
remount
python appending.py check
# The shell's way, from four processes that each open the file for every line.
for writer in 1 2 3 4; do
    for ((line = 0; line < 500; line++)); do printf '%s %s\n' "$writer" "$line" >>"$M/lines"; done &
done
wait
equal "$(sort -k1,1 -k2,2n "$M/lines" | sha256sum)" "$(for w in 1 2 3 4; do seq -f "$w %.0f" 0 499; done | sha256sum)" "lines of four shells"
