#!/usr/bin/env bash
# Listing directories while they change: every entry that stays is seen once; seekdir and telldir; nothing is lost to deleting while reading.
# mount: PLACE=memory SECONDS=180
. "$(dirname "$0")/support/lib.sh"
cat >program.c <<'END'
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *what, long a, long b) {
    fprintf(stderr, "FAIL: %s: %ld, %ld (%s)\n", what, a, b, strerror(errno));
    exit(1);
}
static void make(int count) {
    for (int i = 0; i < count; i++) {
        char name[300];
        // Some names are long, so that batches of entries end at odd places.
        snprintf(name, sizeof name, i % 7 ? "e%06d" : "e%06d-%0200d", i, 0);
        int fd = openat(AT_FDCWD, name, O_CREAT | O_EXCL | O_WRONLY, 0644);
        if (fd < 0) fail("create", i, 0);
        close(fd);
    }
}
static int number(const struct dirent *entry) { return entry->d_name[0] == 'e' ? atoi(entry->d_name + 1) : -1; }

int main(int argc, char **argv) {
    int count = argc > 2 ? atoi(argv[2]) : 20000;
    if (chdir(argv[1]) || mkdir("delete", 0755) || mkdir("stay", 0755) || mkdir("seek", 0755)) fail("mkdir", 0, 0);

    // Deleting each entry when it is read, as rm -r and cleaners do: one pass reads and deletes all.
    if (chdir("delete")) fail("chdir", 0, 0);
    make(count);
    DIR *dir = opendir(".");
    long deleted = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (number(entry) >= 0) {
            if (unlink(entry->d_name)) fail("unlink of an entry just read", number(entry), 0);
            deleted++;
        }
    if (deleted != count) fail("entries seen while deleting", deleted, count);
    rewinddir(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (number(entry) >= 0) fail("an entry after all were deleted", number(entry), 0);
    // rewinddir sees what is new.
    make(1);
    rewinddir(dir);
    long seen = 0;
    for (struct dirent *entry; (entry = readdir(dir));) seen += number(entry) >= 0;
    if (seen != 1) fail("a new entry after rewinddir", seen, 1);
    closedir(dir);

    // Entries that stay are seen exactly once, however many come and go meanwhile.
    if (chdir("../stay")) fail("chdir", 0, 0);
    make(count / 4);
    char *times = calloc(count, 1);
    dir = opendir(".");
    long steps = 0;
    for (struct dirent *entry; (entry = readdir(dir)); steps++) {
        int n = number(entry);
        char name[40];
        snprintf(name, sizeof name, "coming%06ld", steps);
        if (steps % 2 == 0) {
            int fd = open(name, O_CREAT | O_WRONLY, 0644);
            if (fd < 0) fail("create while reading", steps, 0);
            close(fd);
        }
        snprintf(name, sizeof name, "coming%06ld", steps - 20 - steps % 2);
        if (steps % 4 == 0) unlink(name);
        if (n >= 0 && ++times[n] > 1) fail("an entry twice", n, times[n]);
        if (steps > 10L * count) fail("a directory without an end", steps, count);
    }
    for (int i = 0; i < count / 4; i++)
        if (times[i] != 1) fail("an entry that stayed was seen so often", i, times[i]);
    closedir(dir);

    // seekdir to every place telldir named, in any order, continues with the same entries.
    if (chdir("../seek")) fail("chdir", 0, 0);
    int many = 3000;
    make(many);
    long *places = calloc(many + 2, sizeof *places);
    char(*names)[256] = calloc(many + 2, sizeof *names);
    dir = opendir(".");
    long entries = 0;
    for (;;) {
        long place = telldir(dir);
        struct dirent *entry = readdir(dir);
        if (!entry) break;
        if (entries >= many + 2) fail("too many entries", entries, many);
        places[entries] = place;
        strcpy(names[entries++], entry->d_name);
    }
    if (entries < many) fail("entries", entries, many);
    unsigned long random = 12345;
    for (int step = 0; step < 4000; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        long at = (long)(random >> 33) % entries;
        seekdir(dir, places[at]);
        for (int more = 0; more < 3 && at < entries; more++, at++) {
            struct dirent *entry = readdir(dir);
            if (!entry || strcmp(entry->d_name, names[at])) fail("the entry after a seekdir", at, more);
        }
    }
    // Also after entries around them were deleted.
    for (long i = 0; i < entries; i += 3)
        if (names[i][0] == 'e' && unlink(names[i])) fail("unlink", i, 0);
    for (long at = 0; at < entries; at += 97) {
        seekdir(dir, places[at]);
        struct dirent *entry = readdir(dir);
        long expected = at;
        while (expected < entries && names[expected][0] == 'e' && expected % 3 == 0) expected++;
        if (!entry) { if (expected < entries) fail("nothing after a seekdir", at, expected); continue; }
        // What was read ahead may still show an entry that is gone since; never skip one that is there.
        long got = at;
        while (got < entries && strcmp(names[got], entry->d_name)) got++;
        if (got > expected) fail("a seekdir skipped an entry", expected, got);
    }
    closedir(dir);
    puts("ok");
    return 0;
}
END
gcc -O1 -Wall -o program program.c
# The program itself is right about a plain directory.
mkdir plain
./program "$W/plain" 3000 >/dev/null || fail "the test program fails on a plain directory"
./program "$M" "${READDIR_FILES:-20000}"
# d_type and inode numbers agree with stat, in every directory; "." and ".." too.
python - <<'END'
import ctypes, os, stat
from checks import *
os.mkdir(f"{M}/kinds")
os.symlink("x", f"{M}/kinds/symlink")
write_file(f"{M}/kinds/file", b"")
os.mkdir(f"{M}/kinds/directory")
with os.scandir(f"{M}/kinds") as entries:
    for entry in entries:
        status = os.lstat(entry.path)
        equal(entry.inode(), status.st_ino, f"inode number of {entry.name} in the listing")
        equal((entry.is_file(follow_symlinks=False), entry.is_dir(follow_symlinks=False), entry.is_symlink()),
              (stat.S_ISREG(status.st_mode), stat.S_ISDIR(status.st_mode), stat.S_ISLNK(status.st_mode)), f"kind of {entry.name}")
equal(os.stat(f"{M}/kinds/directory/..").st_ino, os.stat(f"{M}/kinds").st_ino, "the parent's inode number")
END
names() { find "$M" -printf '%P %i\n' | sort; }
names >before
remount
names >after
# Inode numbers stay what they were, too.
diff before after >difference || fail "names or inode numbers changed by a remount: $(head -n 3 difference)"
equal "$(find "$M" -mindepth 1 -printf '%i\n' | sort | uniq -d | wc -l)" 0 "inode numbers that are there twice"
# Four processes remove one tree at once.
for _ in 1 2 3 4; do rm -rf "$M/seek" "$M/stay" 2>/dev/null & done
wait
rm -rf "$M"/{seek,stay,delete,kinds}
equal "$(find "$M" -mindepth 1 | wc -l)" 0 "what is left"
