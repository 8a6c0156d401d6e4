#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The C library has no wrappers for these; libkeyutils has, and is not needed for five calls.

static int32_t user_keyring(void) { return KEY_SPEC_USER_KEYRING; }

int32_t CLinux_key_add(const char *description, const void *payload, size_t length) {
    return (int32_t)syscall(SYS_add_key, "user", description, payload, length, user_keyring());
}

int32_t CLinux_key_find(const char *description) {
    return (int32_t)syscall(SYS_keyctl, KEYCTL_SEARCH, user_keyring(), "user", description, 0);
}

long CLinux_key_read(int32_t key, void *buffer, size_t capacity) { return syscall(SYS_keyctl, KEYCTL_READ, key, buffer, capacity); }

int CLinux_key_set_permissions(int32_t key, uint32_t permissions) {
    return (int)syscall(SYS_keyctl, KEYCTL_SETPERM, key, permissions);
}

int CLinux_key_set_timeout(int32_t key, unsigned seconds) { return (int)syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds); }

int CLinux_key_invalidate(int32_t key) { return (int)syscall(SYS_keyctl, KEYCTL_INVALIDATE, key); }

long CLinux_key_describe(int32_t key, char *buffer, size_t capacity) { return syscall(SYS_keyctl, KEYCTL_DESCRIBE, key, buffer, capacity); }
