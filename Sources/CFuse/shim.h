// libfuse3's low-level API. The API version is stated here, once. _FILE_OFFSET_BITS is not defined: off_t has 64 bits on
// every platform we build for (the header asserts it), and defining it makes Swift see two definitions of `flock`.
#ifndef SECUREFS_CFUSE_SHIM_H
#define SECUREFS_CFUSE_SHIM_H
#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
// The protocol itself: the loop reads opcodes and flags that libfuse 3.14 does not pass on, and edits the INIT reply.
#include <linux/fuse.h>
#endif
