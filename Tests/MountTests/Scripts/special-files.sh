#!/usr/bin/env bash
# Pipes, sockets and devices are refused with EPERM and leave nothing; a regular file by mknod is made. What lies in the vault's
# folder beside our own entries is not shown and not touched.
. "$(dirname "$0")/support/lib.sh"
refused 'Operation not permitted' mkfifo "$M/fifo"
python - <<'END'
import errno, os, socket, stat
from checks import *
for kind in ("S_IFIFO", "S_IFSOCK") + (("S_IFCHR", "S_IFBLK") if os.geteuid() == 0 else ()):
    for device in (0, os.makedev(1, 3)):
        with refused(errno.EPERM, f"mknod of {kind}"):
            os.mknod(f"{M}/special", getattr(stat, kind) | 0o644, device)
with socket.socket(socket.AF_UNIX) as server:
    os.chdir(M)  # the path of a socket is short
    with refused(errno.EPERM, "binding a socket"):
        server.bind("socket")
equal(os.listdir(M), [], "what is left of what was refused")
os.mknod(f"{M}/regular", stat.S_IFREG | 0o640)
status = os.stat(f"{M}/regular")
equal((stat.S_ISREG(status.st_mode), stat.S_IMODE(status.st_mode), status.st_size), (True, 0o640, 0), "a regular file by mknod")
with refused(errno.EEXIST, "mknod over a file"):
    os.mknod(f"{M}/regular", stat.S_IFREG | 0o640)
os.mkdir(f"{M}/d")
END
# tar and cp -a of a tree with a pipe go on with the rest.
mkdir source
mkfifo source/fifo
printf 'after the pipe' >source/zzz
if cp -a source "$M/copy" 2>cp.err; then fail "cp -a of a pipe says nothing"; fi
grep -q 'Operation not permitted' cp.err || fail "cp -a says: $(cat cp.err)"
cmp source/zzz "$M/copy/zzz"
rm -r "$M/copy"
remount
equal "$(find "$M" -mindepth 1 -printf '%P %y\n' | sort | xargs)" "d d regular f" "what is there"
