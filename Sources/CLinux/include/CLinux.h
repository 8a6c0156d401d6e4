// The Linux calls and constants that Swift cannot import: they need _GNU_SOURCE, which shim.c defines for itself alone,
// or are variadic, or are macros. Every name begins with CLinux_. The corresponding C names are those behind the prefix.
#ifndef SECUREFS_CLINUX_H
#define SECUREFS_CLINUX_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>

extern const int CLinux_O_NOATIME, CLinux_O_PATH, CLinux_O_TMPFILE, CLinux_O_NOFOLLOW, CLinux_O_DIRECTORY, CLinux_O_CLOEXEC;
extern const int CLinux_AT_EMPTY_PATH, CLinux_AT_SYMLINK_NOFOLLOW, CLinux_AT_SYMLINK_FOLLOW, CLinux_AT_REMOVEDIR, CLinux_AT_FDCWD;
extern const unsigned CLinux_RENAME_NOREPLACE, CLinux_RENAME_EXCHANGE;
extern const int CLinux_FALLOC_FL_KEEP_SIZE, CLinux_FALLOC_FL_PUNCH_HOLE, CLinux_FALLOC_FL_ZERO_RANGE;
extern const int CLinux_SEEK_DATA, CLinux_SEEK_HOLE;
extern const long CLinux_UTIME_OMIT, CLinux_UTIME_NOW;

/// open and openat with their mode argument always given (both are variadic in C).
int CLinux_openat(int dirfd, const char *path, int flags, mode_t mode);
// The time of birth of the inode fd stands for, which may be opened as a path only. Returns 1, 0 where the filesystem keeps none, or -1.
int CLinux_birth_time(int fd, long long *seconds, unsigned *nanoseconds);
// As fstat, but the times of modification and change are zero, and not asked for: a file whose times were asked for gets finer ones with its
// next write, which the fsync after it has to write too. Returns 0 or -1.
int CLinux_fstat_but_times(int fd, struct stat *result);
// The device number of the file system at `path`, without asking that file system. Returns 0 or -1.
int CLinux_device_of(const char *path, unsigned *major, unsigned *minor);
int CLinux_renameat2(int oldfd, const char *oldpath, int newfd, const char *newpath, unsigned flags);
int CLinux_fallocate(int fd, int mode, off_t offset, off_t length);
int CLinux_syncfs(int fd);
// The kind of the filesystem, f_type of statfs(2); -1 with errno.
long CLinux_filesystem_kind(int fd);

// Has the system read the program's code and that of its libraries, in the background: what is needed later then need not wait for the disk.
void CLinux_read_ahead_code(void);

/// prctl(PR_SET_DUMPABLE, 0) and RLIMIT_CORE 0: no core dump, no ptrace by another process of the same user. Returns 0 or -1.
int CLinux_harden_process(void);
/// Raises the soft limit of open descriptors to the hard one; returns the limit in force.
long CLinux_raise_descriptor_limit(void);
/// Anonymous memory of `length` bytes, locked if the limit allows and left out of core dumps; NULL when there is none.
/// `locked` tells whether mlock succeeded.
void *CLinux_allocate_locked(size_t length, int *locked);

/// malloc_trim(0): gives freed memory back to the system.
void CLinux_trim_memory(void);

/// Keys of type "user" in the user's own keyring of the kernel: add_key(2) and keyctl(2). Each returns -1 and sets errno on failure.
/// The serial number of the key, made or replaced.
int32_t CLinux_key_add(const char *description, const void *payload, size_t length);
/// The serial number of the key called `description`.
int32_t CLinux_key_find(const char *description);
/// Copies the payload; its length, which may be more than `capacity`.
long CLinux_key_read(int32_t key, void *buffer, size_t capacity);
int CLinux_key_set_permissions(int32_t key, uint32_t permissions);
/// The key goes after `seconds`; 0: never.
int CLinux_key_set_timeout(int32_t key, unsigned seconds);
/// The key is gone at once.
int CLinux_key_invalidate(int32_t key);
long CLinux_key_describe(int32_t key, char *buffer, size_t capacity);

/// Sockets of the filesystem (unix(7), streams). A listening one that only this user can connect to, mode 0600; no other thread may make files
/// meanwhile that rely on the umask.
int CLinux_local_listen(const char *path);
/// A connection; sending and receiving on it fail with EAGAIN after `seconds`.
int CLinux_local_connect(const char *path, int seconds);
int CLinux_local_accept(int listener, int seconds);
/// The user at the other end; -1 when it cannot be told.
long CLinux_local_peer_user(int fd);
/// Ends an accept that waits.
int CLinux_local_shutdown(int fd);

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

/// Reads a line from the terminal `fd` without echo into `buffer` (at most `capacity` bytes, newline dropped); its length, which may be more
/// than `capacity`; or -1: errno, or 0 at the end of the input. Signals that end or stop the process find the terminal restored; -2 after
/// one that did not end it (it was stopped and continued): prompt again.
ssize_t CLinux_read_without_echo(int fd, char *buffer, size_t capacity);

/// getopt_long, whose state is in global variables that Swift 6 does not let us use. `*next` is 0 before the first call, then optind;
/// `*value` becomes optarg, `*wrong` optopt. Prints nothing.
int CLinux_next_option(int argc, char *const *argv, const char *shorts, const struct option *longs, int *next, const char **value, int *wrong);

/// Runs `fusermount3 -u [-z] -- path`. Returns 0 when it succeeded, its exit status when not, -1 when it cannot be run. What it complains of
/// comes into `message`, at most `capacity` bytes with the NUL.
int CLinux_fusermount_unmount(const char *path, int lazy, char *message, size_t capacity);
/// umount2(path, UMOUNT_NOFOLLOW [| MNT_DETACH]).
int CLinux_unmount(const char *path, int lazy);
/// One line for the system's log, as from the daemon `sfs`.
void CLinux_log(const char *line);
/// Waits until the process `pid` has ended, at most `milliseconds` (negative: without limit). Returns 1 when it has ended, 0 when not.
int CLinux_wait_for_end(pid_t pid, int milliseconds);

/// fcntl(F_OFD_SETLK): locks a byte range for this open file description without waiting; `type` is F_RDLCK, F_WRLCK or F_UNLCK.
int CLinux_lock_range(int fd, short type, off_t start, off_t length);
/// fcntl(F_OFD_GETLK): 1 when another open file description holds a lock that conflicts with one of `type`, 0 when none does, -1 on failure.
int CLinux_is_range_locked(int fd, short type, off_t start, off_t length);

#endif
