"""A table of rules that a filesystem has to keep: one row a rule, with its manual page, what is done, and what has to come of it.

Usage: posix_table.py list
       posix_table.py run FOLDER RESULTS [NAME…]     does the rows (those whose name begins so), each in a folder and a process of its own
       posix_table.py later FOLDER RESULTS           after a remount: what was there has to be there
       posix_table.py compare PLAIN MOUNT            the judgement: a row that a plain folder passes, the mount has to pass

RESULTS holds, for each row: passed, or what was wrong; and what `later` needs to know.
"""
import ctypes
import errno
import json
import os
import shutil
import signal
import stat
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True
ROWS = {}
LIBC = ctypes.CDLL(None, use_errno=True)
SECONDS = 60
# Rules that the mount does not keep, and why. A row that keeps its rule again is said, too.
KNOWN = {
    "times.truncate-to-the-same-size": "the kernel keeps the times of a file with a write-back cache itself, and moves none here (fuse_do_setattr)",
    "times.atime-of-a-file": "reading moves no access time, as with noatime: the kernel leaves it to the server, which would have to write for each read",
    "fallocate.collapse": "a block is sealed for its place in the file; programs go on without (EOPNOTSUPP)",
    "fallocate.insert": "a block is sealed for its place in the file; programs go on without (EOPNOTSUPP)",
    "rename.whiteout": "for the upper layer of an overlay, which a FUSE mount cannot be (EINVAL)",
    "flags.append-only": "flags of chattr(1) are not kept (ENOTTY)",
}


class Wrong(Exception):
    pass


class Row:
    def __init__(self, name, page, done, expected, function, root):
        self.name, self.page, self.done, self.expected, self.function, self.root = name, page, done, expected, function, root
        self.later = None


def row(name, page, done, expected, root=False):
    """Registers a rule; the function gets an empty folder as its working directory. What it returns goes to `later`."""
    def register(function):
        assert name not in ROWS, name
        ROWS[name] = Row(name, page, done, expected, function, root)
        return function
    return register


def later(name):
    """What has to hold of the row `name` after a remount; gets what the row returned."""
    def register(function):
        ROWS[name].later = function
        return function
    return register


def refusals(page, *entries):
    """Rows that are one call and its errno (or one of several): (name, what is done, errno, call[, preparation])."""
    for name, done, number, action, *prepare in entries:
        numbers = number if isinstance(number, tuple) else (number,)
        names = " or ".join(errno.errorcode[n] for n in numbers)

        def function(action=action, numbers=numbers, prepare=tuple(prepare)):
            for step in prepare:
                step()
            refused(numbers, action)
        ROWS[name] = Row(name, page, done, names, function, False)


def refused(numbers, action):
    numbers = numbers if isinstance(numbers, tuple) else (numbers,)
    names = " or ".join(errno.errorcode[n] for n in numbers)
    try:
        action()
    except OSError as error:
        if error.errno not in numbers:
            raise Wrong(f"{errno.errorcode.get(error.errno, error.errno)}, expected {names}") from None
        return
    raise Wrong(f"done, expected {names}")


def equal(got, expected, what):
    if got != expected:
        raise Wrong(f"{what}: got {brief(got)}, expected {brief(expected)}")


def holds(truth, what):
    if not truth:
        raise Wrong(what)


def brief(value):
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:120]}… ({len(text)} in all)"


# ------------------------------------------------------------------------------------------- what the rows share


def put(path, content=b""):
    with open(path, "wb") as file:
        file.write(content)


def get(path):
    with open(path, "rb") as file:
        return file.read()


def call(function, *arguments):
    result = function(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def fallocate(fd, mode, offset, length):
    call(LIBC.fallocate, fd, mode, ctypes.c_int64(offset), ctypes.c_int64(length))


def renameat2(source, target, flags):
    call(LIBC.renameat2, -100, os.fsencode(source), -100, os.fsencode(target), flags)


def linkat(source, target, flags, fd=-100):
    call(LIBC.linkat, fd, os.fsencode(source), -100, os.fsencode(target), flags)


def in_child(action):
    """Runs in another process; what goes wrong there goes wrong here. An errno comes over as OSError."""
    start_child(action)()


def start_child(action):
    """Starts it; what is returned waits for it."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        said = b""
        try:
            action()
        except OSError as error:
            said = f"E{error.errno}".encode()
        except BaseException as error:  # Whatever it is, it is the parent's business.
            said = f"W{error!r}".encode()
        os.write(writer, said)
        os._exit(0)
    os.close(writer)

    def wait():
        with open(reader, "rb") as channel:
            said = channel.read().decode()
        status = os.waitpid(pid, 0)[1]
        if os.WIFSIGNALED(status):
            raise Wrong(f"ended by signal {os.WTERMSIG(status)}")
        if said.startswith("E"):
            raise OSError(int(said[1:]), os.strerror(int(said[1:])))
        if said:
            raise Wrong(f"in another process: {said[1:]}")
    return wait


def become(user, group=None, groups=()):
    os.setgroups(list(groups))
    os.setresgid(*[group if group is not None else user] * 3)
    os.setresuid(user, user, user)


def as_user(user, action, group=None, groups=()):
    def other():
        become(user, group, groups)
        action()
    in_child(other)


def tick():
    """Returns when the clock of timestamps has moved."""
    import time
    start = time.clock_gettime_ns(5)
    while time.clock_gettime_ns(5) == start:
        pass


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


# ------------------------------------------------------------------------------------------------------ running


def run_row(function, folder, *arguments):
    """In a process of its own: (passed?, what was wrong or what was returned)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        try:
            os.chdir(folder)
            os.umask(0o022)
            outcome = [True, function(*arguments)]
        except Wrong as wrong:
            outcome = [False, str(wrong)]
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            outcome = [False, f"{error!r} at {os.path.basename(last.filename)}:{last.lineno}: {last.line}"]
        with open(writer, "w", encoding="utf-8", errors="surrogateescape") as channel:
            json.dump(outcome, channel)
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8", errors="surrogateescape") as channel:
        said = channel.read()
    status = os.waitpid(pid, 0)[1]
    if not said:
        return [False, f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "said nothing"]
    return json.loads(said)


def load():
    for name in ("times", "directories", "files", "locks", "attributes", "rights"):
        __import__(f"posix_{name}")


def main():
    sys.modules["posix_table"] = sys.modules["__main__"]
    load()
    command, *arguments = sys.argv[1:] or [""]
    if command == "list":
        for entry in ROWS.values():
            print(f"{entry.name:36} {entry.page:20} {entry.done}: {entry.expected}")
        print(len(ROWS), "rows")
    elif command == "run":
        folder, path, *names = arguments
        results = {}
        for number, entry in enumerate(ROWS.values()):
            if names and not entry.name.startswith(tuple(names)) or entry.root and os.geteuid() != 0:
                continue
            place = os.path.join(folder, f"row-{number}")
            os.mkdir(place)
            results[entry.name] = run_row(entry.function, place) + [place]
        save(path, results)
    elif command == "later":
        path = arguments[1]
        results = read(path)
        for name, (passed, state, place) in results.items():
            if passed and ROWS[name].later:
                passed, said = run_row(ROWS[name].later, place, state)
                results[name] = [passed, said if not passed else None, place]
        save(path, results)
    elif command == "compare":
        compare(*map(read, arguments))
    else:
        sys.exit(__doc__)


def save(path, results):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(results, file)


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return json.load(file)


def compare(plain, mount):
    wrong = unjudged = known = 0
    for name, (passed, said, _) in mount.items():
        if not plain[name][0]:
            unjudged += 1
            print(f"not judged: {name}: a plain folder fails it, too: {brief(plain[name][1])}{'' if passed else '; the mount: ' + brief(said)}")
        elif name in KNOWN:
            known += 1
            print(f"known: {name}: {KNOWN[name]}" if not passed else f"known: {name}: PASSES NOW: take it out of KNOWN")
        elif not passed:
            wrong += 1
            print(f"WRONG: {name}: {ROWS[name].page}: {ROWS[name].done}: {said}", file=sys.stderr)
    print(f"{len(mount)} rows, {len(mount) - wrong - unjudged - known} passed, {known} known, {unjudged} not judged, {wrong} wrong")
    sys.exit(1 if wrong or not mount else 0)


if __name__ == "__main__":
    main()
