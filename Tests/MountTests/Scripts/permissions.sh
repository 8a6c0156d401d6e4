#!/usr/bin/env bash
# Modes 0000, 0200, 0444 and so on, as root and as others; owners, umask, setgid, sticky; setuid goes with a write; access lists refused.
# mount: OPTIONS=allow_other COMPARE=1
. "$(dirname "$0")/support/lib.sh"
chmod 755 "$M"

# As whoever runs this: through a write-only or read-only handle that was opened when it was made.
python - <<'END'
import os, stat
from checks import *
for mode in (0o000, 0o200, 0o400, 0o444, 0o644):
    path = f"{M}/mode.{mode:o}"
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    # The handle was given; the mode does not matter to it. git writes its objects so.
    os.write(fd, b"written through the handle" * 300)
    os.fsync(fd)
    equal(os.pread(fd, 7, 0), b"written", f"read through the handle, {mode:o}")
    os.close(fd)
    equal(stat.S_IMODE(os.stat(path).st_mode), mode, "mode")
    fd = os.open(path + ".w", os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    os.write(fd, b"abc" * 3000)
    os.pwrite(fd, b"XYZ", 4095)  # within a page: the kernel has to read what surrounds it
    os.close(fd)
for mask in (0o000, 0o022, 0o077, 0o777):
    os.umask(mask)
    os.close(os.open(f"{M}/umask.{mask:o}", os.O_CREAT | os.O_WRONLY, 0o666))
    os.mkdir(f"{M}/umask.{mask:o}.d", 0o777)
    equal(stat.S_IMODE(os.stat(f"{M}/umask.{mask:o}").st_mode), 0o666 & ~mask, f"file under umask {mask:o}")
    equal(stat.S_IMODE(os.stat(f"{M}/umask.{mask:o}.d").st_mode), 0o777 & ~mask, f"directory under umask {mask:o}")
os.umask(0o022)
for mode in (0o1777, 0o2755, 0o4755, 0o6711, 0o7000):
    os.mkdir(f"{M}/special.{mode:o}")
    os.chmod(f"{M}/special.{mode:o}", mode)
    equal(stat.S_IMODE(os.stat(f"{M}/special.{mode:o}").st_mode), mode, "special bits")
END

# as USER COMMAND…: runs as an unprivileged user, whom the kernel has to let through (allow_other).
as() { setpriv --reuid "$1" --regid "$1" --clear-groups -- "${@:2}"; }
if ((EUID == 0)) && chmod 755 "$W" && as 12345 test -r "$M"; then
    # Read what root wrote, as its mode says.
    for mode in 0 200 400; do
        refused 'Permission denied' as 12345 cat "$M/mode.$mode"
        refused 'Permission denied' as 12345 cp /dev/null "$M/mode.$mode"
    done
    as 12345 cat "$M/mode.444" >/dev/null
    refused 'Permission denied' as 12345 cp /dev/null "$M/mode.444"
    refused 'Permission denied|Operation not permitted' as 12345 touch "$M/new"
    refused 'Permission denied|Operation not permitted' as 12345 chmod 777 "$M/mode.444"
    refused 'Operation not permitted' as 12345 chown 12345 "$M/mode.444"
    refused 'Permission denied|Operation not permitted' as 12345 setfattr -n user.a -v b "$M/mode.444"
    refused 'Permission denied|Operation not permitted' as 12345 rm -f "$M/mode.444"
    refused 'Permission denied' as 12345 mv "$M/mode.444" "$M/moved"

    # A directory of the user's own: what is made there is the user's, and follows the modes.
    mkdir "$M/home"
    chown 12345:12345 "$M/home"
    # shellcheck disable=SC2016  # The inner shell's.
    as 12345 bash -ec 'cd "$1"; printf mine >file; mkdir dir; ln -s x link; mkdir -p a/b/c; ln file hard; mknod regular p 2>/dev/null || :; rm -f regular' - "$M/home"
    equal "$(find "$M/home" -printf '%U:%G\n' | sort -u)" "12345:12345" "owners of what a user makes"
    as 12345 /usr/bin/python3 - <<'END'
import errno, os, stat
from checks import *
home = f"{M}/home"
for mode, reads, writes in ((0o000, False, False), (0o200, False, True), (0o400, True, False), (0o444, True, False), (0o600, True, True), (0o060, False, False)):
    path = f"{home}/{mode:o}"
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    os.write(fd, b"x" * 5000)
    os.close(fd)
    for allowed, flags, what in ((reads, os.O_RDONLY, "reading"), (writes, os.O_WRONLY, "writing"), (reads and writes, os.O_RDWR, "both")):
        if allowed:
            os.close(os.open(path, flags))
        else:
            with refused(errno.EACCES, f"{what} a file of {mode:o}"):
                os.open(path, flags)
    equal(os.access(path, os.R_OK), reads, f"access of {mode:o}")
    if writes:
        # Write-only: a write inside a page makes the kernel read through us.
        fd = os.open(path, os.O_WRONLY)
        os.pwrite(fd, b"inside", 1000)
        os.fsync(fd)
        os.close(fd)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, b"behind")
        os.close(fd)
    os.chmod(path, 0o600)
    expected = b"x" * 1000 + b"inside" + b"x" * 3994 + b"behind" if writes else b"x" * 5000
    equal(read_file(path), expected, f"content of {mode:o}")
    if not writes:
        os.chmod(path, mode)
        with refused(errno.EACCES, f"truncating a file of {mode:o}"):
            os.truncate(path, 0)
    os.unlink(path)
# A directory without x cannot be entered, one without r not listed, one without w not changed.
os.mkdir(f"{home}/d")
write_file(f"{home}/d/f", b"f")
os.chmod(f"{home}/d", 0o600)
with refused(errno.EACCES, "a file in a directory without x"):
    os.stat(f"{home}/d/f")
os.chmod(f"{home}/d", 0o300)
os.stat(f"{home}/d/f")
with refused(errno.EACCES, "listing a directory without r"):
    os.listdir(f"{home}/d")
os.chmod(f"{home}/d", 0o500)
for attempt in (lambda: os.unlink(f"{home}/d/f"), lambda: write_file(f"{home}/d/g", b""), lambda: os.rename(f"{home}/d/f", f"{home}/f")):
    with refused(errno.EACCES, "a change in a directory without w"):
        attempt()
os.chmod(f"{home}/d", 0o700)
with refused(errno.EPERM, "giving a file away"):
    os.chown(f"{home}/d/f", 0, -1)
END
    # The same file, seen at once by users who may and may not: one's rights are never another's.
    mkdir -m 1777 "$M/shared"
    for user in 2001 2002 2003; do
        # shellcheck disable=SC2016
        as $user bash -ec 'umask 077; for i in $(seq 1 150); do printf "%s" "$2" >"$1/$2.$i"; [[ -O $1/$2.$i ]]; done' - "$M/shared" $user &
    done
    wait
    for user in 2001 2002 2003; do
        equal "$(find "$M/shared" -user $user -group $user -name "$user.*" -perm 600 | wc -l)" 150 "files of $user"
    done
    refused 'Permission denied' as 2001 cat "$M/shared/2002.1"
    refused 'Operation not permitted' as 2001 rm -f "$M/shared/2002.1"   # sticky
    # setgid directories hand on their group, and themselves to directories.
    mkdir -m 2777 "$M/group"
    chown :4321 "$M/group"
    chmod 2777 "$M/group"
    as 2001 mkdir "$M/group/dir"
    as 2001 touch "$M/group/file"
    equal "$(stat -c '%g %a' "$M/group/dir") $(stat -c '%g %a' "$M/group/file")" "4321 2755 4321 644" "what a setgid directory hands on"
    # setuid and setgid go when somebody else writes, or the owner changes.
    for size in 10 100000; do
        for way in write append truncate chown; do
            head -c $size /dev/zero >"$M/suid"
            chmod 6777 "$M/suid"
            case $way in
            write) as 2001 dd if=/dev/zero of="$M/suid" bs=1 count=1 conv=notrunc status=none ;;
            append) printf x | as 2001 tee -a "$M/suid" >/dev/null ;;
            truncate) as 2001 truncate -s 5 "$M/suid" ;;
            chown) chown 2002:2002 "$M/suid" ;;
            esac
            equal "$(stat -c %a "$M/suid")" 777 "setuid and setgid after $way of $size bytes"
            rm "$M/suid"
        done
    done
    printf secret >"$M/listed"
    chmod 600 "$M/listed"
    refused 'Permission denied' as 2001 cat "$M/listed"
    # An access list lets one user in and not the other (acl.sh has the rules).
    setfacl -m u:2001:r "$M/listed"
    equal "$(as 2001 cat "$M/listed")" secret "what a listed user reads"
    refused 'Permission denied' as 2002 cat "$M/listed"
    refused 'Permission denied' as 2001 cp /dev/null "$M/listed"
else
    skip_part "other users' rights: this needs root and a mount that others may use"
fi
list() { (cd "$M" && find . -printf '%p %M %U:%G\n' | sort && getfacl -R . 2>/dev/null); }
list >before
remount
list >after
diff before after
