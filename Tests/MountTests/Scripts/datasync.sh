#!/usr/bin/env bash
# fdatasync costs less than fsync below, and is durable all the same: the size too.
. "$(dirname "$0")/support/lib.sh"
pid=$(daemon)
if ! command -v strace >/dev/null || ((EUID != 0)); then
    skip_part "seeing the daemon's calls: this needs root and strace"
    exit 0
fi
python - "$pid" <<'END_OF_PROGRAM'
import os, re, subprocess, sys, time
from checks import *

pid = sys.argv[1]


def calls(action):
    """fsync and fdatasync calls of the daemon while `action` runs."""
    tracer = subprocess.Popen(["strace", "-f", "-o", f"{W}/trace", "-e", "trace=fsync,fdatasync", "-p", pid], stderr=subprocess.PIPE, text=True)
    while "attached" not in tracer.stderr.readline():
        pass
    try:
        action()
    finally:
        tracer.terminate()
        tracer.communicate()
    with open(f"{W}/trace", encoding="ascii", errors="replace") as trace:
        text = trace.read()
    return len(re.findall(r"\bfsync\(", text)), len(re.findall(r"\bfdatasync\(", text))


fd = os.open(f"{M}/file", os.O_CREAT | os.O_RDWR)
os.write(fd, b"x" * 10000)
os.fsync(fd)
os.write(fd, b"y" * 10000)
full, data = calls(lambda: os.fdatasync(fd))
equal(full, 0, "fsync calls below an fdatasync")
if data == 0:
    fail("fdatasync reaches no disk")
os.write(fd, b"z" * 10000)
full, data = calls(lambda: os.fsync(fd))
if full == 0:
    fail("fsync is no fsync below")
os.close(fd)
END_OF_PROGRAM
# The size that a power cut leaves is in the file's own header: sfs cat reads what is on the backing filesystem now.
python - <<'END_OF_PROGRAM'
import os, subprocess
from checks import *
fd = os.open(f"{M}/grown", os.O_CREAT | os.O_RDWR)
for size in (1, 5000, 70000):
    os.write(fd, b"g" * size)
    os.fdatasync(fd)
    expected = os.fstat(fd).st_size
    shown = subprocess.run([os.environ["SFS_BINARY"], "cat", V, "grown", "--passfile", os.environ["PASSFILE"]], capture_output=True, check=True).stdout
    equal(len(shown), expected, "the size after fdatasync")
os.close(fd)
END_OF_PROGRAM
