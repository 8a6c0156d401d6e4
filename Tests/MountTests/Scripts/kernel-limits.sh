#!/usr/bin/env bash
# Where the system lets the daemon, a mount may hold more unwritten data, and is read ahead further, than FUSE allows by default.
# mount: STYLE=background
. "$(dirname "$0")/support/lib.sh"
limits=/sys/class/bdi/$(mountpoint -d "$M")
# A user's mount, or a container with a read-only /sys: nothing to see but that the mount is there all the same.
if [[ ! -w $limits/max_ratio ]]; then
    printf 'the limits of a mount cannot be changed here: %s\n' "$limits"
    mountpoint -q "$M"
    exit 0
fi
equal "$(cat "$limits/max_ratio")" 10 "percent of unwritten data"
equal "$(cat "$limits/read_ahead_kb")" 1024 "KiB read ahead"
# Written faster than the kernel would have it written with one percent, and all there.
head -c 100000000 /dev/zero | tr '\0' w >"$M/much"
equal "$(tr -d w <"$M/much" | wc -c) $(stat -c %s "$M/much")" "0 100000000" "what was written"
