#!/usr/bin/env bash
# Hard links share data, size, attributes and inode number, whichever name is used and in whichever directory.
# mount: COMPARE=1
. "$(dirname "$0")/support/lib.sh"
mkdir "$M/a" "$M/b"
python - <<'END'
import errno, os
from checks import *
one, two, three = f"{M}/a/one", f"{M}/b/two", f"{M}/b/{'three' * 40}"
# Through all the sizes where the form of a content file changes, and writes through alternating names.
write_file(one, b"")
os.link(one, two)
os.link(two, three)
model = b""
fds = [os.open(path, os.O_RDWR) for path in (one, two, three)]
for step, size in enumerate([1, 3838, 3839, 3840, 4096, 4097, 262144, 262145, 600000, 262144, 5000, 3839, 10, 0, 7]):
    fd = fds[step % 3]
    if size > len(model):
        more = pattern(step, size - len(model))
        os.pwrite(fd, more, len(model))
        model += more
    else:
        os.ftruncate(fd, size)
        model = model[:size]
    for path, other in ((one, fds[1]), (two, fds[2]), (three, fds[0])):
        status = os.stat(path)
        equal((status.st_size, status.st_nlink), (size, 3), f"size and links by {path[-6:]}, step {step}")
        equal(os.fstat(other).st_size, size, f"size by another descriptor, step {step}")
        equal(os.pread(other, size + 1, 0), model, f"data by another name, step {step}")
        equal(read_file(path), model, f"data by {path[-6:]}, step {step}")
equal(len({os.stat(p).st_ino for p in (one, two, three)}), 1, "inode numbers")
# Appending by two names in turn.
for step in range(1000):
    with open((one, two, three)[step % 3], "ab") as file:
        file.write(b"%06d\n" % step)
expected = model + b"".join(b"%06d\n" % step for step in range(1000))
equal(read_file(two), expected, "appended data")
# Mode, owner, times and attributes are the inode's.
os.chmod(one, 0o640)
os.utime(two, ns=(1234567890123456789, 1111111111222222222))
os.setxattr(three, "user.k", b"v")
for path in (one, two, three):
    status = os.stat(path)
    equal((status.st_mode & 0o7777, status.st_mtime_ns, os.getxattr(path, "user.k")), (0o640, 1111111111222222222, b"v"), path[-6:])
# A name less is no loss; a name more can be made again.
os.unlink(one)
equal(os.stat(two).st_nlink, 2, "links after an unlink")
equal(read_file(three), expected, "data after an unlink")
equal(os.pread(fds[0], len(expected) + 1, 0), expected, "data by the descriptor of the removed name")
os.link(three, one)
with refused(errno.EEXIST, "a link over a file"):
    os.link(one, two)
with refused(errno.EPERM, "a link to a directory"):
    os.link(f"{M}/a", f"{M}/c")
with refused(errno.ENOENT, "a link to nothing"):
    os.link(f"{M}/none", f"{M}/c")
# Renaming one link over another of the same file does nothing, as POSIX has it.
os.rename(one, two)
equal((os.path.exists(one), os.path.exists(two), os.stat(two).st_nlink), (True, True, 3), "a rename over another link")
# Links by descriptor, and to a symlink itself.
linkat(f"/proc/self/fd/{fds[0]}", f"{M}/by-descriptor", AT_SYMLINK_FOLLOW)
equal(os.stat(two).st_nlink, 4, "links after one by descriptor")
os.symlink("a/one", f"{M}/symlink")
os.link(f"{M}/symlink", f"{M}/symlink-2", follow_symlinks=False)
equal((os.readlink(f"{M}/symlink-2"), os.lstat(f"{M}/symlink").st_nlink), ("a/one", 2), "a link to a symlink")
linkat(f"{M}/symlink", f"{M}/followed", AT_SYMLINK_FOLLOW)
equal(os.stat(two).st_nlink, 5, "links after one by a symlink")
# Many links to one file.
for number in range(500):
    os.link(two, f"{M}/a/many{number}")
equal(os.stat(one).st_nlink, 505, "many links")
write_file(f"{W}/sum", expected)
END
remount
for name in "$M"/a/one "$M"/b/two "$M"/b/three* "$M/a/many499" "$M/by-descriptor" "$M/followed"; do
    cmp "$name" "$W/sum" || fail "another content by $name after a remount"
    equal "$(stat -c %h "$name")" 505 "links after a remount"
done
rm "$M"/a/many*
equal "$(stat -c %h "$M/a/one")" 5 "links after a removal"
