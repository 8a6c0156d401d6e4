#!/usr/bin/env bash
# Extended attributes: set, replaced, listed, read, removed, of every length that works; kept by remounts, renames and copies.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
python - <<'END'
import errno, os, shutil
from checks import *

file, directory, symlink = f"{M}/file", f"{M}/directory", f"{M}/symlink"
write_file(file, b"content")
os.mkdir(directory)
os.symlink("file", symlink)

for path in (file, directory, M):
    equal(os.listxattr(path), [], f"attributes of {path} at first")
    with refused(errno.ENODATA, "an attribute that is not there"):
        os.getxattr(path, "user.none")
    with refused(errno.ENODATA, "removing an attribute that is not there"):
        os.removexattr(path, "user.none")
    with refused(errno.ENODATA, "XATTR_REPLACE of an attribute that is not there"):
        os.setxattr(path, "user.none", b"", os.XATTR_REPLACE)
    model = {}
    # ext4 has room for about 4,000 bytes of them in all, so most are removed again.
    for length in (0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 1000, 2000):
        os.setxattr(path, "user.value", pattern(length, length))
        equal(os.getxattr(path, "user.value"), pattern(length, length), f"a value of {length} bytes")
    os.removexattr(path, "user.value")
    for length in range(6, 256):  # of the whole name
        name = "user.".ljust(length, "n")
        os.setxattr(path, name, b"%d" % length)
        equal((os.getxattr(path, name), os.listxattr(path)), (b"%d" % length, [name]), f"a name of {length} bytes")
        os.removexattr(path, name)
    for number, length in enumerate((0, 1, 2, 33, 100, 300)):
        model[f"user.length{length}"] = pattern(number, length)
    for length in (6, 164, 165, 255):
        model["user.".ljust(length, "n")] = b"%d" % length
    model["user.with spaces, = and é"] = b"\0\xff\n"
    for name, value in model.items():
        os.setxattr(path, name, value, os.XATTR_CREATE)
    with refused(errno.EEXIST, "XATTR_CREATE of an attribute that is there"):
        os.setxattr(path, "user.length1", b"other", os.XATTR_CREATE)
    for name, value in model.items():
        equal(os.getxattr(path, name), value, f"{name[:20]} of {path}")
    equal(sorted(os.listxattr(path)), sorted(model), f"the list of {path}")
    os.setxattr(path, "user.length100", b"replaced by something of another length", os.XATTR_REPLACE)
    os.setxattr(path, "user.length0", b"no longer empty")
    os.removexattr(path, "user.length2")
    equal(os.getxattr(path, "user.length100"), b"replaced by something of another length", "a replaced value")
    equal(os.getxattr(path, "user.length0"), b"no longer empty", "a replaced empty value")
    with refused(errno.ENODATA, "a removed attribute"):
        os.getxattr(path, "user.length2")
    del model["user.length2"]
    equal(sorted(os.listxattr(path)), sorted(model), f"the list of {path} after changes")
    with refused((errno.ERANGE, errno.ENAMETOOLONG), "a name of 256 bytes"):
        os.setxattr(path, "user.".ljust(256, "n"), b"")
    with refused((errno.ENOSPC, errno.E2BIG), "a value of 64 KiB and more"):
        os.setxattr(path, "user.huge", bytes(65537))
    equal("user.huge" in os.listxattr(path), False, "an attribute that was refused is there")
    for namespace in ("user.", "trusted.", "security."):
        with refused((errno.EINVAL, errno.EPERM, errno.ENODATA), f"{namespace} without a name"):
            os.setxattr(path, namespace, b"")
    with refused(errno.EOPNOTSUPP, "another namespace"):
        os.setxattr(path, "nonsense.x", b"")

# What the format itself keeps in attributes is neither shown nor reachable.
for path in (directory, M):
    equal([n for n in os.listxattr(path) if ".sfs" in n], [], "attributes of the format")
    with refused(errno.ENODATA, "reading the format's own attribute"):
        os.getxattr(path, "user.sfs.dir")
os.setxattr(directory, "user.sfs.dir", b"mine")
equal(os.getxattr(directory, "user.sfs.dir"), b"mine", "an attribute called as one of the format's")
os.mkdir(f"{directory}/child")
os.removexattr(directory, "user.sfs.dir")
equal(os.listdir(directory), ["child"], "the directory after that")

# Buffers that are too small, and sizes asked for.
import ctypes
room = ctypes.create_string_buffer(10)
equal(LIBC.getxattr(file.encode(), b"user.length300", None, 0), 300, "the size of a value")
equal((LIBC.getxattr(file.encode(), b"user.length300", room, 10), ctypes.get_errno()), (-1, errno.ERANGE), "a small buffer")
equal((LIBC.listxattr(file.encode(), room, 10), ctypes.get_errno()), (-1, errno.ERANGE), "a small buffer for the list")

# Symlinks: user attributes are refused by the kernel, trusted ones are the symlink's own.
with refused(errno.EPERM, "a user attribute of a symlink"):
    os.setxattr(symlink, "user.x", b"", follow_symlinks=False)
os.setxattr(symlink, "user.through", b"followed")
equal(os.getxattr(file, "user.through"), b"followed", "an attribute set through a symlink")
if os.geteuid() == 0:
    os.setxattr(symlink, "trusted.own", b"the link's", follow_symlinks=False)
    equal(os.getxattr(symlink, "trusted.own", follow_symlinks=False), b"the link's", "an attribute of a symlink")
    with refused(errno.ENODATA, "that attribute of the file"):
        os.getxattr(file, "trusted.own")
    os.setxattr(file, "trusted.x", b"for root")
    os.setxattr(file, "security.test", b"for modules")
    equal((os.getxattr(file, "trusted.x"), os.getxattr(file, "security.test")), (b"for root", b"for modules"), "other namespaces")

# They go with the inode: through links, renames, writes; and copies take them along.
os.link(file, f"{M}/link")
os.rename(f"{M}/link", f"{M}/renamed")
equal(os.getxattr(f"{M}/renamed", "user.length33"), pattern(3, 33), "by another name")
before = os.stat(file)
tick()
os.setxattr(file, "user.mtime", b"")
after = os.stat(file)
equal((after.st_mtime_ns, after.st_size), (before.st_mtime_ns, before.st_size), "mtime and size after setting an attribute")
if after.st_ctime_ns <= before.st_ctime_ns:
    fail("ctime did not move")
shutil.copy2(file, f"{M}/copy")
equal(sorted(os.listxattr(f"{M}/copy")), sorted(n for n in os.listxattr(file)), "the list of a copy")
END
# --absolute-names: no warning about it. Every value, as the tools see them.
dump() { (cd "$M" && getfattr -R -h -d -m - -e hex . | sort); }
dump >before
remount
dump >after
diff before after
[[ $(grep -c = after) -ge 30 ]] || fail "few attributes: $(wc -l <after)"
# Restored by the tools from their own dump.
(cd "$M" && getfattr -d -e base64 file) >file.dump
(cd "$M" && setfattr -x user.length33 file && setfattr -x user.length1 file && setfattr --restore="$W/file.dump")
dump >after
diff before after
if ((EUID == 0)) && command -v setcap >/dev/null; then
    cp /bin/true "$M/capable"
    setcap cap_net_raw+ep "$M/capable"
    getcap "$M/capable" | grep -q cap_net_raw || fail "setcap did not stay"
    remount
    getcap "$M/capable" | grep -q cap_net_raw || fail "the capability did not survive a remount"
    # A write takes them away.
    printf x >>"$M/capable"
    [[ -z $(getcap "$M/capable") ]] || fail "a written file keeps its capabilities"
fi
