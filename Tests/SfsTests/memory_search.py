"""Looks for byte strings in the memory of a process. Root only.

usage: memory_search.py PID HEX…     prints a line each: the number of places
"""

import re
import sys

needles = [bytes.fromhex(text) for text in sys.argv[2:]]
found = [0] * len(needles)
with open(f"/proc/{sys.argv[1]}/mem", "rb", 0) as memory, open(f"/proc/{sys.argv[1]}/maps", encoding="utf-8") as maps:
    for line in maps:
        start, end, modes, name = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)", line).groups()
        if "r" not in modes or name.startswith("[v"):
            continue
        try:
            memory.seek(int(start, 16))
            data = memory.read(int(end, 16) - int(start, 16))
        except OSError:
            continue
        for place, needle in enumerate(needles):
            found[place] += data.count(needle)
for count in found:
    print(count)
