#!/usr/bin/env bash
# The life of a mount: ready when the command returns; outlives its terminal; ends cleanly by umount, fusermount3, umount(8) and signals,
# with all data written; names who keeps it busy; a dead mount point is cleared by the next mount.
# mount: STYLE=background
. "$(dirname "$0")/support/lib.sh"
sfs() { "$SFS_BINARY" "$@"; }
mounted() { grep -qF " $(realpath "$M") fuse.sfs " /proc/self/mounts; }
start() { sfs mount "$V" "$M" --passfile "$PASSFILE"; }
sfs umount "$M"

# Ready when it returns, and it returns although somebody waits for the end of its output; nothing of the caller's is held.
for round in 1 2 3 4 5; do
    output=$(timeout 60 "$SFS_BINARY" mount "$V" "$M" --passfile "$PASSFILE" 2>&1)
    printf '%s' "$round" >"$M/round"
    [[ -z $output ]] || fail "mount says: $output"
    sfs umount "$M"
    ! mounted || fail "still mounted"
    [[ -z $(daemon) ]] || fail "umount returned before the process ended"
    session_closed || fail "the session is open after umount"
done
(
    mkdir "$W/caller"
    cd "$W/caller"
    exec 5>"$W/held"
    start
)
pid=$(daemon)
if ((EUID == 0)); then
    [[ $(readlink "/proc/$pid/cwd") == / ]] || fail "the process keeps the caller's folder"
    held=$(find "/proc/$pid/fd" -lname "$W/*" -printf '%l ')
    [[ -z $held ]] || fail "the process holds the caller's files: $held"
fi
rmdir "$W/caller"
# The session and its signals are not the caller's: SIGHUP to the caller's group does not reach it.
[[ $(ps -o sid= -p "$pid" | tr -d ' ') != "$(ps -o sid= -p $$ | tr -d ' ')" ]] || fail "the process is in the caller's session"
equal "$(cat "$M/round")" 5 "what was written last"
# No core files, not to be looked into by others, its keys not in swap.
grep -q '^Max core file size *0 *0' "/proc/$pid/limits" || fail "core files are allowed"
equal "$(awk '/^VmLck/ { print ($2 > 0) }' "/proc/$pid/status")" 1 "locked memory"
sfs umount "$M"

# Every way of ending it: what was written last is there.
for way in umount fusermount3 umount8 TERM INT HUP; do
    start
    pid=$(daemon)
    head -c 3000000 /dev/urandom >"$W/data"
    cp "$W/data" "$M/data.$way"
    printf '%s' "$way" >"$M/last"
    printf '%s' "$way" >>"$M/log"
    case $way in
    umount) sfs umount "$M" ;;
    fusermount3) fusermount3 -u "$M" ;;
    umount8) if ((EUID == 0)); then umount "$M"; else sfs umount "$M"; fi ;;
    *) kill -s $way "$pid" ;;
    esac
    gone "$pid"
    ! mounted || fail "still mounted after $way"
    session_closed || fail "the session is open after $way"
    equal "$(sfs cat "$V" last --passfile "$PASSFILE")" $way "what was written last before $way"
    start
    cmp "$W/data" "$M/data.$way"
    sfs umount "$M"
done
equal "$(sfs cat "$V" log --passfile "$PASSFILE")" umountfusermount3umount8TERMINTHUP "appended lines"

# In the foreground: its exit code says whether all is well.
for way in TERM INT umount; do
    LOG=$W/foreground.log "$support/mount-control" start
    pid=$(daemon)
    printf '%s' "$way" >"$M/foreground"
    if [[ $way == umount ]]; then sfs umount "$M"; else kill -s $way "$pid"; fi
    gone "$pid"
    ! mounted || fail "still mounted after $way in the foreground"
done
[[ ! -s $W/foreground.log ]] || fail "the foreground says: $(cat "$W/foreground.log")"

# Busy: refused, the users named, nothing disturbed; --lazy detaches and the rest follows.
start
pid=$(daemon)
exec 4>"$M/open"
printf before >&4
ends 14 "$$" sfs umount "$M"
printf ' and after' >&4
equal "$(cat "$M/open")" "before and after" "the open file after a refused umount"
(cd "$M" && ends 14 'in use' sfs umount "$M")
sfs umount --lazy "$M" 2>lazily
! mounted || fail "still mounted after umount --lazy"
grep -q 'key' lazily || fail "umount --lazy does not say that the key is still in memory: $(cat lazily)"
printf ' and at last' >&4
ends 6 "$pid" sfs mount "$V" "$M" --passfile "$PASSFILE"
exec 4>&-
gone "$pid"
session_closed || fail "the session is open after the lazy end"
equal "$(sfs cat "$V" open --passfile "$PASSFILE")" "before and after and at last" "a file written after umount --lazy"
[[ -z $(daemon) ]]

# Killed: the mount point is dead. umount clears it, and so does the next mount, also while files of the dead one are open.
start
pid=$(daemon)
kill -KILL "$pid"
gone "$pid"
refused 'not connected' ls "$M"
sfs umount "$M"
! mounted || fail "umount does not clear a dead mount point"
for holding in no yes known; do
    start
    pid=$(daemon)
    printf acknowledged >"$M/synced"
    sync "$M/synced"
    [[ $holding != yes ]] || exec 4<"$M/synced"
    # What the kernel knows of the mount outlives its server.
    stat "$M" "$M/synced" >stated
    kill -KILL "$pid"
    gone "$pid"
    [[ $holding == known ]] || refused 'not connected' ls "$M"
    start
    equal "$(cat "$M/synced")" acknowledged "a synced file after the kill"
    exec 4<&-
    sfs umount "$M"
    ! mounted || fail "two mounts lay over each other"
done
# A program that waits for the dead one gets an error, it does not hang.
start
pid=$(daemon)
kill -STOP "$pid"
ls -la "$M/." >/dev/null 2>waited &
waiting=$!
kill -KILL "$pid"
! wait $waiting || true
gone "$pid"
start
# Two at once: one of them gets it.
sfs umount "$M"
mkdir one two
started=0
sfs mount "$V" one --passfile "$PASSFILE" 2>one.err &
first=$!
sfs mount "$V" two --passfile "$PASSFILE" 2>two.err &
second=$!
if wait $first; then started=$((started + 1)); fi
if wait $second; then started=$((started + 1)); fi
for place in one two; do ! mountpoint -q $place || sfs umount $place; done
equal $started 1 "how many of two mounts at once succeeded: $(cat one.err two.err)"
start
