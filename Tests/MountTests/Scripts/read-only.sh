#!/usr/bin/env bash
# A read-only mount: all can be read, nothing written, and not a byte of the vault changes.
# mount: STYLE=background
. "$(dirname "$0")/support/lib.sh"
mkdir "$M/d"
printf content >"$M/d/file"
head -c 1000000 /dev/urandom >"$M/large"
ln -s d/file "$M/link"
setfattr -n user.a -v b "$M/large"
cp -a "$M" "$W/copy"
"$SFS_BINARY" umount "$M"
vault_digest "$V" >before
"$SFS_BINARY" mount "$V" "$M" -o ro --passfile "$PASSFILE"
diff -r "$M" "$W/copy"
equal "$(getfattr --only-values -n user.a --absolute-names "$M/large")" b "an attribute"
equal "$(readlink "$M/link")" d/file "a symlink"
python - <<'END'
import errno, os
from checks import *
for what, attempt in {
    "writing": lambda: os.open(f"{M}/large", os.O_WRONLY), "truncate": lambda: os.truncate(f"{M}/large", 0),
    "create": lambda: os.open(f"{M}/new", os.O_CREAT | os.O_WRONLY), "mkdir": lambda: os.mkdir(f"{M}/new"),
    "unlink": lambda: os.unlink(f"{M}/large"), "rmdir": lambda: os.rmdir(f"{M}/d"), "rename": lambda: os.rename(f"{M}/large", f"{M}/x"),
    "link": lambda: os.link(f"{M}/large", f"{M}/x"), "symlink": lambda: os.symlink("x", f"{M}/x"), "chmod": lambda: os.chmod(f"{M}/large", 0),
    "chown": lambda: os.chown(f"{M}/large", 1, 1), "utime": lambda: os.utime(f"{M}/large"), "mknod": lambda: os.mknod(f"{M}/x"),
    "setxattr": lambda: os.setxattr(f"{M}/large", "user.x", b""), "removexattr": lambda: os.removexattr(f"{M}/large", "user.a"),
    "access": lambda: os.utime(f"{M}/d", ns=(1, 1)),
}.items():
    with refused(errno.EROFS, what):
        attempt()
END
cat "$M/large" "$M/d/file" >/dev/null
find "$M" -ls >/dev/null
# Two of them at once, on two mount points: reading needs no lock.
mkdir "$W/second"
"$SFS_BINARY" mount "$V" "$W/second" -o ro --passfile "$PASSFILE"
diff -r "$W/second" "$W/copy" || { "$SFS_BINARY" umount "$W/second"; fail "the second read-only mount differs"; }
"$SFS_BINARY" umount "$W/second"
"$SFS_BINARY" umount "$M"
vault_digest "$V" >after
diff before after || fail "the vault changed under a read-only mount"
"$SFS_BINARY" mount "$V" "$M" --passfile "$PASSFILE"
diff -r "$M" "$W/copy"
