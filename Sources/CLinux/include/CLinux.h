// The Linux calls and constants that Swift cannot import: they need _GNU_SOURCE, which shim.c defines for itself alone,
// or are variadic, or are macros. Every name begins with CLinux_. The corresponding C names are those behind the prefix.
#ifndef SECUREFS_CLINUX_H
#define SECUREFS_CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/xattr.h>

extern const int CLinux_O_PATH, CLinux_O_TMPFILE, CLinux_O_NOFOLLOW, CLinux_O_DIRECTORY, CLinux_O_CLOEXEC;
extern const int CLinux_AT_EMPTY_PATH, CLinux_AT_SYMLINK_NOFOLLOW, CLinux_AT_SYMLINK_FOLLOW, CLinux_AT_REMOVEDIR, CLinux_AT_FDCWD;
extern const unsigned CLinux_RENAME_NOREPLACE, CLinux_RENAME_EXCHANGE;
extern const int CLinux_FALLOC_FL_KEEP_SIZE, CLinux_FALLOC_FL_PUNCH_HOLE, CLinux_FALLOC_FL_ZERO_RANGE;
extern const int CLinux_SEEK_DATA, CLinux_SEEK_HOLE;
extern const long CLinux_UTIME_OMIT, CLinux_UTIME_NOW;

/// open and openat with their mode argument always given (both are variadic in C).
int CLinux_openat(int dirfd, const char *path, int flags, mode_t mode);
int CLinux_renameat2(int oldfd, const char *oldpath, int newfd, const char *newpath, unsigned flags);
int CLinux_fallocate(int fd, int mode, off_t offset, off_t length);
int CLinux_syncfs(int fd);

/// prctl(PR_SET_DUMPABLE, 0) and RLIMIT_CORE 0: no core dump, no ptrace by another process of the same user. Returns 0 or -1.
int CLinux_harden_process(void);
/// Raises the soft limit of open descriptors to the hard one; returns the limit in force.
long CLinux_raise_descriptor_limit(void);
/// Anonymous memory of `length` bytes, locked if the limit allows and left out of core dumps; NULL when there is none.
/// `locked` tells whether mlock succeeded.
void *CLinux_allocate_locked(size_t length, int *locked);

/// errno, as a function: the macro is not imported.
int CLinux_errno(void);
/// major/minor-free test of a FUSE mount whose server died: stat fails with ENOTCONN. Returns 1 if so.
int CLinux_is_dead_mount(const char *path);
/// umount2(path, MNT_DETACH)
int CLinux_unmount_detach(const char *path);

/// fork for a background process. In the child returns 0, with `*channel` a descriptor to report on; in the parent does not return
/// until the child reports or dies: then exits with the reported status (CLinux_report), or 1.  -1 on failure.
int CLinux_fork_and_wait(int *channel);
/// Reports `status` to the waiting parent; for status 0 also makes this process a session leader with stdio on /dev/null.
void CLinux_report(int channel, int status);

/// pread/pwrite-independent helpers for /dev/fuse.
int CLinux_fuse_clone_device(int session_fd);
int CLinux_set_nonblocking(int fd, int on);
/// A new event descriptor with count 0, non-blocking and close-on-exec.
int CLinux_eventfd(void);

/// Reads a line from the terminal `fd` without echo into `buffer` (at most `capacity` bytes, newline dropped); length, or -1.
ssize_t CLinux_read_without_echo(int fd, char *buffer, size_t capacity);

#endif
