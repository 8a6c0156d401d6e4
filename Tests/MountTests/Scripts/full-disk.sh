#!/usr/bin/env bash
# A disk that becomes full: programs get ENOSPC, what was synced stays, nothing is damaged, and after making room all goes on.
# mount: STYLE=background
. "$(dirname "$0")/support/lib.sh"
if ((EUID != 0)); then
    skip_part "a small disk of our own: this needs root"
    exit 0
fi
sfs() { "$SFS_BINARY" "$@"; }
sfs umount "$M"
mkdir small
mount -t tmpfs -o size=24m,nr_inodes=2000 tmpfs small
trap 'mountpoint -q "$M" && "$SFS_BINARY" umount "$M"; umount -l "$W/small"' EXIT
sfs init small/vault --passfile "$PASSFILE" --kdf-memory 64 --kdf-passes 1 >/dev/null
sfs mount small/vault "$M" --passfile "$PASSFILE"
cat >fill.py <<'END'
import errno, os, time
from checks import *

def attempt(action):
    """Whether it was done; the only excuse is a full disk."""
    try:
        action()
        return True
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return False

def fill(prefix, size):
    """Files of a size, synced one by one, until no more goes; their number."""
    count = 0
    while True:
        path = f"{M}/{prefix}.{count}"
        def make():
            fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
            try:
                view = memoryview(pattern(count, size))
                while view:
                    view = view[os.write(fd, view):]
                os.fsync(fd)
            finally:
                os.close(fd)
        if not attempt(make):
            return count
        count += 1
        if count > 100000:
            fail("the disk does not become full")

def check(prefix, size, count, what):
    for number in range(count):
        if read_file(f"{M}/{prefix}.{number}") != pattern(number, size):
            fail(f"{prefix}.{number}: another content {what}")

for size in (300000, 5000, 100):
    count = fill(f"f{size}", size)
    print(f"{count} files of {size} bytes")
    check(f"f{size}", size, count, "on the full disk")
    globals()[f"count{size}"] = count
if count300000 < 20:
    fail("the disk was full very soon:", count300000)
# On the full disk: overwriting in place may work or not; each block is then the old or the new one.
path = f"{M}/f300000.0"
fd = os.open(path, os.O_RDWR)
old, new = pattern(0, 300000), pattern(777, 300000)
done = attempt(lambda: (os.pwrite(fd, new, 0), os.fsync(fd)))
try:
    os.close(fd)
except OSError as error:
    equal(error.errno, errno.ENOSPC, "close")
print("overwriting on the full disk:", "done" if done else "ENOSPC")
content = read_file(path)
for start in range(0, 300000, 4096):
    if content[start:start + 4096] not in (new[start:start + 4096],) + (() if done else (old[start:start + 4096],)):
        fail("block", start // 4096, "is neither old nor new")
# Other calls: an error or success, nothing else; and what they leave is whole.
for number in range(50):
    attempt(lambda: os.mkdir(f"{M}/directory.{number}"))
    attempt(lambda: os.symlink("t" * 4000, f"{M}/symlink.{number}"))
    attempt(lambda: os.rename(f"{M}/f100.{number}", f"{M}/{'long' * 60}.{number}") if os.path.exists(f"{M}/f100.{number}") else None)
    attempt(lambda: os.setxattr(path, f"user.{number}", b"v" * 200))
for entry in os.scandir(M):
    os.lstat(entry.path)
    if entry.is_dir():
        os.rmdir(entry.path)
# Removing works on a full disk, and then there is room.
os.unlink(f"{M}/f300000.1")
os.unlink(f"{M}/f300000.2")
for number in range(count5000):
    os.unlink(f"{M}/f5000.{number}")
# The space comes back when the kernel has let go of the removed files, a moment after the removal.
deadline = time.monotonic() + 10
while not attempt(lambda: write_file(f"{M}/after", pattern(1, 200000))):
    if time.monotonic() > deadline:
        fail("no space although files were removed")
fd = os.open(f"{M}/after", os.O_RDONLY)
os.fsync(fd)
os.close(fd)
write_file(f"{W}/numbers", b"%d" % count300000)
END
python fill.py
cat >again.py <<'END'
from checks import *
for number in range(4, int(read_file(f"{W}/numbers"))):
    equal(read_file(f"{M}/f300000.{number}") == pattern(number, 300000), True, f"file {number} after a remount")
equal(read_file(f"{M}/after") == pattern(1, 200000), True, "the file written after making room")
END
python again.py
sfs umount "$M"
session_closed_small() { [[ $(od -An -tx1 -j8 -N16 small/vault/sfs.session | tr -d ' 0\n') == "" ]]; }
session_closed_small || fail "the session is open after a clean unmount"
sfs check small/vault --passfile "$PASSFILE" >checked || fail "check: $(cat checked)"
! grep -E '^(damage|unreadable)' checked || fail "damage"
sfs mount small/vault "$M" --passfile "$PASSFILE"
python again.py
# A full disk keeps nobody from mounting, after a clean end or after a daemon that was killed, so that room can be made.
sfs umount "$M"
fill_up() { head -c 30M /dev/zero >small/filler 2>/dev/null || true; }
fill_up
sfs mount small/vault "$M" --passfile "$PASSFILE" || fail "a full disk cannot be mounted"
sfs umount "$M"
rm small/filler
sfs mount small/vault "$M" --passfile "$PASSFILE"
holder=$(head -1 small/vault/sfs.lock)
kill -9 "$holder"
gone "$holder"
fill_up
sfs mount small/vault "$M" --passfile "$PASSFILE" || fail "a full disk cannot be mounted after a kill"
python again.py
rm "$M/f300000.3"
sfs umount "$M" || fail "an unmount on a full disk fails"
session_closed_small || fail "the session is open after a clean unmount on a full disk"
# Without the file that keeps room for it, the session record cannot be written; that is said.
rm -f small/vault/sfs.spare
fill_up
ends 12 'space' sfs mount small/vault "$M" --passfile "$PASSFILE"
rm small/filler
sfs mount small/vault "$M" --passfile "$PASSFILE"
python again.py
# Nor can it at the end of a mount then: that is said too.
rm -f small/vault/sfs.spare
fill_up
ends 12 'not everything could be written: .*No space left' sfs umount "$M"
! mountpoint -q "$M" || fail "the mount is still there"
rm small/filler
sfs mount small/vault "$M" --passfile "$PASSFILE"
python again.py
sfs umount "$M"
umount small
trap - EXIT
sfs mount "$V" "$M" --passfile "$PASSFILE"
