#!/usr/bin/env bash
# Times: to the nanosecond, of 1901 to 2446, kept by a remount, not undone by a later flush, moved by what moves them and by nothing else.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
python - <<'END'
import os
from checks import *

def times(path):
    status = os.lstat(path)
    return status.st_atime_ns, status.st_mtime_ns

# Set times survive the flush of data written before, in every order of write, utimes, close, fsync.
stamp = (1000000000_000000001, 1500000000_123456789)
for size in (0, 10, 5000, 3 << 20):
    for sync in (False, True):
        path = f"{M}/set.{size}.{sync}"
        with open(path, "wb") as file:
            file.write(pattern(size, size))
            file.flush()
            os.utime(path, ns=stamp)
            if sync:
                os.fsync(file.fileno())
            equal(times(path), stamp, f"before close, {size} bytes")
        equal(times(path), stamp, f"after close, {size} bytes")
        syncfs(M)
        equal(times(path), stamp, f"after a sync, {size} bytes")
        equal(len(read_file(path)), size, "size")
        equal(os.stat(path).st_mtime_ns, stamp[1], f"mtime after a read, {size} bytes")
# By descriptor, open for reading only; of a directory; of times no clock shows today.
path = f"{M}/odd"
write_file(path, b"x")
fd = os.open(path, os.O_RDONLY)
for seconds in (-2147483647, -1, 0, 1, 2147483647, 2147483648, 4294967296, 15032385534):
    os.utime(fd, ns=(seconds * 10**9 + 1, seconds * 10**9 + 999999999))
    equal(times(path), (seconds * 10**9 + 1, seconds * 10**9 + 999999999), f"times of {seconds}")
os.close(fd)

# What moves what. A granule of the clock lies between two looks; the file is the same one, the calls differ.
def moves(action, path, expected, what):
    old = (10**18, 10**18)
    os.utime(path, ns=old)
    before = os.lstat(path)
    tick()
    action()
    after = os.lstat(path)
    moved = "".join(letter for letter, a, b in (("m", before.st_mtime_ns, after.st_mtime_ns), ("c", before.st_ctime_ns, after.st_ctime_ns)) if a != b)
    equal(moved, expected, f"times moved by {what}")

path = f"{M}/file"
write_file(path, b"content")
def append():
    with open(path, "ab") as file:
        file.write(b"more")
def write_in_place():
    fd = os.open(path, os.O_WRONLY)
    os.pwrite(fd, b"X", 0)
    os.close(fd)
moves(append, path, "mc", "appending")
moves(write_in_place, path, "mc", "writing")
moves(lambda: os.truncate(path, 3), path, "mc", "truncate")
moves(lambda: os.truncate(path, 5000), path, "mc", "growing by truncate")
moves(lambda: os.close(os.open(path, os.O_WRONLY | os.O_TRUNC)), path, "mc", "O_TRUNC")
moves(lambda: os.chmod(path, 0o600), path, "c", "chmod")
moves(lambda: os.link(path, path + ".link"), path, "c", "link")
moves(lambda: os.unlink(path + ".link"), path, "c", "unlink of a link")
moves(lambda: os.setxattr(path, "user.a", b"b"), path, "c", "setxattr")
moves(lambda: os.stat(path), path, "", "stat")
moves(lambda: read_file(path), path, "", "reading")
moves(lambda: os.close(os.open(path, os.O_RDWR)), path, "", "opening for writing")
for directory in (f"{M}/directory", M):
    if directory != M:
        os.mkdir(directory)
    write_file(f"{directory}/there", b"")
    moves(lambda: os.listdir(directory), directory, "", "listing")
    moves(lambda: os.stat(directory), directory, "", "stat of a directory")
    moves(lambda: write_file(f"{directory}/new", b""), directory, "mc", "a new file")
    moves(lambda: write_file(f"{directory}/new", b"x"), directory, "", "writing a file in it")
    moves(lambda: os.chmod(f"{directory}/new", 0o600), directory, "", "chmod of a file in it")
    moves(lambda: os.rename(f"{directory}/new", f"{directory}/newer"), directory, "mc", "a rename in it")
    moves(lambda: os.unlink(f"{directory}/newer"), directory, "mc", "an unlink in it")
    moves(lambda: os.mkdir(f"{directory}/sub"), directory, "mc", "mkdir in it")
    moves(lambda: os.rmdir(f"{directory}/sub"), directory, "mc", "rmdir in it")
    moves(lambda: os.symlink("x", f"{directory}/link"), directory, "mc", "a symlink in it")
    moves(lambda: os.unlink(f"{directory}/link"), directory, "mc", "its removal")

END
touch -d '2011-12-13 14:15:16.171819202' "$M/nanoseconds"
equal "$(stat -c '%y %x' "$M/nanoseconds")" "2011-12-13 14:15:16.171819202 +0000 2011-12-13 14:15:16.171819202 +0000" "touch -d"
touch -m -d '1999-01-02 03:04:05.000000006' "$M/nanoseconds"
equal "$(stat -c %y "$M/nanoseconds")" "1999-01-02 03:04:05.000000006 +0000" "touch -m"
equal "$(stat -c %x "$M/nanoseconds")" "2011-12-13 14:15:16.171819202 +0000" "atime after touch -m"
touch -a "$M/nanoseconds"
equal "$(stat -c %y "$M/nanoseconds")" "1999-01-02 03:04:05.000000006 +0000" "mtime after touch -a"
# The time of birth, where the scratch folder has one: stays, whatever is done, with the rest of what statx(2) tells.
if touch "$W/born" && [[ $(stat -c %W "$W/born") != [0-] ]]; then
    touch "$M/born"
    born=$(stat -c %w "$M/born")
    [[ $born != - && ! $(stat -c %W "$M/born") -lt $(stat -c %W "$W/born") ]] || fail "the time of birth is '$born'"
    head -c 100000 /dev/zero >"$M/born"
    touch -d '2001-02-03 04:05:06' "$M/born"
    chmod 600 "$M/born"
    mv "$M/born" "$M/directory/born"
    equal "$(stat -c '%w %s %a %Y %F' "$M/directory/born")" "$born 100000 600 981173106 regular file" "statx of a file that was changed"
    remount
    equal "$(stat -c '%w %s %a %Y %F' "$M/directory/born")" "$born 100000 600 981173106 regular file" "statx of a file after a remount"
    ln -s target "$M/symlink"
    equal "$(stat -c '%s %F' "$M/symlink") $([[ $(stat -c %w "$M/symlink") != - ]] && echo born)" "6 symbolic link born" "statx of a symlink"
    rm "$M/symlink"
fi
# Written, then stamped, then unmounted at once: the flush comes after.
head -c 20M /dev/urandom >"$M/large"
printf small >"$M/small"
touch -d '2005-05-05 05:05:05.050505050' "$M/large" "$M/small" "$M/directory"
# Stamped with the time of the clock while data waits to be written: what writes that data behind it is no modification.
python - <<'END'
import os
from checks import *
for number in range(8):
    fd = os.open(f"{M}/waiting.{number}", os.O_CREAT | os.O_RDWR)
    for _ in range(6):
        os.write(fd, os.urandom(900_000 + number))
    os.utime(fd)
    if number % 2:
        os.sync()
    os.close(fd)
END
list() { (cd "$M" && find . -printf '%p %T@\n' | sort); }
list >before
remount
list >after
diff before after
equal "$(stat -c %y "$M/large")" "2005-05-05 05:05:05.050505050 +0000" "mtime of a large file after a remount"
cp -p "$M/large" "$M/copy"
equal "$(stat -c %y "$M/copy")" "2005-05-05 05:05:05.050505050 +0000" "mtime of a copy"
# The clock of new files is the machine's, and the birth of a change is not earlier than what came before it.
touch "$W/reference-1"
touch "$M/now"
touch "$W/reference-2"
[[ ! $M/now -ot $W/reference-1 && ! $M/now -nt $W/reference-2 ]] || fail "a new file's time is not now"
