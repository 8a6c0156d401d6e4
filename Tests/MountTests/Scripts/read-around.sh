#!/usr/bin/env bash
# A small read of a file that is not in memory brings its neighbourhood along, and not the whole file.
# mount: STYLE=background
. "$(dirname "$0")/support/lib.sh"
head -c 8000000 /dev/urandom >"$M/file"
remount
backing=$(find "$V" -type f -size +7000k)
dd of="$backing" oflag=nocache conv=notrunc,fdatasync count=0 status=none
if ! command -v fincore >/dev/null || (($(fincore -bno res "$backing") > 0)); then
    printf 'what the system keeps of a file cannot be seen here, or it does not let go of it (a tmpfs)\n'
    exit 0
fi
dd if="$M/file" bs=4096 skip=1000 count=1 iflag=direct of=/dev/null status=none
wait_for_neighbours() {
    for _ in {1..200}; do
        (($(fincore -bno res "$backing") < 32768)) || return 0
        python -c 'import time; time.sleep(0.01)'
    done
    fail "only $(fincore -bno res "$backing") bytes are in memory"
}
wait_for_neighbours
# The first page of the file, that of the group, and what lies around both and the block.
(($(fincore -bno res "$backing") <= 200000)) || fail "$(fincore -bno res "$backing") bytes are in memory"
