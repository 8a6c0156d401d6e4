#!/usr/bin/env bash
# A listing of 100,000 files in 1,000 directories: the daemon stays below 100 MB, does not grow by the second pass, and 256 descriptors suffice.
# mount: NOFILE=256
# TREE_FILES gives another number of files.
. "$(dirname "$0")/support/lib.sh"
count=${TREE_FILES:-100000}
pid=$(daemon)
status() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$pid/status"; }
equal "$(awk '/^Max open files/ { print $4, $5 }' "/proc/$pid/limits")" "256 256" "the daemon's limit of descriptors"
descriptors() { find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l; }
at_first=$(descriptors)
python - "$M" "$count" <<'END'
import os, sys
root, count = sys.argv[1], int(sys.argv[2])
for directory in range(count // 100):
    os.chdir(root)
    os.mkdir(f"directory {directory}")
    os.chdir(f"directory {directory}")
    for i in range(100):
        fd = os.open(f"file {i}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        if i % 10 == 0:
            os.write(fd, b"a small file\n")
        os.close(fd)
END
limit=$((100 * 1000))
made=$(status VmRSS)
remount
pid=$(daemon)
bare=$(status VmRSS)
list() {
    ls -lR "$M" >listing
    grep -c "^-" listing >lines || true
    equal "$(cat lines)" "$count" "files listed"
}
list
first=$(status VmRSS)
list
second=$(status VmRSS)
# What the kernel remembers it no longer asks for. Once it has forgotten, everything is asked for again.
third=$second
if ((EUID == 0)) && { echo 2 >/proc/sys/vm/drop_caches; } 2>/dev/null; then
    list
    third=$(status VmRSS)
fi
# Files are opened and read, many at once, and descriptors do not run out.
find "$M" -type f -name 'file *0' -print0 | xargs -0 -n 500 -P 4 cat | wc -c >total
equal "$(cat total)" $((count * 13 / 10)) "bytes of all files"
python - <<'END'
import os
from checks import *
held = [os.open(f"{M}/directory {d}/file {d % 50}", os.O_RDONLY) for d in range(150)]
equal(sorted({len(os.read(fd, 100)) for fd in held}), [0, 13], "reading 150 files that are open at once")
END
reading=$(status VmRSS)
printf 'resident, in kB: %s after making %s files; %s mounted; %s, %s, %s after listings; %s after reading; %s at most\n' \
    "$made" "$count" "$bare" "$first" "$second" "$third" "$reading" "$(status VmHWM)"
for value in $made $first $second $third $reading $(status VmHWM); do ((value < limit)) || fail "$value kB are more than $limit kB"; done
((second <= first + 2000)) || fail "the second pass took $((second - first)) kB more"
((third <= first + 8000)) || fail "a pass after the kernel forgot took $((third - first)) kB more"
if ((EUID == 0)); then
    now=$(descriptors)
    # Some directories may stay open; with 256 descriptors, at most half of them.
    ((now <= at_first + 128)) || fail "$now descriptors are open, $at_first were at first"
fi
# Idle is idle.
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
sync -f "$M"
python -c 'import time; time.sleep(6)'   # the flusher's own work is done by then
before=$(ticks)
python -c 'import time; time.sleep(2)'
((($(ticks) - before) <= 5)) || fail "an idle mount used $(($(ticks) - before)) of 200 ticks"
