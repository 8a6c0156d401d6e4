#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/fuse.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "off_t must have 64 bits");

const int CLinux_O_NOATIME = O_NOATIME, CLinux_O_PATH = O_PATH, CLinux_O_TMPFILE = O_TMPFILE, CLinux_O_NOFOLLOW = O_NOFOLLOW,
          CLinux_O_DIRECTORY = O_DIRECTORY, CLinux_O_CLOEXEC = O_CLOEXEC;
const int CLinux_AT_EMPTY_PATH = AT_EMPTY_PATH, CLinux_AT_SYMLINK_NOFOLLOW = AT_SYMLINK_NOFOLLOW,
          CLinux_AT_SYMLINK_FOLLOW = AT_SYMLINK_FOLLOW, CLinux_AT_REMOVEDIR = AT_REMOVEDIR, CLinux_AT_FDCWD = AT_FDCWD;
const unsigned CLinux_RENAME_NOREPLACE = RENAME_NOREPLACE, CLinux_RENAME_EXCHANGE = RENAME_EXCHANGE;
const int CLinux_FALLOC_FL_KEEP_SIZE = FALLOC_FL_KEEP_SIZE, CLinux_FALLOC_FL_PUNCH_HOLE = FALLOC_FL_PUNCH_HOLE,
          CLinux_FALLOC_FL_ZERO_RANGE = FALLOC_FL_ZERO_RANGE;
const int CLinux_SEEK_DATA = SEEK_DATA, CLinux_SEEK_HOLE = SEEK_HOLE;
const long CLinux_UTIME_OMIT = UTIME_OMIT, CLinux_UTIME_NOW = UTIME_NOW;

int CLinux_openat(int dirfd, const char *path, int flags, mode_t mode) { return openat(dirfd, path, flags, mode); }

int CLinux_renameat2(int oldfd, const char *oldpath, int newfd, const char *newpath, unsigned flags) {
    return renameat2(oldfd, oldpath, newfd, newpath, flags);
}

int CLinux_birth_time(int fd, long long *seconds, unsigned *nanoseconds) {
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0) return -1;
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return (status.stx_mask & STATX_BTIME) != 0;
}

int CLinux_fstat_but_times(int fd, struct stat *result) {
    struct statx from;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS & ~(STATX_MTIME | STATX_CTIME), &from) != 0) return -1;
    memset(result, 0, sizeof *result);
    result->st_dev = makedev(from.stx_dev_major, from.stx_dev_minor);
    result->st_ino = from.stx_ino;
    result->st_mode = from.stx_mode;
    result->st_nlink = from.stx_nlink;
    result->st_uid = from.stx_uid;
    result->st_gid = from.stx_gid;
    result->st_rdev = makedev(from.stx_rdev_major, from.stx_rdev_minor);
    result->st_size = (off_t)from.stx_size;
    result->st_blocks = (blkcnt_t)from.stx_blocks;
    result->st_blksize = from.stx_blksize;
    result->st_atim.tv_sec = from.stx_atime.tv_sec;
    result->st_atim.tv_nsec = from.stx_atime.tv_nsec;
    return 0;
}

int CLinux_device_of(const char *path, unsigned *major, unsigned *minor) {
    struct statx status;
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &status) != 0) return -1;
    *major = status.stx_dev_major;
    *minor = status.stx_dev_minor;
    return 0;
}

int CLinux_fallocate(int fd, int mode, off_t offset, off_t length) { return fallocate(fd, mode, offset, length); }

int CLinux_syncfs(int fd) { return syncfs(fd); }

long CLinux_filesystem_kind(int fd) {
    struct statfs status;
    return fstatfs(fd, &status) ? -1 : (long)status.f_type;
}

int CLinux_harden_process(void) {
    struct rlimit none = {0, 0};
    int limit = setrlimit(RLIMIT_CORE, &none);
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && limit == 0 ? 0 : -1;
}

long CLinux_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    if (limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = {limit.rlim_max, limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    }
    return limit.rlim_cur > 1000000 ? 1000000 : (long)limit.rlim_cur;
}

void *CLinux_allocate_locked(size_t length, int *locked) {
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    *locked = mlock(memory, length) == 0;
    madvise(memory, length, MADV_DONTDUMP);
    return memory;
}

void CLinux_trim_memory(void) { malloc_trim(0); }

int CLinux_errno(void) { return errno; }

int CLinux_is_dead_mount(const char *path) {
    struct statx status;
    // Not what the kernel remembers: that outlives the server.
    return statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_MODE, &status) != 0 && errno == ENOTCONN;
}

int CLinux_unmount_detach(const char *path) { return umount2(path, MNT_DETACH); }

int CLinux_fork_and_wait(int *channel) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    if (child == 0) {
        *channel = ends[1];
        // What the caller has open is not to stay open for as long as the mount: a lock of flock(1), a pipe somebody reads to its end.
        close_range(3, (unsigned)ends[1] - 1, 0);
        close_range((unsigned)ends[1] + 1, ~0U, 0);
        return 0;
    }
    close(ends[1]);
    unsigned char status = 1;
    ssize_t got;
    do got = read(ends[0], &status, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1) {
        // The child died before it reported: its own exit status says more than ours could.
        int wait_status = 0;
        if (waitpid(child, &wait_status, 0) == child && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0)
            _exit(WEXITSTATUS(wait_status));
        _exit(1);
    }
    _exit(status);
}

void CLinux_report(int channel, int status) {
    if (status == 0) {
        setsid();
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null >= 0) {
            dup2(null, 0);
            dup2(null, 1);
            dup2(null, 2);
            if (null > 2) close(null);
        }
    }
    unsigned char byte = (unsigned char)status;
    ssize_t written;
    do written = write(channel, &byte, 1);
    while (written < 0 && errno == EINTR);
    close(channel);
}

int CLinux_fuse_clone_device(int session_fd) {
    int clone = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (clone < 0) return -1;
    uint32_t source = (uint32_t)session_fd;
    if (ioctl(clone, FUSE_DEV_IOC_CLONE, &source) != 0) {
        close(clone);
        return -1;
    }
    return clone;
}

int CLinux_set_nonblocking(int fd, int on) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return -1;
    return fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

int CLinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int CLinux_lock_range(int fd, short type, off_t start, off_t length) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, F_OFD_SETLK, &lock);
}

int CLinux_is_range_locked(int fd, short type, off_t start, off_t length) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    if (fcntl(fd, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

static int read_ahead_segments(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size, (void)unused;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        madvise((void *)start, end - start, MADV_WILLNEED);
    }
    return 0;
}

void CLinux_read_ahead_code(void) { dl_iterate_phdr(read_ahead_segments, NULL); }
