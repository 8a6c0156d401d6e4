#!/usr/bin/env bash
# sfs ls, cat and check, and a read-only mount, beside a mount that is written to: what they read is right or was right a moment ago, never torn.
# mount: SECONDS=180 STYLE=background
. "$(dirname "$0")/support/lib.sh"
sfs() { "$SFS_BINARY" "$@"; }
mkdir "$M/d" "$W/second"
printf content >"$M/d/file"
python - <<'END' &
# Every block of a file has one number throughout; blocks are rewritten in place and synced, so both slots are in use.
import os, signal
from checks import *
fd = os.open(f"{M}/d/blocks", os.O_RDWR | os.O_CREAT)
number = 0
os.write(fd, b"".join(b"%08d" % number * 512 for _ in range(100)))
os.fsync(fd)
write_file(f"{W}/ready", b"")
while not os.path.exists(f"{W}/stop"):
    number += 1
    for block in range(number % 7, 100, 7):
        os.pwrite(fd, b"%08d" % number * 512, 4096 * block)
    if number % 3 == 0:
        os.fsync(fd)
    if number % 10 == 0:
        write_file(f"{M}/d/new.{number % 50}", b"x" * number)
os.fsync(fd)
END
writer=$!
trap 'touch "$W/stop"; wait $writer' EXIT
while [[ ! -e $W/ready ]]; do kill -0 $writer; done
cat >whole.py <<'END'
import sys
data = sys.stdin.buffer.read()
if len(data) != 409600:
    sys.exit(f"{len(data)} bytes")
for start in range(0, len(data), 4096):
    if data[start:start + 4096] != data[start:start + 8] * 512:
        sys.exit(f"block {start // 4096} is torn")
END
for _ in $(seq 1 25); do
    sfs cat "$V" d/blocks --passfile "$PASSFILE" | python whole.py
    equal "$(sfs cat "$V" d/file --passfile "$PASSFILE")" content "sfs cat"
    sfs ls -l "$V" d --passfile "$PASSFILE" >listing
    grep -q ' blocks$' listing || fail "sfs ls does not list the file: $(cat listing)"
done
sfs check "$V" --passfile "$PASSFILE" >checked || fail "sfs check beside a writer: $(cat checked)"
sfs mount "$V" "$W/second" -o ro --passfile "$PASSFILE"
for _ in $(seq 1 10); do python whole.py <"$W/second/d/blocks" || { sfs umount "$W/second"; fail "torn in a read-only mount"; }; done
# A file that grows by synced steps (on ext4 it is longer below than it should be): what was synced a second ago is there, in size and content.
python - <<'END' || { sfs umount "$W/second"; fail "a growing file in a read-only mount"; }
import time
from checks import *
lines = b"".join(b"%07d\n" % number for number in range(4000))
with open(f"{M}/d/log", "wb", buffering=0) as log:
    for step in range(40):
        log.write(lines[800 * step:800 * (step + 1)])
        os.fsync(log.fileno())
        if step % 4 == 3:
            if step % 8 == 7:
                time.sleep(1.1)
                size = os.stat(f"{W}/second/d/log").st_size
                if size != 800 * (step + 1):
                    sys.exit(f"{size} bytes are shown after step {step}")
            with open(f"{W}/second/d/log", "rb") as copy:
                data = copy.read()
            if not lines.startswith(data) or step % 8 == 7 and len(data) != 800 * (step + 1):
                sys.exit(f"{len(data)} bytes are read after step {step}")
END
sfs umount "$W/second"
touch stop
wait $writer
trap - EXIT
remount
python whole.py <"$M/d/blocks"
