#define _GNU_SOURCE
#include "ExerciserCalls.h"

#include <fcntl.h>
#include <unistd.h>

const int Exerciser_O_DIRECT = O_DIRECT;

ssize_t Exerciser_copy_file_range(int source, off_t from, int target, off_t to, size_t count) {
    return copy_file_range(source, &from, target, &to, count, 0);
}
