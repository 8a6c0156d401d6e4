#!/usr/bin/env bash
# -o special_files: pipes, sockets and devices are made and used as on the plain folder beside the mount; without it they are gone from view.
# mount: OPTIONS=allow_other,special_files,dev COMPARE=1
. "$(dirname "$0")/support/lib.sh"
((EUID != 0)) || chmod 755 "$M"
for above in "$W" "$(dirname "$W")"; do chmod o+x "$above" || :; done
python - <<'END_OF_ROWS'
import os, socket, stat, time
from checks import *
from oracle import attempt, by, compare, mode
from acl_rules import ACCESS, DEFAULT, FULL, get, put

KINDS = {"pipe": (stat.S_IFIFO, 0), "socket": (stat.S_IFSOCK, 0)}
if os.geteuid() == 0:
    KINDS |= {"null": (stat.S_IFCHR, os.makedev(1, 3)), "block": (stat.S_IFBLK, os.makedev(300, 70000)), "zero zero": (stat.S_IFCHR, 0)}


def seen(path):
    status = os.lstat(path)
    return f"{status.st_mode:o}", status.st_rdev, status.st_nlink, status.st_size, status.st_uid, status.st_gid


def made(folder):
    answers = []
    os.umask(0o027)
    for kind, (bits, device) in KINDS.items():
        path = f"{folder}/{kind}"
        answers.append((attempt(os.mknod, path, bits | 0o2666, device), seen(path), attempt(os.mknod, path, bits | 0o600, device)))
        os.chmod(path, 0o4751)
        answers.append((os.utime(path, ns=(1, 2)), seen(path), os.stat(path).st_mtime_ns))
        answers.append((attempt(os.setxattr, path, "user.a", b"a"), attempt(os.getxattr, path, "user.a"), put(path, FULL), get(path), mode(path), put(path, FULL, DEFAULT)))
        if os.geteuid() == 0:
            answers.append((attempt(os.setxattr, path, "trusted.a", b"a"), attempt(os.getxattr, path, "trusted.a"), sorted(os.listxattr(path))))
            os.chown(path, 2001, 4321)
        os.link(path, path + ".link")
        answers.append(seen(path))
        os.chmod(path, 0o6711)
        before = os.lstat(path).st_ctime_ns
        time.sleep(0.02)
        os.chown(path, -1, -1)
        answers.append((mode(path), os.lstat(path).st_ctime_ns > before))
        os.rename(path + ".link", path + ".renamed")
        answers.append((seen(path), attempt(os.truncate, path, 0)))
    answers.append(sorted((entry.name, entry.is_file(), entry.stat(follow_symlinks=False).st_mode) for entry in os.scandir(folder)))
    for kind in KINDS:
        os.unlink(f"{folder}/{kind}")
    return answers + [sorted(os.listdir(folder))]


def used(folder):
    os.chdir(folder)
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open("pipe", os.O_WRONLY)
    os.write(writer, b"through the pipe")
    answers = [os.read(reader, 100)]
    os.unlink("pipe")
    os.write(writer, b"and on")
    answers += [os.read(reader, 100), os.fstat(reader).st_nlink]
    os.close(reader), os.close(writer)
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("socket")
        server.listen()
        client.connect("socket")
        client.sendall(b"through the socket")
        answers.append(server.accept()[0].recv(100))
        answers.append(seen("socket"))
    if os.geteuid() == 0:
        os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.chdir("/")
    return answers


def inherited(folder):
    os.chmod(folder, 0o2777)
    put(folder, FULL, DEFAULT)
    answers = []
    for kind, (bits, device) in KINDS.items():
        os.mknod(f"{folder}/{kind}", bits | 0o664, device)
        answers.append((seen(f"{folder}/{kind}"), get(f"{folder}/{kind}")))
    if os.geteuid() == 0:
        answers.append(by(2001, os.mkfifo, f"{folder}/users", 0o640))
        answers.append((seen(f"{folder}/users"), get(f"{folder}/users"), by(2001, os.mknod, f"{folder}/device", stat.S_IFCHR | 0o600, 0)))
    return answers


compare([("made", made), ("used", used), ("inherited", inherited)])
if os.geteuid() == 0:
    os.mknod(f"{M}/zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    with open(f"{M}/zero", "rb") as device:
        equal(device.read(10), bytes(10), "what /dev/zero gives under a name in the mount")
    os.unlink(f"{M}/zero")
END_OF_ROWS
mkdir "$M/d"
mkfifo "$M/d/pipe"
printf content >"$M/d/file"
if ((EUID == 0)); then mknod "$M/d/null" c 1 3; fi
remount
expected=$(find "$M/d" -mindepth 1 -printf '%P %y %m\n' | sort)
mkdir out
tar -C "$M/d" -cf - . | tar -C out -xf -
equal "$(find out -mindepth 1 -printf '%P %y %m\n' | sort)" "$expected" "what tar takes out"
