#!/usr/bin/env bash
# Names of 1 to 255 bytes with every byte value but / and NUL, of files, directories and links; 256 bytes are too many.
# mount: PLACE=memory
. "$(dirname "$0")/support/lib.sh"
python - make <<'END'
import errno, os, random, sys
from checks import *

ALPHABET = [b for b in range(256) if b not in (0, 0x2F)]
generator = random.Random(255)
root = os.fsencode(M)

def name_of(length, byte=None):
    while True:
        name = bytes(generator.choice(ALPHABET) for _ in range(length))
        if byte is not None:
            name = bytes([byte]) * min(length, 3) + name[3:] if length > 3 else bytes([byte]) * length
        if name not in (b".", b".."):
            return name

names = {name_of(length) for length in range(1, 256)}                       # every length
names |= {bytes([b]) for b in ALPHABET if b != 0x2E}                          # every byte alone
names |= {name_of(length, b) for b in ALPHABET for length in (2, 16, 174, 175, 176, 177, 254, 255) if (b, length) != (0x2E, 2)}
names |= {b"...", b". ", b" .", b"..a", b"-rf", b"--", b"~", b"a\nb", b"\xff" * 255, b"." * 255, b"." * 3,
          b"sfs.json", b"sfs.dir", b"sfs.lock", b"sfs.session", b"sfs.links", b"sfs.stores", b"sfs.tmp.x", b"sfs.long.x", b"sfs.long.x.name",
          b".sfs", b".nfs1234", b".DS_Store", b".fuse_hidden1", b"CON", b"name.", b"A", b"a", "é".encode(), "e\u0301".encode(),
          "中文".encode() * 42, b"lost+found", b"*", b"$(x)", b"%s%n", b"\\", b"'", b'"'}
names = sorted(names)

def content_of(name):
    return b"<" + name + b">"

for kind in (b"files", b"directories", b"symlinks", b"links"):
    os.mkdir(os.path.join(root, kind))
for name in names:
    write_file(os.path.join(root, b"files", name), content_of(name))
    os.mkdir(os.path.join(root, b"directories", name))
    os.symlink(name, os.path.join(root, b"symlinks", name))
    os.link(os.path.join(root, b"files", name), os.path.join(root, b"links", name))
write_file(os.path.join(W, "names"), b"\0".join(names))
print(f"{len(names)} names")

# One byte more is too many, for every call that takes a name, and nothing is left of the attempt.
file, other = os.path.join(root, b"files", b"A"), os.path.join(root, b"directories", b"A")
for length in (256, 257, 1000, 4000):
    long = os.path.join(root, b"x" * length)
    number = errno.ENAMETOOLONG
    for what, attempt in {
        "stat": lambda: os.stat(long), "open": lambda: os.open(long, os.O_RDONLY),
        "create": lambda: os.open(long, os.O_CREAT | os.O_WRONLY, 0o644), "mkdir": lambda: os.mkdir(long), "rmdir": lambda: os.rmdir(long),
        "unlink": lambda: os.unlink(long), "symlink": lambda: os.symlink(b"t", long), "link": lambda: os.link(file, long),
        "rename of a file": lambda: os.rename(file, long), "rename of a directory": lambda: os.rename(other, long),
        "rename from": lambda: os.rename(long, os.path.join(root, b"y")), "mknod": lambda: os.mknod(long, 0o100644),
        "chmod": lambda: os.chmod(long, 0o644), "truncate": lambda: os.truncate(long, 0), "readlink": lambda: os.readlink(long),
        "access": lambda: os.stat(os.path.join(long, b"z")),
    }.items():
        with refused(number, f"{what} of {length} bytes"):
            attempt()
with refused((errno.EINVAL, errno.EBUSY), "a rename to ."):
    os.rename(file, os.path.join(root, b"files", b"."))
END
cat >check.py <<'END'
import os, stat, sys
from checks import *
root = os.fsencode(M)
names = read_file(os.path.join(W, "names")).split(b"\0")
for kind in (b"files", b"directories", b"symlinks", b"links"):
    equal(sorted(os.listdir(os.path.join(root, kind))), names, f"the names in {kind.decode()}")
for name in names:
    file = os.path.join(root, b"files", name)
    equal(read_file(file), b"<" + name + b">", f"the content of {name!r}")
    equal(os.readlink(os.path.join(root, b"symlinks", name)), name, f"the target of {name!r}")
    if not os.path.samefile(file, os.path.join(root, b"links", name)):
        fail("not the same file by its link", name)
    equal(os.stat(file).st_nlink, 2, f"links of {name!r}")
    if not stat.S_ISDIR(os.lstat(os.path.join(root, b"directories", name)).st_mode):
        fail("no directory", name)
equal(len(os.listdir(root)), 4, "entries of the root")
END
python check.py
remount
python check.py

# Renames from every kind of name to every other; then all is removed and nothing stays in the vault.
python - <<'END'
import os
from checks import *
root = os.fsencode(M)
kinds = [b"renamed".ljust(length, b"n") for length in (9, 174, 175, 176, 177, 200, 254, 255)]
for kind in (b"files", b"directories", b"symlinks"):
    folder, other = os.path.join(root, kind), os.path.join(root, b"links")
    mine = os.path.join(folder, b"A")
    before = len(os.listdir(folder))
    for place in (folder, other):
        for name in kinds:
            target = os.path.join(place, name)
            os.rename(mine, target)
            mine = target
            if kind == b"files":
                equal(read_file(mine), b"<A>", "content after renames")
                # Over an existing one with a name of that length.
                victim = os.path.join(place, name[:-1] + b"v")
                write_file(victim, b"old")
                os.rename(mine, victim)
                equal(read_file(victim), b"<A>", "content after a rename over a file")
                equal(os.path.exists(mine), False, "the old name is there")
                mine = victim
    os.rename(mine, os.path.join(folder, b"A"))
    equal(len(os.listdir(folder)), before, f"the number of {kind.decode()} after renames")
END
python check.py
remount
python check.py
rm -r "$M"/{files,directories,symlinks,links}
remount
equal "$(find "$M" -mindepth 1 | wc -l)" 0 "what is left in the mount"
left=$(find "$V" -mindepth 1 -not -name 'sfs.*' | wc -l)
((left <= 1)) || fail "$left entries with a name are left in the vault"
# A companion of a long name that is left would be called sfs.long.….name.
[[ -z $(find "$V" -name 'sfs.long.*') ]] || fail "companions of long names are left: $(find "$V" -name 'sfs.long.*' | head -n 2)"
