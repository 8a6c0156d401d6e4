"""The library's own rows of scripts/bench: the file handle beside plain calls and the bare cipher, the stores beside plain SQLite."""

import os
import re
import tempfile

import targets as filesystems
from targets import Failure, need, run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MIB = 1 << 20


def built(product):
    """The release build of a bench program, with the Swift runtime linked in as in `sfs`."""
    options = ["-c", "release", "--static-swift-stdlib", "--product", product]
    run(need("swift", "Swift"), "build", *options, cwd=ROOT)
    return os.path.join(run("swift", "build", *options, "--show-bin-path", cwd=ROOT).strip(), product)


def cipher_speed():
    """Megabytes a second of AES-256-GCM on one core, in pieces of 1 MiB and of a block."""
    speeds = []
    for size in (MIB, 4096):
        text = run(need("openssl", "openssl"), "speed", "-evp", "aes-256-gcm", "-bytes", str(size), "-seconds", "2")
        found = re.search(r"AES-256-GCM\s+([0-9.]+)k", text)
        if not found:
            raise Failure("openssl speed printed no result")
        speeds.append(float(found.group(1)) / 1000)
    return speeds


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def handle_table(folder, rounds, mib):
    """MB/s of each row: plain calls, the handle, and its share of the plain calls' and of one core's cipher speed."""
    large, small = cipher_speed()
    measured = {}
    for line in run(built("handle-bench"), folder, str(mib), str(rounds)).splitlines():
        name, median, _ = line.split("\t")
        measured[name] = float(median)
    rows = []
    for name, speed in measured.items():
        kind, _, form = name.rpartition(" handle")
        if not kind:
            continue
        plain = measured[kind + " plain"]
        cipher = large if "1 MiB" in kind else small
        rows.append([kind + form, f"{plain:.0f}", f"{speed:.0f}", f"{speed / plain:.2f}", f"{speed / cipher:.2f}"])
    return (f"AES-256-GCM of one core (openssl speed): {large:.0f} MB/s in pieces of 1 MiB, {small:.0f} MB/s in blocks of 4 KiB.\n\n"
            + table(["file handle, MB/s", "plain calls", "handle", "of plain", "of the cipher"], rows))


def store_table(folder):
    """Operations a second of the stores and of plain SQLite with the same statements."""
    rows = []
    for line in run(built("store-campaign"), "bench", folder).splitlines():
        compared = re.fullmatch(r"(.+): (\d+)/s, plain SQLite (\d+)/s, ratio ([0-9.]+)", line)
        alone = re.fullmatch(r"(.+): (\d+)/s", line)
        if compared:
            rows.append([compared.group(1), compared.group(3), compared.group(2), compared.group(4)])
        elif alone:
            rows.append([alone.group(1), "–", alone.group(2), "–"])
    if not rows:
        raise Failure("store-campaign printed no result")
    return table(["store, operations a second", "plain SQLite", "store", "ratio"], rows)


def report(base, rounds, scale):
    """Prints both tables for a private folder of `base`."""
    place = tempfile.mkdtemp(prefix="sfs-bench.", dir=os.path.realpath(base))
    try:
        print(f"\n## The library, {base} ({filesystems.run('stat', '-f', '-c', '%T', place).strip()})\n")
        print(handle_table(place, rounds, max(16, int(512 * scale))))
        print("\n" + store_table(place), flush=True)
    finally:
        filesystems.remove_tree(place)
