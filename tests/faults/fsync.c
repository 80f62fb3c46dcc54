/* Makes the disk below a real server fail on command, as a preloaded library.
 *
 * While the file $JACUZZI_FAULT_FILE exists, calls on files whose path contains
 * $JACUZZI_FAULT_PATH fail: with $JACUZZI_FAULT=sync, fsync and fdatasync with
 * EIO; with $JACUZZI_FAULT=space, every write with ENOSPC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int fails(const char *kind, int fd) {
    const char *asked = getenv("JACUZZI_FAULT");
    const char *part = getenv("JACUZZI_FAULT_PATH");
    const char *file = getenv("JACUZZI_FAULT_FILE");
    if (!asked || !part || !file || strcmp(asked, kind) != 0)
        return 0;

    int before = errno;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    int hit = 0;
    if (length > 0) {
        path[length] = '\0';
        hit = strstr(path, part) != NULL && access(file, F_OK) == 0;
    }
    errno = before;
    return hit;
}

/* Defines a call that fails on command, and is the real one otherwise. */
#define BREAKABLE(result, name, kind, error, parameters, ...) \
    result name parameters {                                  \
        static result(*real) parameters;                      \
        if (fails(kind, fd)) {                                \
            errno = error;                                    \
            return -1;                                        \
        }                                                     \
        if (!real)                                            \
            real = dlsym(RTLD_NEXT, #name);                   \
        return real(__VA_ARGS__);                             \
    }

BREAKABLE(int, fsync, "sync", EIO, (int fd), fd)
BREAKABLE(int, fdatasync, "sync", EIO, (int fd), fd)
BREAKABLE(ssize_t, write, "space", ENOSPC, (int fd, const void *from, size_t count), fd, from, count)
BREAKABLE(ssize_t, writev, "space", ENOSPC, (int fd, const struct iovec *from, int count), fd, from, count)
BREAKABLE(ssize_t, pwrite, "space", ENOSPC, (int fd, const void *from, size_t count, off_t at), fd, from, count, at)
BREAKABLE(ssize_t, pwrite64, "space", ENOSPC, (int fd, const void *from, size_t count, off64_t at), fd, from, count, at)
