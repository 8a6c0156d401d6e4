"""The plain folder beside the mount as the oracle: what a row answers there, error numbers included, it has to answer in the mount.

A row is a name and a function of an empty folder, whose result is compared.
"""
import errno
import os
import subprocess
import sys

from checks import M, W, fail


def attempt(call, *arguments):
    try:
        return call(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]


def mode(path):
    return f"{os.lstat(path).st_mode:o}"


def file(folder, bits=0o644, name="f"):
    path = f"{folder}/{name}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    os.chmod(path, bits)
    return path


def folder_in(folder, bits=0o755, name="d"):
    path = f"{folder}/{name}"
    os.mkdir(path)
    os.chmod(path, bits)
    return path


def by(user, call, *arguments, groups=(), mask=0o022):
    """What `call` answers in a process of `user`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(list(groups))
            os.setgid(user)
            os.setuid(user)
            os.umask(mask)
            answer = repr(attempt(call, *arguments))
        except BaseException as error:  # pylint: disable=broad-except
            answer = repr(error)
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def compare(rows):
    """Runs every row, a name and a function, twice; the first difference of each is shown."""
    failures = 0
    for number, (name, function) in enumerate(rows):
        answers = []
        for place in (W, M):
            folder = f"{place}/row{number}"
            os.mkdir(folder)
            os.umask(0o022)
            answers.append(function(folder))
            subprocess.run(["rm", "-rf", folder], check=True)
        if answers[0] != answers[1]:
            failures += 1
            print(f"{name}: {difference(*answers)}", file=sys.stderr)
    if failures:
        fail(f"{failures} of {len(rows)} rows differ")
    print(f"{len(rows)} rows are as on the plain folder")


def difference(expected, got):
    if type(expected) is type(got) and isinstance(expected, (list, tuple)) and len(expected) == len(got):
        return next(f"[{index}] {difference(a, b)}" for index, (a, b) in enumerate(zip(expected, got)) if a != b)
    if isinstance(expected, dict) and isinstance(got, dict):
        return next(f"{key}: {difference(value, got.get(key))}" for key, value in expected.items() if value != got.get(key))
    return f"expected {expected!r}, got {got!r}"
