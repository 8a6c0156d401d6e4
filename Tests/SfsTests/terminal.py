"""Runs a command on a terminal of its own, answers its prompts, and prints as JSON what came of it.

Usage: terminal.py COMMAND-WORD… < STEPS     STEPS: a JSON array of [text to wait for, answer], and options

Each answer is typed only when the text has appeared. An answer of "^C", "^D" or "^Z" is that key. The result has: `screen`, all that
was shown; `code`, the exit code, or minus the signal; `echo`, whether echo was on at each prompt; `restored`, whether it was on at the
end.
"""
import json
import os
import pty
import select
import signal
import sys
import termios
import time

steps = json.load(sys.stdin)
words = [os.fsencode(word) for word in sys.argv[1:]]
child, terminal = pty.fork()
if child == 0:
    os.execvp(words[0], words)

screen, echo, status = b"", [], None


def echoes():
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def read(seconds):
    """Reads what is there; False at the end."""
    global screen
    if not select.select([terminal], [], [], seconds)[0]:
        return True
    try:
        data = os.read(terminal, 65536)
    except OSError:
        return False
    screen += data
    return bool(data)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            print(json.dumps({"timeout": True, "screen": screen.decode("utf-8", "replace")}))
            sys.exit(1)
        if not read(0.01):
            return False
    return True


position = 0
for text, answer in steps:
    wanted = text.encode()
    if not wait_for(lambda: wanted in screen[position:]):
        break
    position = screen.index(wanted, position) + len(wanted)
    # The prompt is printed before echo goes off.
    end = time.monotonic() + 5
    while echoes() and time.monotonic() < end:
        time.sleep(0.002)
    echo.append(echoes())
    keys = {"^C": b"\x03", "^D": b"\x04", "^Z": b"\x1a"}
    os.write(terminal, keys.get(answer, answer.encode() + b"\n"))
    if answer == "^Z":
        while True:
            ended, status = os.waitpid(child, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                break
        echo.append(echoes())
        status = None
        os.kill(child, signal.SIGCONT)

restored = True
end = time.monotonic() + 60
while time.monotonic() < end:
    more = read(0.01)
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        restored = echoes()
        while select.select([terminal], [], [], 0)[0] and read(0):
            pass
        break
    if not more:
        ended, status = os.waitpid(child, 0)
        break
code = os.waitstatus_to_exitcode(status)
print(json.dumps({"screen": screen.decode("utf-8", "replace"), "code": code, "echo": echo, "restored": restored}))
