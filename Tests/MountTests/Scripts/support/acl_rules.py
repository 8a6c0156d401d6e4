"""The rules of access control lists, a row each (see oracle.py). Rows that need other users are left out where there can be none."""
import os
import stat
import struct
import subprocess

from checks import AT_SYMLINK_FOLLOW, M, W, equal, linkat
from oracle import attempt, by, compare, file, folder_in, mode

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
NOBODY = 0xFFFFFFFF
ALICE, BOB, TEAM = 2001, 2002, 4321
TAGS = {"u": 1, "U": 2, "g": 4, "G": 8, "m": 16, "o": 32}


def acl(text, version=2):
    """`u:rw U2001:r g:r m:rw o:-` as the attribute's value. An id of '' is "no id"."""
    value = struct.pack("<I", version)
    for word in text.split():
        who, rights = word.split(":")
        number = int(who[1:]) if who[1:] else NOBODY
        bits = int(rights) if rights.isdigit() else sum({"r": 4, "w": 2, "x": 1, "-": 0}[letter] for letter in rights)
        value += struct.pack("<HHI", TAGS.get(who[0], 64), bits, number)
    return value


def words(value):
    names = {tag: letter for letter, tag in TAGS.items()}
    found = []
    for start in range(4, len(value), 8):
        tag, bits, number = struct.unpack_from("<HHI", value, start)
        found.append(f"{names[tag]}{number if tag in (2, 8) else ''}:{bits}")
    return " ".join(found)


def get(path, name=ACCESS):
    value = attempt(os.getxattr, path, name)
    return words(value) if isinstance(value, bytes) else value


def put(path, text, name=ACCESS, flags=0):
    return attempt(os.setxattr, path, name, acl(text) if isinstance(text, str) else text, flags)


def state(path):
    return mode(path), get(path), get(path, DEFAULT), sorted(name for name in os.listxattr(path) if name.startswith("system."))


def opens(path):
    return [attempt(lambda flags=flags: os.close(os.open(path, flags))) for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR)]


ROWS, USER_ROWS = [], []


def row(function):
    ROWS.append((function.__name__.replace("_", " "), function))
    return function


def user_row(function):
    USER_ROWS.append((function.__name__.replace("_", " "), function))
    return function


FULL = "u:rwx U2001:rwx U2002:r g:rx G4321:rw m:rwx o:r"
VALUES = {
    "minimal": "u:rw g:r o:-", "full": FULL, "mask alone": "u:rw g:r m:r o:r", "twice the same user": "u:rw U1:r U1:w g:r m:rw o:-",
    "users not sorted": "u:rw U9:r U1:w g:r m:rw o:-", "no owner": "g:r o:r", "no owning group": "u:rw o:r", "no others": "u:rw g:r",
    "no mask": "u:rw U1:r g:r o:r", "two owners": "u:rw u:r g:r o:r", "two masks": "u:rw g:r m:r m:r o:r", "users behind the group": "u:rw g:r U1:r m:r o:r",
    "groups before the group": "u:rw G1:r g:r m:r o:r", "mask at the end": "u:rw U1:r g:r o:r m:r", "unknown tag": "u:rw g:r z:r o:r",
    "permission bit 8": "u:8 g:r o:r", "user without a number": "u:rw U:r g:r m:r o:r", "group without a number": "u:rw g:r G:r m:r o:r",
    "empty": b"", "header alone": acl(""), "short header": b"\2\0\0", "version 1": acl("u:rw g:r o:r", version=1), "version 3": acl("", version=3),
    "half an entry": acl("u:rw g:r o:r")[:-3], "rubbish": b"rubbish and more of it",
}


@row
def values_accepted_as_access_list(folder):
    answers = {}
    for name, value in VALUES.items():
        path = file(folder, 0o2751)
        answers[name] = put(path, value), state(path)
        os.unlink(path)
    return answers


@row
def values_accepted_as_default_list(folder):
    answers = {}
    for name, value in VALUES.items():
        path = folder_in(folder)
        answers[name] = put(path, value, DEFAULT), state(path)
        os.rmdir(path)
    return answers


@row
def a_list_where_another_one_is(folder):
    path = file(folder)
    put(path, FULL)
    return [(put(path, VALUES[name]), state(path)) for name in ("mask alone", "full", "minimal", "full", "empty", "no mask", "header alone")]


@row
def create_and_replace_flags_count_for_nothing(folder):
    path = file(folder)
    return [(put(path, FULL, flags=flags), state(path)) for flags in (os.XATTR_REPLACE, os.XATTR_CREATE, os.XATTR_CREATE)]


@row
def what_is_not_there(folder):
    path, directory = file(folder), folder_in(folder)
    os.symlink("f", f"{folder}/l")
    link = f"{folder}/l"
    answers = [state(path), state(directory), attempt(os.removexattr, path, ACCESS), attempt(os.removexattr, path, DEFAULT)]
    answers += [attempt(os.removexattr, directory, DEFAULT), put(path, "u:r g:r o:r", DEFAULT), put(path, b"", DEFAULT)]
    for name in (ACCESS, DEFAULT):
        answers += [attempt(lambda name=name: os.getxattr(link, name, follow_symlinks=False))]
        answers += [attempt(lambda name=name: os.setxattr(link, name, acl("u:r g:r o:r"), follow_symlinks=False))]
    return answers + [attempt(os.getxattr, path, "system.other"), attempt(os.setxattr, path, "system.other", b"")]


@row
def chmod_changes_the_list(folder):
    path = file(folder)
    answers = []
    for text in (FULL, "u:rw g:r m:r o:r", "u:rw g:r o:r"):
        put(path, text)
        for bits in (0o640, 0o777, 0o000, 0o4750, 0o2070, 0o7777):
            os.chmod(path, bits)
            answers.append(state(path))
    return answers


@row
def removing_a_list_leaves_the_mode(folder):
    path, directory = file(folder), folder_in(folder)
    put(path, FULL)
    put(directory, FULL)
    put(directory, FULL, DEFAULT)
    answers = [attempt(os.removexattr, path, ACCESS), state(path), attempt(os.removexattr, directory, ACCESS), state(directory)]
    return answers + [attempt(os.removexattr, directory, DEFAULT), state(directory)]


def made_in(directory, bits):
    """The state of everything that can be made in a directory."""
    answers = []
    os.close(os.open(f"{directory}/file", os.O_CREAT | os.O_EXCL | os.O_RDWR, bits))
    os.mknod(f"{directory}/node", stat.S_IFREG | bits)
    os.mkdir(f"{directory}/directory", bits)
    os.symlink("file", f"{directory}/link")
    descriptor = os.open(directory, os.O_TMPFILE | os.O_RDWR, bits)
    answers.append((f"{os.fstat(descriptor).st_mode:o}", get(descriptor)))
    linkat(f"/proc/self/fd/{descriptor}", f"{directory}/named", AT_SYMLINK_FOLLOW)
    os.close(descriptor)
    for name in ("file", "node", "directory", "named"):
        answers.append((name, state(f"{directory}/{name}")))
    answers.append(mode(f"{directory}/link"))
    os.mkdir(f"{directory}/directory/deeper", bits)
    answers.append(state(f"{directory}/directory/deeper"))
    return answers


INHERITED = {
    "none": None, "minimal": "u:rwx g:rx o:-", "minimal and wide": "u:rwx g:rwx o:rwx", "full": FULL, "narrow": "u:r U2001:rwx g:r m:rx o:-",
    "mask alone": "u:rwx g:rwx m:r o:rwx", "nothing": "u:- g:- o:-", "owner without": "u:- U2001:rwx g:rwx m:rwx o:rwx",
}


@row
def inheritance(folder):
    answers = {}
    for name, text in INHERITED.items():
        for special in (0, 0o2000, 0o1000):
            for bits, mask in ((0o666, 0o022), (0o777, 0o077), (0o640, 0), (0o700, 0o777), (0o7777, 0o027)):
                directory = folder_in(folder, 0o755 | special)
                if text is not None:
                    put(directory, text, DEFAULT)
                old = os.umask(mask)
                try:
                    answers[name, special, oct(bits), oct(mask)] = made_in(directory, bits)
                finally:
                    os.umask(old)
                subprocess.run(["rm", "-rf", directory], check=True)
    return answers


@row
def a_default_list_set_later_counts_from_then_on(folder):
    directory = folder_in(folder)
    answers = [state(file(directory, name="before"))]
    os.setxattr(directory, "user.other", b"an attribute that is no list")
    answers.append(state(file(directory, name="other")))
    put(directory, FULL, DEFAULT)
    os.close(os.open(f"{directory}/after", os.O_CREAT, 0o666))
    answers.append(state(f"{directory}/after"))
    os.removexattr(directory, DEFAULT)
    os.close(os.open(f"{directory}/again", os.O_CREAT, 0o666))
    return answers + [state(f"{directory}/again"), state(f"{directory}/before")]


@row
def lists_follow_hard_links_and_renames(folder):
    path, directory = file(folder), folder_in(folder)
    put(path, FULL)
    put(directory, FULL, DEFAULT)
    os.link(path, f"{directory}/link")
    os.rename(path, f"{directory}/moved")
    os.chmod(f"{directory}/link", 0o600)
    return state(f"{directory}/link"), state(f"{directory}/moved")


@row
def the_programs(folder):
    path, directory = file(folder), folder_in(folder)
    answers = []
    for words_ in (
        ["setfacl", "-m", "u:2001:rw,g:4321:r", path], ["setfacl", "-d", "-m", "u:2001:rwx", directory], ["setfacl", "-m", "d:g:4321:r,u:2002:x", directory],
        ["setfacl", "-x", "u:2001", path], ["setfacl", "-m", "m::r", path], ["setfacl", "-n", "-m", "u:2002:rwx", path], ["setfacl", "-b", path],
        ["setfacl", "-d", "-m", "u:1:r", path], ["setfacl", "-m", "u:5:r", f"{folder}/none"], ["setfacl", "-k", directory], ["setfacl", "-R", "-m", "u:7:rX", folder],
    ):
        done = subprocess.run(words_, cwd=folder, capture_output=True, text=True, check=False)
        answers.append((done.returncode, done.stderr.replace(folder, "")))
        shown = subprocess.run(["getfacl", "-n", ".", "f", "d"], cwd=folder, capture_output=True, text=True, check=False)
        answers.append(shown.stdout)
        answers.append(subprocess.run("ls -l | sed 1d | cut -c1-11", shell=True, cwd=folder, capture_output=True, text=True, check=True).stdout)
    return answers


@row
def many_entries(folder):
    path = file(folder)
    answers = []
    for count in (1, 30, 100):
        text = "u:rw " + " ".join(f"U{number}:r" for number in range(1, count)) + " g:r m:r o:-"
        answers.append((put(path, text), get(path)))
    return answers


# Rows that need other users.


@user_row
def who_may_do_what(folder):
    answers = {}
    for name, text in {
        "named user": "u:rw U2001:r g:- m:rwx o:-", "masked": "u:rw U2001:rw g:rw m:r o:rw", "named group": "u:rw g:- G4321:rw m:rw o:-",
        "user before group": "u:rw U2001:- g:rw G4321:rw m:rw o:rw", "group before others": "u:rw g:- G4321:- m:rw o:rw", "owner": "u:r U2001:rw g:- m:rw o:-",
        "two groups": "u:rw g:r G4321:w m:rw o:-",
    }.items():
        path = file(folder)
        for owner in (0, ALICE):
            os.chown(path, owner, BOB)
            put(path, text)
            for user, groups in ((ALICE, ()), (ALICE, (TEAM,)), (BOB, ()), (BOB, (TEAM,)), (3000, ()), (3000, (BOB, TEAM))):
                answers[name, owner, user, groups] = by(user, opens, path, groups=groups)
        os.unlink(path)
    return answers


@user_row
def directories(folder):
    answers = {}
    for text in ("u:rwx U2001:rwx g:- m:rwx o:-", "u:rwx U2001:rwx g:- m:rx o:-", "u:rwx U2001:x g:- m:rwx o:-", "u:rwx U2001:r g:- m:rwx o:-"):
        directory = folder_in(folder)
        file(directory, name="there")
        put(directory, text)
        for user in (ALICE, BOB):
            answers[text, user] = [
                by(user, lambda: sorted(os.listdir(directory))), by(user, lambda: mode(f"{directory}/there")), by(user, lambda: mode(f"{directory}/none")),
                by(user, lambda: file(directory, name="new")[-3:]), by(user, os.unlink, f"{directory}/there"),
            ]
        subprocess.run(["rm", "-rf", directory], check=True)
    return answers


@user_row
def a_change_of_the_list_counts_at_once(folder):
    path = file(folder, 0o600)
    answers = [by(ALICE, opens, path)]
    put(path, "u:rw U2001:rw g:- m:rw o:-")
    answers.append(by(ALICE, opens, path))
    os.chmod(path, 0o640)
    answers.append(by(ALICE, opens, path))
    os.chmod(path, 0o660)
    answers.append(by(ALICE, opens, path))
    os.removexattr(path, ACCESS)
    return answers + [by(ALICE, opens, path), state(path)]


@user_row
def who_may_change_a_list(folder):
    path = file(folder, 0o666)
    os.chown(path, ALICE, ALICE)
    answers = [by(user, put, path, FULL) for user in (BOB, ALICE, 0)]
    answers += [by(user, attempt, os.removexattr, path, ACCESS) for user in (BOB, ALICE)]
    return answers + [by(BOB, get, path), state(path)]


@user_row
def a_list_takes_setgid_from_who_is_not_in_the_group(folder):
    answers = []
    for group, groups in ((ALICE, ()), (TEAM, ()), (TEAM, (TEAM,)), (TEAM, (1, 2, TEAM, 5))):
        for directory in (False, True):
            for text in (FULL, "u:rwx g:rx o:rx"):
                path = folder_in(folder) if directory else file(folder)
                os.chown(path, ALICE, group)
                os.chmod(path, 0o6775)
                answers.append((by(ALICE, put, path, text, groups=groups), state(path)))
                (os.rmdir if directory else os.unlink)(path)
    return answers


@user_row
def what_users_make_below_a_default_list(folder):
    answers = {}
    for name, text in INHERITED.items():
        for special in (0, 0o2000):
            directory = folder_in(folder)
            os.chown(directory, ALICE, TEAM)
            os.chmod(directory, 0o777 | special)
            if text is not None:
                put(directory, text, DEFAULT)
            for bits in (0o666, 0o2775):
                by(BOB, lambda: os.close(os.open(f"{directory}/f", os.O_CREAT | os.O_RDWR, bits)), mask=0o027)
                by(BOB, lambda: os.mkdir(f"{directory}/d", bits), mask=0o027)
                for made in ("f", "d"):
                    path = f"{directory}/{made}"
                    answers[name, special, bits, made] = state(path), os.lstat(path).st_uid, os.lstat(path).st_gid
                os.unlink(f"{directory}/f")
                os.rmdir(f"{directory}/d")
            subprocess.run(["rm", "-rf", directory], check=True)
    return answers


@user_row
def a_change_of_owner_and_a_write_leave_the_list(folder):
    path = file(folder)
    put(path, "u:rwx U2001:rw g:rx m:rwx o:-")
    os.chmod(path, 0o6770)
    answers = [state(path), by(ALICE, lambda: os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))), state(path)]
    os.chmod(path, 0o6770)
    os.chown(path, BOB, BOB)
    return answers + [state(path)]


@user_row
def trusted_attributes_are_listed_for_root_only(folder):
    path = file(folder)
    os.setxattr(path, "trusted.secret", b"secret")
    os.setxattr(path, "user.open", b"open")
    return [sorted(os.listxattr(path)), by(ALICE, lambda: sorted(os.listxattr(path))), by(ALICE, os.getxattr, path, "trusted.secret")]


def has_lists(folder):
    path = file(folder, name="probe")
    answer = put(path, FULL)
    os.unlink(path)
    return answer is None


def run(with_users):
    equal(has_lists(M), True, "the mount has lists")
    if not has_lists(W):
        print("SKIPPED: the scratch folder has no access control lists to compare with")
        return
    compare(ROWS + (USER_ROWS if with_users else []))
