"""Runs a command on a terminal of its own, under a little shell with job control, answers its prompts, and prints as JSON what came of it.

Usage: terminal.py COMMAND-WORD... < STEPS      STEPS: a JSON array of [text to wait for, answer]

Each answer is typed only when the text has appeared and echo has had time to go off. An answer of "^C", "^D" or "^Z" is that key; a
command that stops is continued. The result has: `screen`, all that was shown; `code`, the exit code, or minus the signal; `echo`, whether
echo was on at each prompt; `stopped`, whether it was on each time the command was stopped; `restored`, whether it was on at the end.
"""
import json
import os
import pty
import select
import signal
import sys
import termios
import time

SECONDS = 60


def echoes(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def shell(words, report):
    """The session's leader: runs the command in the foreground, and says what it sees."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    ready, go = os.pipe()
    job = os.fork()
    if job == 0:
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.close(go)
        os.read(ready, 1)
        os.execvp(words[0], words)
    os.close(ready)
    os.setpgid(job, job)
    os.tcsetpgrp(0, job)
    os.close(go)
    stopped = []
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            break
        stopped.append(echoes(0))
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)
    result = {"code": os.waitstatus_to_exitcode(status), "stopped": stopped, "restored": echoes(0)}
    os.write(report, json.dumps(result).encode())
    os._exit(0)


steps = json.load(sys.stdin)
words = [os.fsencode(word) for word in sys.argv[1:]]
results, report = os.pipe()
child, terminal = pty.fork()
if child == 0:
    shell(words, report)
os.close(report)

screen, echo = b"", []


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


def give_up():
    os.kill(child, signal.SIGKILL)
    print(json.dumps({"timeout": True, "screen": screen.decode("utf-8", "replace")}))
    sys.exit(1)


position = 0
end = time.monotonic() + SECONDS
for text, answer in steps:
    wanted = text.encode()
    while wanted not in screen[position:]:
        if time.monotonic() > end:
            give_up()
        if not read(0.01):
            break
    if wanted not in screen[position:]:
        break
    position = screen.index(wanted, position) + len(wanted)
    patience = time.monotonic() + 5  # the prompt is printed before echo goes off
    while echoes(terminal) and time.monotonic() < patience:
        time.sleep(0.002)
    echo.append(echoes(terminal))
    keys = {"^C": b"\x03", "^D": b"\x04", "^Z": b"\x1a"}
    os.write(terminal, keys.get(answer, answer.encode() + b"\n"))

while read(0.05):
    if time.monotonic() > end:
        give_up()
result = json.loads(os.read(results, 65536))
os.waitpid(child, 0)
print(json.dumps({
    "screen": screen.decode("utf-8", "replace"), "code": result["code"], "echo": echo, "stopped": result["stopped"],
    "restored": result["restored"]}))
