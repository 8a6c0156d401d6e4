// What the command line needs of C: the terminal, getopt_long, unmounting.
#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <termios.h>
#include <unistd.h>

// --- The terminal ---

static volatile sig_atomic_t caught_signal;
static void note_signal(int number) { caught_signal = number; }

static const int prompt_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
enum { prompt_signal_count = sizeof prompt_signals / sizeof *prompt_signals };

/// One try; -2 when a signal came, which is in caught_signal.
static ssize_t read_quietly(int fd, char *buffer, size_t capacity) {
    struct termios old, quiet;
    if (tcgetattr(fd, &old) != 0) return -1;
    quiet = old;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    quiet.c_lflag |= ECHONL | ICANON | ISIG;
    if (tcsetattr(fd, TCSAFLUSH, &quiet) != 0) return errno == EINTR && caught_signal ? -2 : -1;
    size_t length = 0;
    ssize_t got = 0;
    char byte = 0;
    while (!caught_signal && (got = read(fd, &byte, 1)) == 1 && byte != '\n') {
        if (length < capacity) buffer[length] = byte;
        length++;
    }
    int saved = errno;
    while (tcsetattr(fd, TCSAFLUSH, &old) != 0 && errno == EINTR && caught_signal != SIGTTOU) {}
    if (caught_signal) return -2;
    errno = got < 0 ? saved : 0;
    return got < 0 || (got == 0 && length == 0) ? -1 : (ssize_t)length;
}

ssize_t CLinux_read_without_echo(int fd, char *buffer, size_t capacity) {
    struct sigaction noting = {.sa_handler = note_signal}, old[prompt_signal_count];
    caught_signal = 0;
    for (int i = 0; i < prompt_signal_count; i++) {
        sigaction(prompt_signals[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN) sigaction(prompt_signals[i], &noting, NULL);
    }
    ssize_t length = read_quietly(fd, buffer, capacity);
    int saved = errno, caught = caught_signal;
    for (int i = 0; i < prompt_signal_count; i++) sigaction(prompt_signals[i], &old[i], NULL);
    errno = saved;
    if (length != -2) return length;
    explicit_bzero(buffer, capacity);
    raise(caught);  // as if it had come now
    return -2;
}

// --- Arguments ---

int CLinux_next_option(int argc, char *const *argv, const char *shorts, const struct option *longs, int *next, const char **value, int *wrong) {
    opterr = 0;
    if (*next == 0) optind = 0;  // glibc: begin anew
    optarg = NULL;
    optopt = 0;
    int code = getopt_long(argc, argv, shorts, longs, NULL);
    *next = optind;
    *value = optarg;
    *wrong = optopt;
    return code;
}

// --- Unmounting ---

int CLinux_fusermount_unmount(const char *path, int lazy, char *message, size_t capacity) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        if (lazy) execlp("fusermount3", "fusermount3", "-u", "-z", "--", path, (char *)NULL);
        else execlp("fusermount3", "fusermount3", "-u", "--", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got = 0;
    char rest[256];
    while (child > 0) {
        int hasRoom = length + 1 < capacity;
        got = hasRoom ? read(ends[0], message + length, capacity - 1 - length) : read(ends[0], rest, sizeof rest);
        if (got > 0 && hasRoom) length += (size_t)got;
        if (got == 0 || (got < 0 && errno != EINTR)) break;
    }
    message[length] = 0;
    close(ends[0]);
    int status = 0;
    if (child < 0) return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    if (!WIFEXITED(status)) return -1;
    return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

int CLinux_unmount(const char *path, int lazy) { return umount2(path, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)); }

/// Ended, and not yet collected by its parent.
static int is_zombie(pid_t pid) {
    char path[32], content[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t length = read(fd, content, sizeof content - 1);
    close(fd);
    content[length > 0 ? length : 0] = 0;
    const char *name_end = strrchr(content, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'Z';
}

int CLinux_wait_for_end(pid_t pid, int milliseconds) {
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 && errno == ESRCH) return 1;
    if (fd >= 0) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        int ended = poll(&watched, 1, milliseconds);
        close(fd);
        return ended == 1;
    }
    // No pidfd (an old kernel, or a sandbox): look again and again.
    for (int waited = 0; milliseconds < 0 || waited < milliseconds; waited += 20) {
        if ((kill(pid, 0) != 0 && errno == ESRCH) || is_zombie(pid)) return 1;
        usleep(20000);
    }
    return 0;
}

void CLinux_log(const char *line) {
    openlog("sfs", LOG_PID, LOG_DAEMON);
    syslog(LOG_ERR, "%s", line);
}
