#!/usr/bin/env bash
# An ordinary user mounts an own vault, by fusermount3, and works in it: modes hold against the owner, too; nobody else gets in, not even root.
# mount: STYLE=background
. "$(dirname "$0")/support/lib.sh"
user=$(id -u nobody)
if ((EUID != 0)); then
    printf 'note: this user mounts in all other cases\n'
    exit 0
fi
[[ -u $(command -v fusermount3) ]] || {
    skip_part "a mount by an ordinary user: fusermount3 is not setuid"
    exit 0
}
# The device may be root's alone on this machine: in a mount namespace of our own it is everybody's, and nobody else notices.
if [[ ${IN_NAMESPACE-} != 1 ]]; then
    chmod 755 "$W"
    mkdir -m 700 "$W/user"
    cp "$PASSFILE" "$W/user/pass"
    mknod -m 666 "$W/fuse" c 10 229
    IN_NAMESPACE=1 unshare --mount --propagation private bash "$0"
    exit
fi
mount --bind "$W/fuse" /dev/fuse
chown -R "$user:$user" "$W/user"
as() { setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@"; }
cd "$W/user"
as "$SFS_BINARY" init vault --passfile pass --kdf-memory 64 --kdf-passes 1 >/dev/null
as mkdir mount
start() { as "$SFS_BINARY" mount vault mount --passfile pass; }
start
trap 'as "$SFS_BINARY" umount "$W/user/mount" 2>/dev/null || umount -l "$W/user/mount"' EXIT
refused 'Permission denied' ls mount   # root is not the user
cat >work.py <<'END'
import errno, os, stat
from checks import *
root = os.path.abspath("mount")
equal(os.stat(root).st_uid, os.getuid(), "the owner of the root")
for mode in (0o000, 0o200, 0o400, 0o444, 0o600, 0o700):
    path = f"{root}/{mode:o}"
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    os.write(fd, b"x" * 9000)
    os.fsync(fd)
    equal(os.pread(fd, 3, 8000), b"xxx", f"reading back, {mode:o}")
    os.close(fd)
    for bit, flags, what in ((0o400, os.O_RDONLY, "reading"), (0o200, os.O_WRONLY, "writing")):
        if mode & bit:
            os.close(os.open(path, flags))
        else:
            with refused(errno.EACCES, f"{what} a file of {mode:o}"):
                os.open(path, flags)
    if mode & 0o200:
        # Inside a page, through a write-only handle: something has to read what is around.
        fd = os.open(path, os.O_WRONLY)
        os.pwrite(fd, b"inside", 5000)
        os.fsync(fd)
        os.close(fd)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, b"behind")
        os.close(fd)
    equal(stat.S_IMODE(os.stat(path).st_mode), mode, "mode")
    # Owners may change the mode, and then read what they may not before.
    os.chmod(path, 0o600)
    expected = b"x" * 5000 + b"inside" + b"x" * 3994 + b"behind" if mode & 0o200 else b"x" * 9000
    equal(read_file(path), expected, f"content of {mode:o}")
    os.chmod(path, mode)
with refused(errno.EPERM, "giving a file away"):
    os.chown(f"{root}/600", 0, -1)
os.mkdir(f"{root}/d")
write_file(f"{root}/d/f", b"f")
for mode, attempt in ((0o600, lambda: os.stat(f"{root}/d/f")), (0o300, lambda: os.listdir(f"{root}/d")), (0o500, lambda: os.unlink(f"{root}/d/f"))):
    os.chmod(f"{root}/d", mode)
    with refused(errno.EACCES, f"a directory of {mode:o}"):
        attempt()
os.chmod(f"{root}/d", 0o500)
os.chmod(root, 0o700)
END
as /usr/bin/python3 work.py
# git writes objects that nobody may write, and reads them back.
as env HOME="$W/user" bash -ec 'cd mount; git init -q r; cd r; git config user.email a@b; git config user.name a
    for i in $(seq 1 30); do seq 1 $((i * 100)) >$i; done; git add .; git commit -qm one; git gc -q; git fsck --strict'
as "$SFS_BINARY" umount mount
start
as /usr/bin/python3 - <<'END'
import os, stat
from checks import *
for mode in (0o000, 0o200, 0o400, 0o444, 0o600, 0o700):
    equal(stat.S_IMODE(os.stat(f"mount/{mode:o}").st_mode), mode, "mode after a remount")
    os.chmod(f"mount/{mode:o}", 0o600)
    equal(len(read_file(f"mount/{mode:o}")), 9006 if mode & 0o200 else 9000, f"size of {mode:o} after a remount")
    os.chmod(f"mount/{mode:o}", mode)
END
as git -C mount/r fsck --strict
# Unmounted by the user alone.
refused 'only|denied|permitted' setpriv --reuid 2001 --regid 2001 --clear-groups "$SFS_BINARY" umount "$W/user/mount"
as "$SFS_BINARY" umount mount
trap - EXIT
# Also files that their owner may not read are looked at by a check, as far as the user's rights go.
as "$SFS_BINARY" check vault --passfile pass >checked || printf 'note: check by the owner of unreadable files: %s\n' "$(tail -n 2 checked)"
