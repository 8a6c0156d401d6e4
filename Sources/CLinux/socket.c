#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int make(const char *path, struct sockaddr_un *address) {
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    strcpy(address->sun_path, path);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int give_up(int fd) {
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

int CLinux_local_listen(const char *path) {
    struct sockaddr_un address;
    int fd = make(path, &address);
    if (fd < 0) return -1;
    // The name appears with its mode: no moment at which another user could connect.
    mode_t before = umask(0177);
    int bound = bind(fd, (struct sockaddr *)&address, sizeof address);
    umask(before);
    return bound == 0 && listen(fd, 8) == 0 ? fd : give_up(fd);
}

int CLinux_local_connect(const char *path, int seconds) {
    struct sockaddr_un address;
    int fd = make(path, &address);
    if (fd < 0) return -1;
    struct timeval limit = {seconds, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? fd : give_up(fd);
}

int CLinux_local_accept(int listener, int seconds) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return -1;
    struct timeval limit = {seconds, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fd;
}

long CLinux_local_peer_user(int fd) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? (long)peer.uid : -1;
}

int CLinux_local_shutdown(int fd) { return shutdown(fd, SHUT_RDWR); }
