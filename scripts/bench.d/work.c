// The workloads of scripts/bench that no standard program does: plain system calls on a file or a
// folder, with as little around them as possible.
//
// Usage: work seqwrite    FILE BYTES          write(2) of 1 MiB each, then fsync
//        work randwrite   FILE OPS SEED       pwrite of 4 KiB at random blocks of the file, then fsync
//        work randread    FILE OPS SEED       pread of 4 KiB at random blocks of the file
//        work append      FILE SIZE COUNT     O_APPEND write(2) of SIZE bytes each, then close
//        work appendsync  FILE SIZE COUNT     the same with an fsync after each
//        work smallfiles  DIR COUNT           as git makes objects: write a temporary file, rename it
//        work touch       - BYTES             use that much memory and give it back
//
// Data is pseudo-random and different in every block, so that nothing finds holes or twins in it.
// Exits 1 with a message when a call fails or does less than asked.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 4096, CHUNK = 1 << 20 };

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void fill(unsigned char *buffer, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t value = next_random();
        memcpy(buffer + i, &value, size - i < 8 ? size - i : 8);
    }
}

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "%s %s: %s\n", what, path, errno ? strerror(errno) : "did less than asked");
    exit(1);
}

// write(2) may do less than asked only at a full disk or a signal, and there is neither in a benchmark.
#define CHECK(call, wanted, what, path) \
    do { errno = 0; if ((call) != (wanted)) fail(what, path); } while (0)

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*text == 0 || *end != 0) {
        fprintf(stderr, "not a number: %s\n", text);
        exit(2);
    }
    return value;
}

static int open_or_fail(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0644);
    if (fd < 0) fail("open", path);
    return fd;
}

// New content for every block at the price of one store: the cost measured is the filesystem's.
static void stamp(unsigned char *buffer, size_t size)
{
    for (size_t i = 0; i + 8 <= size; i += BLOCK) {
        uint64_t value = next_random();
        memcpy(buffer + i, &value, 8);
    }
}

static void sequential_write(const char *path, uint64_t bytes)
{
    static unsigned char buffer[CHUNK];
    fill(buffer, sizeof buffer);
    int fd = open_or_fail(path, O_WRONLY | O_CREAT | O_TRUNC);
    while (bytes > 0) {
        size_t size = bytes < CHUNK ? bytes : CHUNK;
        stamp(buffer, size);
        CHECK(write(fd, buffer, size), (ssize_t)size, "write", path);
        bytes -= size;
    }
    CHECK(fsync(fd), 0, "fsync", path);
    CHECK(close(fd), 0, "close", path);
}

static void random_access(const char *path, uint64_t count, uint64_t seed, int writing)
{
    static unsigned char buffer[BLOCK];
    struct stat status;
    int fd = open_or_fail(path, writing ? O_RDWR : O_RDONLY);
    CHECK(fstat(fd, &status), 0, "fstat", path);
    uint64_t blocks = (uint64_t)status.st_size / BLOCK;
    if (blocks == 0) fail("file too short", path);
    state ^= seed * 0xbf58476d1ce4e5b9;
    for (int i = 0; i < 8; i++) next_random();
    fill(buffer, sizeof buffer);
    for (uint64_t i = 0; i < count; i++) {
        off_t offset = (off_t)(next_random() % blocks * BLOCK);
        if (writing) {
            stamp(buffer, sizeof buffer);
            CHECK(pwrite(fd, buffer, BLOCK, offset), BLOCK, "pwrite", path);
        } else {
            CHECK(pread(fd, buffer, BLOCK, offset), BLOCK, "pread", path);
        }
    }
    if (writing) CHECK(fsync(fd), 0, "fsync", path);
    CHECK(close(fd), 0, "close", path);
}

static void append(const char *path, uint64_t size, uint64_t count, int syncing)
{
    static unsigned char buffer[CHUNK];
    if (size == 0 || size > sizeof buffer) fail("size out of range", path);
    fill(buffer, size);
    int fd = open_or_fail(path, O_WRONLY | O_CREAT | O_APPEND);
    for (uint64_t i = 0; i < count; i++) {
        stamp(buffer, size);
        CHECK(write(fd, buffer, size), (ssize_t)size, "write", path);
        if (syncing) CHECK(fsync(fd), 0, "fsync", path);
    }
    CHECK(close(fd), 0, "close", path);
}

static void small_files(const char *directory, uint64_t count)
{
    static unsigned char buffer[BLOCK];
    char temporary[4096], final[4096];
    CHECK(mkdir(directory, 0755), 0, "mkdir", directory);
    fill(buffer, sizeof buffer);
    for (uint64_t i = 0; i < count; i++) {
        unsigned fan = (unsigned)(i % 256);
        snprintf(final, sizeof final, "%s/%02x", directory, fan);
        if (i < 256) CHECK(mkdir(final, 0755), 0, "mkdir", final);
        snprintf(temporary, sizeof temporary, "%s/%02x/tmp_obj_%06x", directory, fan, (unsigned)i);
        snprintf(final, sizeof final, "%s/%02x/%038llx", directory, fan, (unsigned long long)next_random());
        size_t size = 100 + next_random() % 3900;
        stamp(buffer, size);
        int fd = open_or_fail(temporary, O_WRONLY | O_CREAT | O_EXCL);
        CHECK(write(fd, buffer, size), (ssize_t)size, "write", temporary);
        CHECK(close(fd), 0, "close", temporary);
        CHECK(rename(temporary, final), 0, "rename", temporary);
    }
}

// In huge pages where there are any: single pages are taken from what the host has given already, and given
// back they break up what the measured program would have found whole.
static void touch_memory(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap", "memory");
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    for (uint64_t i = 0; i < bytes; i += BLOCK) ((volatile unsigned char *)memory)[i] = 1;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (!strcmp(verb, "seqwrite") && argc == 4)
        sequential_write(argv[2], number(argv[3]));
    else if (!strcmp(verb, "randwrite") && argc == 5)
        random_access(argv[2], number(argv[3]), number(argv[4]), 1);
    else if (!strcmp(verb, "randread") && argc == 5)
        random_access(argv[2], number(argv[3]), number(argv[4]), 0);
    else if (!strcmp(verb, "append") && argc == 5)
        append(argv[2], number(argv[3]), number(argv[4]), 0);
    else if (!strcmp(verb, "appendsync") && argc == 5)
        append(argv[2], number(argv[3]), number(argv[4]), 1);
    else if (!strcmp(verb, "smallfiles") && argc == 4)
        small_files(argv[2], number(argv[3]));
    else if (!strcmp(verb, "touch") && argc == 4)
        touch_memory(number(argv[3]));
    else {
        fprintf(stderr, "usage: work seqwrite|randwrite|randread|append|appendsync|smallfiles|touch PATH NUMBER…\n");
        return 2;
    }
    return 0;
}
