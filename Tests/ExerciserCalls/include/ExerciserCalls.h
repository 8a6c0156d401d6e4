// What the exerciser needs of Linux and neither Glibc's module nor CLinux has.
#ifndef EXERCISER_CALLS_H
#define EXERCISER_CALLS_H

#include <sys/types.h>

extern const int Exerciser_O_DIRECT;

ssize_t Exerciser_copy_file_range(int source, off_t from, int target, off_t to, size_t count);

#endif
